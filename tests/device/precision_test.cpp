#include "joulecast/device/precision.h"

#include <gmock/gmock.h>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = Device::Kind;

/// x (user input) times weight (parameter), both f32[16,16].
Graph product() {
    Graph graph;
    graph.name = "product";
    const TensorType type{Dtype::f32, {16, 16}};
    graph.inputs = {{"x", GraphInput::Kind::user_input, type, {}}, {"weight", GraphInput::Kind::parameter, type, {}}};
    Node node;
    node.operation = {"aten::linear", {{"input", type}, {"weight", type}}};
    node.inputs = {{-1, 0}, {-1, 1}};
    node.outputs = {type};
    graph.nodes = {node};
    graph.outputs = {{0, 0}};
    return graph;
}

std::vector<std::string> operations(const Graph& graph) {
    std::vector<std::string> texts;
    for (const Node& node : graph.nodes) texts.push_back(signature(node.operation));
    return texts;
}

TEST(Precision, HasTheWordsOfTheCommandLine) {
    EXPECT_EQ(precision_words(), "default, fp32, tf32, bf16, fp16, amp-bf16, amp-fp16, fp8");
    for (const Precision precision : {Precision::fp32, Precision::tf32, Precision::bf16, Precision::fp16,
                                      Precision::amp_bf16, Precision::amp_fp16, Precision::fp8})
        EXPECT_EQ(parse_precision(name(precision)), precision);
    EXPECT_EQ(parse_precision("amp"), std::nullopt);
    try {
        precision_named("fp64");
        FAIL();
    } catch (const UsageError& error) {
        EXPECT_THAT(error.what(), HasSubstr("amp-bf16"));
    }
}

TEST(Precision, MakesTf32AMatterOfTheDeviceAndNotOfTheGraph) {
    EXPECT_EQ(math_of(Precision::tf32), Math::tf32);
    EXPECT_EQ(math_of(Precision::fp32), Math::ieee);
    EXPECT_EQ(math_of(Precision::bf16), Math::ieee);
    EXPECT_THAT(operations(at_precision(product(), Precision::tf32, Mode::inference, Kind::gpu)),
                ElementsAre("aten::linear(input=f32[16,16], weight=f32[16,16])"));
}

TEST(Precision, CastsTheModelOrInsertsCasts) {
    EXPECT_THAT(operations(at_precision(product(), Precision::fp16, Mode::inference, Kind::cpu)),
                ElementsAre("aten::linear(input=f16[16,16], weight=f16[16,16])"));
    EXPECT_THAT(operations(at_precision(product(), Precision::amp_fp16, Mode::training, Kind::gpu)),
                ElementsAre("aten::_to_copy(self=f32[16,16], dtype=f16)", "aten::_to_copy(self=f32[16,16]~, dtype=f16)",
                            "aten::linear(input=f16[16,16], weight=f16[16,16]~)"));
    EXPECT_EQ(operations(at_precision(product(), Precision::fp8, Mode::inference, Kind::gpu)).back(),
              "aten::_scaled_mm(self=f8e4m3fn[16,16], mat2=f8e4m3fn[16,16]{1,16}, scale_a=f32[], scale_b=f32[], "
              "out_dtype=bf16, use_fast_accum=true)");
}

TEST(Precision, IsRefusedWhereTheDeviceCannot) {
    EXPECT_THROW(at_precision(product(), Precision::tf32, Mode::inference, Kind::cpu), UsageError);
    EXPECT_THROW(at_precision(product(), Precision::fp8, Mode::inference, Kind::cpu), UsageError);
    EXPECT_EQ(refusal(Precision::amp_bf16, Kind::cpu), std::nullopt);
    EXPECT_EQ(refusal(Precision::fp8, Kind::gpu), std::nullopt);
    EXPECT_THROW(at_precision(product(), Precision::fp8, Mode::training, Kind::gpu), Error);
}

TEST(Precision, IsRefusedWhereTheDataSheetHasNoRateForIt) {
    const Device& v100 = known_devices().find("v100-16g-pcie")->device;
    const Device& a100 = known_devices().find("a100-40g-pcie")->device;
    const Device& h100 = known_devices().find("h100-sxm")->device;
    for (const Precision precision : {Precision::bf16, Precision::amp_bf16, Precision::tf32, Precision::fp8})
        EXPECT_THAT(refusal(precision, v100).value_or(""), HasSubstr("Tesla V100-PCIE-16GB has no "))
            << name(precision);
    EXPECT_EQ(refusal(Precision::fp16, v100), std::nullopt);
    EXPECT_THAT(refusal(Precision::fp8, a100).value_or(""), HasSubstr("peak_flop_per_s_fp8"));
    EXPECT_EQ(refusal(Precision::tf32, a100), std::nullopt);
    EXPECT_EQ(refusal(Precision::fp8, h100), std::nullopt);
    Device cpu;
    EXPECT_EQ(refusal(Precision::bf16, cpu), std::nullopt);
    EXPECT_TRUE(refusal(Precision::tf32, cpu).has_value());
}

TEST(Precision, IsByDefaultWhatPyTorchDoesOnTheDevice) {
    const Device& v100 = known_devices().find("v100-16g-pcie")->device;
    const Device& a100 = known_devices().find("a100-40g-pcie")->device;
    EXPECT_EQ(settled(Precision::torch_default, a100), Precision::torch_default);
    EXPECT_EQ(settled(Precision::torch_default, v100), Precision::fp32);
    EXPECT_EQ(settled(Precision::torch_default, Device()), Precision::fp32);
    EXPECT_EQ(settled(Precision::bf16, v100), Precision::bf16);
    EXPECT_EQ(math_of(Precision::torch_default), Math::torch_default);
    // A measurement has one of the two.
    EXPECT_THROW(measured_precision_named("default"), UsageError);
    EXPECT_EQ(measured_precision_named("tf32"), Precision::tf32);
    EXPECT_EQ(parse_math("default"), std::nullopt);
}

TEST(Precision, NeedsTheTypesThatItsTensorsHave) {
    EXPECT_THAT(dtypes_of(Precision::fp8), ElementsAre(Dtype::bf16, Dtype::f8e4m3fn));
    EXPECT_THAT(dtypes_of(Precision::amp_fp16), ElementsAre(Dtype::f16));
    EXPECT_TRUE(dtypes_of(Precision::tf32).empty());
}

}  // namespace
}  // namespace joulecast
