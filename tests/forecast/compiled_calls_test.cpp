#include "joulecast/forecast/compiled_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/forecast/split_attention.h"
#include "joulecast/graph/graph_json.h"
#include "joulecast/model/residual_process.h"
#include "joulecast/physics/roofline.h"

namespace joulecast {
namespace {

/// A convolution, batch norm, relu, and a view of that. `type` of images and weights.
Graph block(const std::string& type) {
    // %i stands for the images' type, %w for the weight's.
    std::string text = R"call({"schema":"joulecast.graph/1","name":"block","has_edges":true,"inputs":[
{"name":"x","kind":"user_input","type":"%i"},{"name":"w","kind":"parameter","type":"%w"},
{"name":"c","kind":"parameter","type":"f32[4]"}],"nodes":[
{"operation":"aten::conv2d(input=%i, weight=%w)","inputs":["input.0","input.1"],"outputs":["%i"]},
{"operation":"aten::batch_norm(input=%i, weight=f32[4], bias=f32[4], running_mean=f32[4], running_var=f32[4], training=false, momentum=0.1, eps=0.001, cudnn_enabled=true)","inputs":["0.0","input.2","input.2","input.2","input.2"],"outputs":["%i"]},
{"operation":"aten::relu(self=%i)","inputs":["1.0"],"outputs":["%i"]},
{"operation":"aten::view(self=%i, size=[8,1024])","inputs":["2.0"],"outputs":["%v"]}],"outputs":["3.0"]})call";
    for (const auto& [mark, sizes] : {std::pair("%i", "[8,4,16,16]"), {"%w", "[4,4,1,1]"}, {"%v", "[8,1024]"}}) {
        for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark))
            text.replace(at, 2, type + sizes);
    }
    return graph_from_json(text);
}

DeviceModel card(Math math = Math::ieee) {
    DeviceModel model;
    model.device = find_device("rtx4090");
    model.point.math = math;
    model.point.engine = compiled_engine;
    return model;
}

IssueOrder compiled(const Graph& graph, const DeviceModel& device) {
    return as_compiled(issue_order(graph, {}, Device::Kind::gpu), graph, device);
}

std::vector<std::string> roles(const IssueOrder& order) {
    std::vector<std::string> found;
    for (const CallKind& kind : order.kinds) found.push_back(kind.role);
    return found;
}

TEST(CompiledCalls, AKernelOfGeneratedCodeTakesItsBytes) {
    const IssueOrder order = compiled(block("f16"), card());
    EXPECT_THAT(roles(order), ::testing::ElementsAre("convolution/channels_last", "triton", "triton+relu", "not run"));
    // Read and written once, with one parameter of 4 channels.
    const double bytes = 2 * (8 * 4 * 16 * 16 * 2) + 4 * 4;
    const Device device = card().device;
    EXPECT_NEAR(order.kinds[1].kernel_s, 1.04 * bytes / streamed_bytes_per_s(device) + device.kernel_latency_s, 1e-12);
    EXPECT_EQ(order.kinds[1].role_factor, 1);
    EXPECT_EQ(order.kinds[2].role_factor, 0) << "is in the kernel of the norm";
    EXPECT_EQ(order.kinds[3].role_factor, 0);
}

TEST(CompiledCalls, ConvolutionsOnTensorCoresHaveChannelsLast) {
    const Device device = card().device;
    const CallKind kind = compiled(block("f16"), card()).kinds[0];
    const double bytes = 2 * (8 * 4 * 16 * 16 * 2) + 4 * 4 * 2;
    const double flop = 2.0 * 8 * 16 * 16 * 4 * 4;
    const double busy = 16.0 / 128;                        // tiles of 128 rows over units
    const double arithmetic_s = flop / 1.65151e14 / busy;  // at the peak
    const double limits = std::hypot(0.9 * bytes / streamed_bytes_per_s(device), arithmetic_s);
    EXPECT_NEAR(kind.kernel_s, limits + device.kernel_latency_s, 1e-4 * limits);
    DeviceModel a100 = card(Math::tf32);
    a100.device = find_device("a100");
    EXPECT_EQ(compiled(block("f32"), a100).kinds[0].role, "convolution/channels_last");
    EXPECT_EQ(compiled(block("f32"), card(Math::tf32)).kinds[0].role, "convolution") << "TF32 brings a GeForce nothing";
}

