// Where tensors lie after .to(memory_format=torch.channels_last), against torch itself
// (tests/graph/oracles_channels_last, tools/make_channels_last_oracles.py).
#include "joulecast/graph/channels_last.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>

#include "joulecast/graph/memory_format.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/unsupported_error.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;

const std::string source = JOULECAST_SOURCE_DIR;
const std::string folder = source + "/tests/graph/oracles_channels_last";

std::vector<std::string> networks() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

Sizes numbers(const std::string& text) {
    Sizes found;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) found.push_back(std::stoll(word));
    return found;
}

/// "aten::relu_.default(made=f32[2,64,112,112]{cl})".
std::string line_of(const std::string& target, TensorType made) {
    made.dtype = Dtype::f32;  // of no matter to how it lies
    return signature({target, {{"made", made}}});
}

/// A line for each tensor that a call makes.
std::vector<std::string> told_by_torch(const std::string& network) {
    std::ifstream file(folder + "/" + network + ".txt");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(' '), second = line.find(' ', first + 1);
        const TensorType type =
            strided(Dtype::f32, numbers(line.substr(first + 1, second - first - 1)), numbers(line.substr(second + 1)));
        lines.push_back(line_of("aten::" + line.substr(5, first - 5), type));
    }
    return lines;
}

std::vector<std::string> told(const Graph& graph) {
    std::vector<std::string> lines;
    for (const Node& node : graph.nodes) {
        if (!node.operation.target.starts_with("aten::")) continue;
        const bool has_overload = node.operation.target.find('.') != std::string::npos;
        for (const TensorType& made : node.outputs)
            lines.push_back(line_of(node.operation.target + (has_overload ? "" : ".default"), made));
    }
    return lines;
}

class ChannelsLast : public ::testing::TestWithParam<std::string> {};

