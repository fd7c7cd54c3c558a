#include "joulecast/physics/convolution_scratch.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

constexpr double float_bytes = 4;

struct Convolution2d {
    double batch = 0, channels = 0, height = 0, width = 0;
    double filters = 0, filter_channels = 0, kernel_h = 0, kernel_w = 0;
    double out_h = 0, out_w = 0;
    bool strided = false, dilated = false, padded = false, grouped = false;
    Layout layout = Layout::contiguous;

    double kernel() const { return kernel_h * kernel_w; }
    double output() const { return float_bytes * batch * filters * out_h * out_w; }
    double input() const { return float_bytes * batch * channels * height * width; }
};

bool any_other_than(const Operation& operation, const char* name, std::int64_t usual) {
    const auto list = argument_or_default<Integers>(operation, name);
    return std::any_of(list.begin(), list.end(), [&](std::int64_t item) { return item != usual; });
}

std::optional<Convolution2d> read_convolution(const Operation& operation) {
    if (operation.target != "aten::conv2d" || mode(operation) == Mode::training) return std::nullopt;
    const auto operands = tensors(operation);
    if (operands.size() < 2 || operands[0]->sizes.size() != 4 || operands[1]->sizes.size() != 4) return std::nullopt;
    if (operands[0]->dtype != Dtype::f32) return std::nullopt;
    const auto outputs = find_record(operation.target)->outputs(operation);
    const auto size = [](const TensorType& type, std::size_t at) { return static_cast<double>(type.sizes[at]); };
    Convolution2d call;
    call.batch = size(*operands[0], 0);
    call.channels = size(*operands[0], 1);
    call.height = size(*operands[0], 2);
    call.width = size(*operands[0], 3);
    call.filters = size(*operands[1], 0);
    call.filter_channels = size(*operands[1], 1);
    call.kernel_h = size(*operands[1], 2);
    call.kernel_w = size(*operands[1], 3);
    call.out_h = size(outputs.at(0), 2);
    call.out_w = size(outputs.at(0), 3);
    call.strided = any_other_than(operation, "stride", 1);
    call.dilated = any_other_than(operation, "dilation", 1);
    call.padded = any_other_than(operation, "padding", 0);
    call.grouped = argument_or_default<std::int64_t>(operation, "groups") > 1;
    call.layout = layout(*operands[0]);
    return call;
}

/// What is left to the older kernels: one small image, small kernels, no groups.
bool is_without_onednn(const Convolution2d& call) {
    constexpr double largest = 20480;  // elements of the input
    const bool small_kernel = call.kernel_h <= 3 || call.kernel_w <= 3;
    return !call.grouped && small_kernel && !call.dilated && call.batch == 1 &&
           call.channels * call.height * call.width <= largest;
}

double columns_bytes(const Convolution2d& call) {
    if (call.kernel() == 1 && !call.strided && !call.padded) return 0;
    return float_bytes * call.channels * call.kernel() * call.out_h * call.out_w;
}

/// Floats of a vector register, by what a core computes in a cycle: two fused multiply-adds of 16 floats, or of 8.
double lanes_of(const Device& device) {
    constexpr double flop_per_cycle_of_16_lanes = 64;
    const double cycles = device.units * device.max_clock_mhz * 1e6;
    return device.peak_flop_per_s_fp32 >= 0.99 * flop_per_cycle_of_16_lanes * cycles ? 16 : 8;
}

double blocked_scratch(const Convolution2d& call, double lanes, int threads) {
    const auto whole = [lanes](double channels) { return std::ceil(channels / lanes) * lanes; };
    const double weights = float_bytes * call.kernel() * whole(call.filters) *
                           (call.grouped || call.channels <= 3 ? call.filter_channels : whole(call.filter_channels));
    const double own_weights = float_bytes * call.kernel() * call.filters * call.filter_channels;
    if (call.layout == Layout::channels_last)
        return weights + (call.kernel() > 1 && call.filter_channels > 1 ? own_weights : 0);
    // Images of up to three channels are read as they are.
    const double input =
        call.channels <= 3 ? 0 : float_bytes * call.batch * whole(call.channels) * call.height * call.width;
    const double output = float_bytes * call.batch * whole(call.filters) * call.out_h * call.out_w;
    const double lines =
        call.kernel() == 1 && call.strided ? float_bytes * threads * call.channels * call.out_h * call.out_w : 0;
    const double contiguous = call.layout == Layout::contiguous ? 0 : call.input();
    return contiguous + std::max(input + weights + lines + output - call.output(), output);
}

}  // namespace

std::optional<double> convolution_scratch_bytes(const Operation& operation, const Device& device, int threads) {
    if (device.kind != Device::Kind::cpu) return std::nullopt;
    const auto call = read_convolution(operation);
    if (!call) return std::nullopt;
    if (is_without_onednn(*call)) return columns_bytes(*call);
    return blocked_scratch(*call, lanes_of(device), std::max(1, threads));
}

}  // namespace joulecast