/// What a convolution of 96 channels in groups of so many takes over its bytes and products, behind three of a single
/// group, which have most of the work.
double slowdown(int channels) {
    const std::string image = "f16[64,96,56,56]", whole = "f16[96,96,3,3]";
    const std::string weight = "f16[96," + std::to_string(channels) + ",3,3]";
    const auto call = [&](const std::string& weights, int groups, const std::string& inputs) {
        return R"call({"operation":"aten::conv2d(input=)call" + image + ", weight=" + weights +
               ", padding=[1,1], groups=" + std::to_string(groups) + R"call()","inputs":[)call" + inputs +
               R"call(],"outputs":[")call" + image + R"call("]})call";
    };
    const Graph graph = graph_from_json(
        R"call({"schema":"joulecast.graph/1","name":"grouped","has_edges":true,"inputs":[
{"name":"x","kind":"user_input","type":")call" +
        image + R"call("},{"name":"w","kind":"parameter","type":")call" + whole +
        R"call("},{"name":"g","kind":"parameter","type":")call" + weight + R"call("}],"nodes":[)call" +
        call(whole, 1, R"("input.0","input.1")") + "," + call(whole, 1, R"("0.0","input.1")") + "," +
        call(whole, 1, R"("1.0","input.1")") + "," + call(weight, 96 / channels, R"("2.0","input.2")") +
        R"call(],"outputs":["3.0"]})call");
    const DeviceModel device = card();
    const CallKind kind = compiled(graph, device).kinds.back();
    const Roofline limits = roofline(kind.operation, device.device, Math::ieee);
    return (kind.kernel_s - device.device.kernel_latency_s) / std::hypot(0.9 * limits.byte_s, limits.flop_s);
}

// RegNetY's groups of 24 and 56 channels and DPN's of 24 were told three to seven times too fast, ResNeXt's of 4 to 32
// right.
TEST(CompiledCalls, GroupsOfTwentyFourChannelsHaveNoKernelOnTensorCores) {
    EXPECT_NEAR(slowdown(96), 1, 1e-4);
    EXPECT_NEAR(slowdown(32), 1, 1e-4);
    EXPECT_NEAR(slowdown(24), 3.5, 1e-4);
}

// ConvNeXt's windows of 7 x 7 take ten times their bytes on an H200 (datasets/README.md): compiled they were told 1.2
// times.
TEST(CompiledCalls, DepthwiseConvolutionsTakeEachPlaceOfTheirWindow) {
    const auto kernel_s = [](const std::string& window, const std::string& border) {
        const Graph graph = graph_from_json(
            R"call({"schema":"joulecast.graph/1","name":"depthwise","has_edges":true,"inputs":[
{"name":"x","kind":"user_input","type":"bf16[128,96,56,56]"},{"name":"w","kind":"parameter","type":"bf16[96,1,)call" +
            window + R"call(]"}],"nodes":[{"operation":"aten::conv2d(input=bf16[128,96,56,56], weight=bf16[96,1,)call" +
            window + "], padding=[" + border +
            R"call(], groups=96)","inputs":["input.0","input.1"],"outputs":["bf16[128,96,56,56]"]}],"outputs":["0.0"]})call");
        DeviceModel h200 = card();
        h200.device = find_device("h200");
        const CallKind kind = compiled(graph, h200).kinds.front();
        EXPECT_EQ(kind.role, "convolution/depthwise/channels_last");
        return kind.kernel_s;
    };
    EXPECT_NEAR(kernel_s("7,7", "3,3"), 384e-6, 0.1 * 384e-6);
    EXPECT_LT(kernel_s("3,3", "1,1"), 0.25 * kernel_s("7,7", "3,3"));
}

CallKind last_layer(std::int64_t columns, std::int64_t rows, const std::string& device) {
    const std::string input = "bf16[" + std::to_string(rows) + ",768]";
    const std::string weight = "bf16[" + std::to_string(columns) + ",768]";
    const Graph graph = graph_from_json(
        R"call({"schema":"joulecast.graph/1","name":"head","has_edges":true,"inputs":[
{"name":"x","kind":"user_input","type":")call" +
        input + R"call("},{"name":"w","kind":"parameter","type":")call" + weight +
        R"call("}],"nodes":[{"operation":"aten::linear(input=)call" + input + ", weight=" + weight +
        R"call()","inputs":["input.0","input.1"],"outputs":["bf16[)call" + std::to_string(rows) + "," +
        std::to_string(columns) + R"call(]"]}],"outputs":["0.0"]})call");
    DeviceModel model = card();
    model.device = find_device(device);
    return compiled(graph, model).kinds.front();
}