TEST_P(ChannelsLast, LieAsTorchLaysThem) {
    const Graph graph = open_model(GetParam(), source + "/zoo", {{"batch", 2}});
    EXPECT_EQ(told(with_channels_last(graph, AutocastDevice::cpu)), told_by_torch(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Networks, ChannelsLast, ::testing::ValuesIn(networks()),
                         [](const auto& parameter) { return parameter.param; });

/// Of an image f32[2,8,4,4], a weight f32[8,8,1,1] and 8 scales.
Graph small(const std::string& nodes) {
    return read_graph_json(R"({"schema":"joulecast.graph/1","name":"small","mode":"inference","has_edges":true,
        "symbols":{},"inputs":[{"name":"x","kind":"user_input","type":"f32[2,8,4,4]"},
        {"name":"weight","kind":"parameter","type":"f32[8,8,1,1]"},
        {"name":"scale","kind":"parameter","type":"f32[8]"}],"nodes":[)" +
                               nodes + R"(],"outputs":["0.0"]})",
                           "small");
}

std::string call(const std::string& operation, const std::string& inputs, const std::string& output) {
    return "{\"operation\":\"" + operation + "\",\"inputs\":[" + inputs + "],\"outputs\":[\"" + output + "\"]}";
}

std::vector<std::string> operations(const Graph& graph) {
    std::vector<std::string> all;
    for (const Node& node : graph.nodes) all.push_back(signature(node.operation));
    return all;
}

const std::string grouped = call("aten::group_norm(input=f32[2,8,4,4], num_groups=2, weight=f32[8], bias=f32[8])",
                                 R"("input.0","input.2","input.2")", "f32[2,8,4,4]");

TEST(ChannelsLastOnAGpu, AreTurnedForKernelsThatTakeContiguousImagesAlone) {
    const std::string convolved =
        call("aten::conv2d(input=f32[2,8,4,4], weight=f32[8,8,1,1])", R"("0.0","input.1")", "f32[2,8,4,4]");
    const Graph graph = with_channels_last(small(grouped + "," + convolved), AutocastDevice::cuda);
    EXPECT_THAT(operations(graph),
                ElementsAre("aten::contiguous(self=f32[2,8,4,4]{cl})",
                            "aten::group_norm(input=f32[2,8,4,4], num_groups=2, weight=f32[8], bias=f32[8])",
                            "aten::contiguous(self=f32[2,8,4,4], memory_format=\"channels_last\")",
                            "aten::conv2d(input=f32[2,8,4,4]{cl}, weight=f32[8,8,1,1])"));
    EXPECT_TRUE(is_channels_last(graph.nodes.back().outputs.front()));
    EXPECT_EQ(graph.outputs.front(), (ValueRef{1, 0}));  // moved behind the copy
    const Graph on_cpu = with_channels_last(small(grouped), AutocastDevice::cpu);
    EXPECT_EQ(on_cpu.nodes.size(), 1U);
    EXPECT_TRUE(is_channels_last(on_cpu.nodes.front().outputs.front()));
}

// functional.pad() calls kernels by its mode: those of timm's blurred pooling reflect.
TEST(ChannelsLastOnAGpu, AreTurnedForPadsThatTakeContiguousImagesAlone) {
    const auto padded = [](const std::string& mode) {
        const std::string pad =
            call("aten::pad(self=f32[2,8,4,4], pad=[1,1,1,1]" + mode + ")", R"("input.0")", "f32[2,8,6,6]");
        const std::string convolved =
            call("aten::conv2d(input=f32[2,8,6,6], weight=f32[8,8,1,1])", R"("0.0","input.1")", "f32[2,8,6,6]");
        return operations(with_channels_last(small(pad + "," + convolved), AutocastDevice::cuda));
    };
    const std::string convolution = "aten::conv2d(input=f32[2,8,6,6]{cl}, weight=f32[8,8,1,1])";
    EXPECT_THAT(padded(R"(, mode=\"reflect\")"),
                ElementsAre("aten::contiguous(self=f32[2,8,4,4]{cl})",
                            R"(aten::pad(self=f32[2,8,4,4], pad=[1,1,1,1], mode="reflect"))",
                            R"(aten::contiguous(self=f32[2,8,6,6], memory_format="channels_last"))", convolution));
    EXPECT_EQ(padded(R"(, mode=\"replicate\")").size(), 4U);
    EXPECT_THAT(padded(""), ElementsAre("aten::pad(self=f32[2,8,4,4]{cl}, pad=[1,1,1,1])", convolution));
}

TEST(ChannelsLast, AreNothingToALanguageModel) {
    const Graph graph = open_model("gpt2-decode", source + "/zoo", {{"batch", 2}});
    EXPECT_EQ(operations(with_channels_last(graph, AutocastDevice::cuda)), operations(graph));
}

/// Of the pooled image.
Graph of_pooled(const std::string& operation) {
    return small(call("aten::max_pool2d(self=f32[2,8,4,4], kernel_size=[1,1])", "\"input.0\"", "f32[2,8,4,4]") + "," +
                 call(operation, "\"0.0\"", "f32[2,128]"));
}

TEST(ChannelsLast, CopyWhereAReshapeCannotView) {
    const Graph graph =
        with_channels_last(of_pooled("aten::reshape(self=f32[2,8,4,4], shape=[2,128])"), AutocastDevice::cuda);
    EXPECT_TRUE(is_channels_last(graph.nodes.front().outputs.front()));
    EXPECT_TRUE(is_contiguous(graph.nodes.back().outputs.front()));
}

TEST(ChannelsLast, AreRefusedWhereTorchRefusesThem) {
    const Graph viewed = of_pooled("aten::view(self=f32[2,8,4,4], size=[2,128])");
    try {
        with_channels_last(viewed, AutocastDevice::cuda);
        FAIL();
    } catch (const UnsupportedError& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("PyTorch refuses that call, too"));
    }
    EXPECT_THROW(with_channels_last(without_edges(small(grouped)), AutocastDevice::cuda), UnsupportedError);
}

TEST(ChannelsLast, AreMadeAnewAtOtherSizesAndMarkedForTraining) {
    Graph graph = open_model("resnet18", source + "/zoo", {{"batch", 2}});
    const Graph larger = with_symbols(with_channels_last(graph, AutocastDevice::cuda), {{"batch", 4}});
    EXPECT_EQ(larger.nodes.front().outputs.front(), channels_last(Dtype::f32, {4, 64, 112, 112}));
    const Graph trained = with_channels_last(to_training(graph), AutocastDevice::cuda);
    EXPECT_EQ(trained.mode, Mode::training);
    EXPECT_TRUE(trained.nodes.front().outputs.front().requires_grad);
}

TEST(MemoryFormat, HasTorchsNames) {
    EXPECT_EQ(parse_memory_format("channels_last"), MemoryFormat::channels_last);
    EXPECT_EQ(parse_memory_format("contiguous"), MemoryFormat::contiguous);
    EXPECT_FALSE(parse_memory_format("nhwc"));
    EXPECT_EQ(name(MemoryFormat::channels_last), "channels_last");
}

}  // namespace
}  // namespace joulecast
