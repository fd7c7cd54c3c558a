#include "lab/published/mobile_network.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <utility>

namespace joulecast {

namespace {

using Kind = MobileLayer::Kind;

/// Channels times a width are multiples of eight, and never less than nine tenths of what was wanted.
int of_eight(double channels) {
    const int rounded = std::max(8, static_cast<int>(channels + 4) / 8 * 8);
    return rounded < 0.9 * channels ? rounded + 8 : rounded;
}

class Builder {
  public:
    explicit Builder(int side) : side_(side) {}

    int channels() const { return channels_; }
    double numbers() const { return double(side_) * side_ * channels_; }
    /// Where a branch goes on from.
    struct Place {
        int side;
        int channels;
    };
    Place place() const { return {side_, channels_}; }
    void go_to(Place place) { side_ = place.side, channels_ = place.channels; }

    void convolution(int filters, int kernel, int stride, bool hard_swish = false) {
        add_convolution(kernel == 1 ? Kind::pointwise : Kind::convolution, filters, channels_, kernel, stride,
                        hard_swish);
    }
    void depthwise(int kernel, int stride, bool hard_swish = false) {
        add_convolution(Kind::depthwise, channels_, 1, kernel, stride, hard_swish);
    }
    void add() { layers_.push_back({Kind::add, 1, 0, 2 * numbers(), numbers(), 0}); }
    /// Of all places into one.
    void pool() {
        layers_.push_back({Kind::pool, side_, 0, numbers(), double(channels_), 0});
        side_ = 1;
    }
    void halve() { side_ = (side_ + 1) / 2; }
    void squeeze() {
        const double squeezed = of_eight(channels_ / 4.0);
        layers_.push_back({Kind::pool, side_, 0, numbers(), double(channels_), 0});
        const double weights = 2.0 * channels_ * squeezed;
        layers_.push_back({Kind::dense, 1, weights, double(channels_), double(channels_), weights});
        layers_.push_back({Kind::scale, 1, 0, numbers(), numbers(), 0});
    }
    std::vector<MobileLayer> classified(int classes) && {
        if (side_ > 1) pool();
        const double weights = double(channels_) * classes;
        layers_.push_back({Kind::dense, 1, weights, double(channels_), double(classes), weights});
        layers_.push_back({Kind::softmax, 1, 0, double(classes), double(classes), 0});
        return std::move(layers_);
    }

  private:
    void add_convolution(Kind kind, int filters, int of_each, int kernel, int stride, bool hard_swish) {
        const double input = numbers();
        side_ = (side_ + stride - 1) / stride;
        channels_ = filters;
        const double weights = double(filters) * kernel * kernel * of_each;
        layers_.push_back({kind, kernel, weights * side_ * side_, input, numbers(), weights, hard_swish});
    }