TEST(CompiledCalls, ProductsOfOddRowsArePaddedWhereThatIsFaster) {
    // 50,257 columns: 3.4 ms as they are on an H200; padded 0.5 ms of products and 0.2 ms of copies.
    EXPECT_EQ(last_layer(50257, 4096, "h200").role, "matmul/padded");
    EXPECT_NEAR(last_layer(50257, 4096, "h200").kernel_s, 0.7e-3, 0.1e-3);
    EXPECT_EQ(last_layer(50304, 4096, "h200").role, "matmul");
    EXPECT_EQ(last_layer(50257, 8, "h200").role, "matmul") << "its weight would be read twice for nothing";
    EXPECT_EQ(last_layer(2071, 2071, "rtx4090").role, "matmul") << "copies take more than the third that it would gain";
    EXPECT_EQ(last_layer(50257, 4096, "mi300x").role, "matmul");
}

// NesT's windows stand in a fifth dimension, so that no fused kernel takes them: products of float32, and one kernel of
// generated code between them where eager PyTorch runs seven.
TEST(CompiledCalls, AttentionThatNoFusedKernelTakesIsSplit) {
    const auto role = [](const std::string& type) {
        const Graph graph = graph_from_json(
            R"call({"schema":"joulecast.graph/1","name":"windows","has_edges":true,"inputs":[
{"name":"q","kind":"user_input","type":")call" +
            type + R"call("}],"nodes":[{"operation":"aten::scaled_dot_product_attention(query=)call" + type + ", key=" +
            type + ", value=" + type + R"call()","inputs":["input.0","input.0","input.0"],"outputs":[")call" + type +
            R"call("]}],"outputs":["0.0"]})call");
        return compiled(graph, card()).kinds.front();
    };
    const CallKind windows = role("f16[512,3,16,196,32]");
    EXPECT_EQ(windows.role, "attention/split");
    const PreparedOperation eager = prepare(windows.operation, card().device, Math::ieee);
    EXPECT_LT(windows.kernel_s, 0.6 * split_attention_forward_s(eager, card().device));
    EXPECT_GT(windows.kernel_s, 0.3 * split_attention_forward_s(eager, card().device));
    EXPECT_EQ(role("f16[512,48,196,32]").role, "attention");
}

TEST(CompiledCalls, ConvolutionsInFloat32TakeWhatTheyTakeWithout) {
    const CallKind kind = compiled(block("f32"), card()).kinds[0];
    EXPECT_EQ(kind.role, "convolution");
    EXPECT_TRUE(std::isnan(kind.kernel_s));
    EXPECT_EQ(kind.role_factor, 1);
}

TEST(CompiledCalls, AreCountedByWhoseKernelTheyRunIn) {
    const FusedCalls calls = compiled_calls(compiled(block("f16"), card()));
    EXPECT_EQ(calls.alone, 2);
    EXPECT_EQ(calls.fused, 1);
    EXPECT_EQ(calls.networks, 0) << "by rule";
}

TEST(CompiledCalls, TrainingAndListsOfCallsAreRefused) {
    const Graph trained = in_mode(block("f16"), Mode::training);
    EXPECT_THROW(compiled(trained, card()), Error);
    const Graph list = without_edges(block("f16"));
    EXPECT_THROW(compiled(list, card()), Error);
}

TEST(CompiledCalls, AreToldOfGpusThatWereNeverMeasured) {
    DeviceModel measured = card();
    measured.point.engine = OperatingPoint().engine;
    EXPECT_TRUE(compiled_by_rule(std::vector{measured}).empty());
    EXPECT_FALSE(is_compiled_by_rule(card()));
    DeviceModel unseen = measured;
    unseen.unseen.emplace();
    const auto found = compiled_by_rule(std::vector{measured, unseen});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].point.engine, "torch-compile");
    EXPECT_TRUE(is_compiled_by_rule(found[0]));
    EXPECT_FALSE(is_compiled_by_rule(unseen));
    for (const char* other : {"p100", "mi210", "epyc-7763"}) {  // Triton knows no Pascal
        unseen.device = find_device(other);
        EXPECT_TRUE(compiled_by_rule(std::vector{unseen}).empty()) << other;
    }
}

}  // namespace
}  // namespace joulecast
