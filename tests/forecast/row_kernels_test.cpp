#include "joulecast/forecast/row_kernels.h"

#include <gtest/gtest.h>

#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"

namespace joulecast {
namespace {

double least_us(const std::string& call, const std::string& device = "h200") {
    const Device sheet = find_device(device);
    return 1e6 * row_in_turn_s(prepare(parse_operation(call), sheet, Math::ieee), sheet);
}

// What an H100 or an H200 took stands behind each (datasets/h100-sxm.csv, h200-families.csv).
void expect_just_below(double bound_us, double measured_us) {
    EXPECT_LE(bound_us, 1.02 * measured_us);
    EXPECT_GE(bound_us, 0.8 * measured_us);
}

TEST(RowKernels, FewRowsOfANormTakeAsLongAsOne) {
    const std::string wide = "normalized_shape=[4096], weight=bf16[4096]";
    expect_just_below(least_us("aten::layer_norm(input=bf16[8,1,4096], " + wide + ", bias=bf16[4096])"), 9.54);
    expect_just_below(
        least_us("aten::layer_norm(input=bf16[8,1,768], normalized_shape=[768], weight=bf16[768], bias=bf16[768])"),
        3.99);
    expect_just_below(least_us("aten::rms_norm(input=bf16[8,1,4096], " + wide + ")"), 5.71);
}

TEST(RowKernels, ALongRowOfASoftmaxIsOneBlocks) {
    expect_just_below(least_us("aten::softmax.int(self=bf16[8,50257], dim=-1)"), 14.6);
    expect_just_below(least_us("aten::log_softmax.int(self=bf16[8,50257], dim=-1)"), 10.45);
    expect_just_below(least_us("aten::log_softmax.int(self=f32[8,50257], dim=-1)"), 15.24);
    expect_just_below(least_us("aten::softmax.int(self=bf16[4096,32128], dim=-1)"), 310.8);
    EXPECT_EQ(least_us("aten::softmax.int(self=bf16[32,12,512,512], dim=-1)"), 0) << "a warp holds a row";
}

TEST(RowKernels, WhatRunsAlongARowTakesItsLatency) {
    expect_just_below(least_us("aten::argmax(self=bf16[64,50257], dim=1)"), 17.6);
    expect_just_below(least_us("aten::cumsum(self=bf16[64,4096], dim=1)"), 24.8);
    expect_just_below(least_us("aten::cumsum(self=bool[8,128], dim=-1)"), 4.52);
    expect_just_below(least_us("aten::sum(self=bf16[64,1000])"), 8.39);
    EXPECT_EQ(least_us("aten::sum(self=bf16[1000])"), 0) << "in one stage";
    EXPECT_EQ(least_us("aten::relu(self=bf16[64,50257])"), 0);
}

TEST(RowKernels, GoByTheClockAndAreOfOneMaker) {
    const std::string norm =
        "aten::layer_norm(input=bf16[8,1,768], normalized_shape=[768], weight=bf16[768], bias=bf16[768])";
    EXPECT_NEAR(least_us(norm, "a100-80g-sxm") / least_us(norm), 1980.0 / 1410, 1e-9);
    EXPECT_EQ(least_us(norm, "mi300x"), 0);
}

// The kernel goes through rows, so that it does not matter how those are arranged. Told by its four dimensions one of
// Swin's and ConvNeXt's took twice what it takes by three (0.80 to 1.66 ms on an RTX 4090, by their order alone).
TEST(RowKernels, LayerNormsOfMoreDimensionsAreShownWithThree) {
    const auto shown = [](const std::string& call) {
        const auto rows = in_three_dimensions(parse_operation(call));
        return rows ? signature(*rows) : "as it is";
    };
    EXPECT_EQ(
        shown("aten::layer_norm(input=f32[8,14,14,384]~, normalized_shape=[384], weight=f32[384]~, bias=f32[384]~)"),
        "aten::layer_norm(input=f32[8,196,384]~, normalized_shape=[384], weight=f32[384]~, bias=f32[384]~)");
    EXPECT_EQ(shown("aten::layer_norm(input=f16[8,14,14,384]{75264,14,1,196}, normalized_shape=[384])"),
              "aten::layer_norm(input=f16[8,196,384], normalized_shape=[384])");
    for (const char* call : {"aten::layer_norm(input=f32[8,196,384], normalized_shape=[384])",
                             "aten::layer_norm(input=f32[8,14,14,384], normalized_shape=[14,384])",
                             "aten::layer_norm(input=f32[0,14,14,384], normalized_shape=[384])",
                             "aten::softmax.int(self=f32[8,12,197,197], dim=-1)"})
        EXPECT_EQ(shown(call), "as it is") << call;
}

}  // namespace
}  // namespace joulecast