    int side_;
    int channels_ = 3;
    std::vector<MobileLayer> layers_;
};

std::vector<MobileLayer> mobilenet_v1(double width, int side) {
    struct Block {
        int channels, stride;
    };
    constexpr std::array<Block, 13> blocks{{{64, 1},
                                            {128, 2},
                                            {128, 1},
                                            {256, 2},
                                            {256, 1},
                                            {512, 2},
                                            {512, 1},
                                            {512, 1},
                                            {512, 1},
                                            {512, 1},
                                            {512, 1},
                                            {1024, 2},
                                            {1024, 1}}};
    const auto scaled = [&](int channels) { return std::max(8, static_cast<int>(channels * width)); };
    Builder net(side);
    net.convolution(scaled(32), 3, 2);
    for (const Block& block : blocks) {
        net.depthwise(3, block.stride);
        net.convolution(scaled(block.channels), 1, 1);
    }
    return std::move(net).classified(1001);
}

struct Bottleneck {
    int inner, channels, stride, kernel = 3;
    bool squeezes = false, hard_swish = false;
};

void add_bottleneck(Builder& net, const Bottleneck& block) {
    const int before = net.channels();
    if (block.inner != before) net.convolution(block.inner, 1, 1, block.hard_swish);
    net.depthwise(block.kernel, block.stride, block.hard_swish);
    if (block.squeezes) net.squeeze();
    net.convolution(block.channels, 1, 1);
    if (block.stride == 1 && block.channels == before) net.add();
}

struct Stage {
    int expansion, channels, repeats, stride, kernel = 3;
};

void add_stage(Builder& net, const Stage& stage, double width, int repeats) {
    for (int i = 0; i < repeats; ++i)
        add_bottleneck(net, {net.channels() * stage.expansion, of_eight(stage.channels * width),
                             i == 0 ? stage.stride : 1, stage.kernel});
}

std::vector<MobileLayer> mobilenet_v2(double width, int side) {
    constexpr std::array<Stage, 7> stages{
        {{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}}};
    Builder net(side);
    net.convolution(of_eight(32 * width), 3, 2);
    for (const Stage& stage : stages) add_stage(net, stage, width, stage.repeats);
    net.convolution(std::max(1280, of_eight(1280 * width)), 1, 1);
    return std::move(net).classified(1001);
}

std::vector<Bottleneck> v3_blocks(bool large) {
    if (large)
        return {{16, 16, 1},
                {64, 24, 2},
                {72, 24, 1},
                {72, 40, 2, 5, true},
                {120, 40, 1, 5, true},
                {120, 40, 1, 5, true},
                {240, 80, 2, 3, false, true},
                {200, 80, 1, 3, false, true},
                {184, 80, 1, 3, false, true},
                {184, 80, 1, 3, false, true},
                {480, 112, 1, 3, true, true},
                {672, 112, 1, 3, true, true},
                {672, 160, 2, 5, true, true},
                {960, 160, 1, 5, true, true},
                {960, 160, 1, 5, true, true}};
    return {{16, 16, 2, 3, true},
            {72, 24, 2},
            {88, 24, 1},
            {96, 40, 2, 5, true, true},
            {240, 40, 1, 5, true, true},
            {240, 40, 1, 5, true, true},
            {120, 48, 1, 5, true, true},
            {144, 48, 1, 5, true, true},
            {288, 96, 2, 5, true, true},
            {576, 96, 1, 5, true, true},
            {576, 96, 1, 5, true, true}};
}

std::vector<MobileLayer> mobilenet_v3(bool large, double width, bool minimalistic) {
    Builder net(224);
    net.convolution(of_eight(16 * width), 3, 2, !minimalistic);
    for (Bottleneck block : v3_blocks(large)) {
        block.inner = of_eight(block.inner * width);
        block.channels = of_eight(block.channels * width);
        if (minimalistic) block.kernel = 3, block.squeezes = block.hard_swish = false;
        add_bottleneck(net, block);
    }
    net.convolution(of_eight((large ? 960 : 576) * width), 1, 1, !minimalistic);
    net.pool();
    net.convolution(large ? 1280 : 1024, 1, 1, !minimalistic);
    return std::move(net).classified(1001);
}

std::vector<MobileLayer> efficientnet_lite(int number) {
    struct Size {
        double width, depth;
        int side;
    };
    constexpr std::array<Size, 5> sizes{
        {{1.0, 1.0, 224}, {1.0, 1.1, 240}, {1.1, 1.2, 260}, {1.2, 1.4, 280}, {1.4, 1.8, 300}}};
    constexpr std::array<Stage, 7> stages{{{1, 16, 1, 1, 3},
                                           {6, 24, 2, 2, 3},
                                           {6, 40, 2, 2, 5},
                                           {6, 80, 3, 2, 3},
                                           {6, 112, 3, 1, 5},
                                           {6, 192, 4, 2, 5},
                                           {6, 320, 1, 1, 3}}};
    const Size& size = sizes.at(static_cast<std::size_t>(number));
    Builder net(size.side);
    net.convolution(32, 3, 2);
    for (const Stage& stage : stages) {
        const bool is_end = &stage == &stages.front() || &stage == &stages.back();
        add_stage(net, stage, size.width, is_end ? 1 : static_cast<int>(std::ceil(stage.repeats * size.depth)));
    }
    net.convolution(1280, 1, 1);
    return std::move(net).classified(1000);
}

std::vector<MobileLayer> resnet50() {
    constexpr std::array<Stage, 4> stages{{{4, 64, 3, 1}, {4, 128, 4, 2}, {4, 256, 6, 2}, {4, 512, 3, 2}}};
    Builder net(224);
    net.convolution(64, 7, 2);
    net.halve();
    for (const Stage& stage : stages)
        for (int i = 0; i < stage.repeats; ++i) {
            const Builder::Place before = net.place();
            const int stride = i == 0 ? stage.stride : 1;
            net.convolution(stage.channels, 1, 1);
            net.convolution(stage.channels, 3, stride);
            net.convolution(stage.channels * stage.expansion, 1, 1);
            if (i == 0) {
                net.go_to(before);
                net.convolution(stage.channels * stage.expansion, 1, stride);
            }
            net.add();
        }
    return std::move(net).classified(1000);
}

MobileNetwork named(const std::string& name, bool is_float, std::vector<MobileLayer> layers) {
    return {name, is_float ? "fp32" : "int8", std::move(layers)};
}

}  // namespace

double MobileNetwork::macs() const {
    double sum = 0;
    for (const MobileLayer& layer : layers) sum += layer.macs;
    return sum;
}

std::optional<MobileNetwork> mobile_network(std::string_view benchmark) {
    static const std::regex v12(R"((mobilenet-v([12])-([01]\.\d{1,2})-(\d{2,3}))-(non-)?quantized)");
    static const std::regex v3(R"((mobilenet-v3-(large|small)(-minimalistic)?_224_([01]\.\d{1,2}))_(float|uint8))");
    static const std::regex lite(R"((efficientnet-lite([0-4]))-(non-)?quantized)");
    const std::string text(benchmark.substr(0, 80));
    std::smatch part;
    if (text == "resnet50") return named(text, true, resnet50());
    if (std::regex_match(text, part, v12)) {
        const double width = std::stod(part[3]);
        const int side = std::stoi(part[4]);
        return named(part[1], part[5].matched, part[2] == "1" ? mobilenet_v1(width, side) : mobilenet_v2(width, side));
    }
    if (std::regex_match(text, part, v3))
        return named(part[1], part[5] == "float",
                     mobilenet_v3(part[2] == "large", std::stod(part[4]), part[3].matched));
    if (std::regex_match(text, part, lite))
        return named(part[1], part[3].matched, efficientnet_lite(std::stoi(part[2])));
    return std::nullopt;
}

std::optional<MobileNetwork> mobile_network(const std::string& name, std::string_view precision) {
    for (const char* suffix : {"", "-non-quantized", "-quantized", "_float", "_uint8"}) {
        auto network = mobile_network(name + suffix);
        if (network && network->name == name && network->precision == precision) return network;
    }
    return std::nullopt;
}

}  // namespace joulecast
