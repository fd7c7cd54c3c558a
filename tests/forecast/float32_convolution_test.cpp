#include "joulecast/forecast/float32_convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"

namespace joulecast {
namespace {

const std::string winograd_sized = "aten::conv2d(input=f32[32,128,28,28], weight=f32[128,128,3,3], padding=[1,1])";
const std::string pointwise = "aten::conv2d(input=f32[32,256,14,14], weight=f32[1024,256,1,1])";

PreparedOperation call(const std::string& text, const Device& device, Math math = Math::ieee) {
    return prepare(parse_operation(text), device, math);
}

std::string product(const std::string& text, const std::string& device, Math math = Math::ieee) {
    const Device sheet = find_device(device);
    const auto found = as_plain_product(call(text, sheet, math), sheet);
    return found ? signature(*found) : "";
}

double transformed_s(const std::string& text, const std::string& device) {
    const Device sheet = find_device(device);
    return winograd_s(call(text, sheet), sheet);
}

TEST(Float32Convolution, IsAMatrixProductOfItsPlacesByItsChannels) {
    EXPECT_EQ(product(pointwise, "v100-16g-sxm"), "aten::linear(input=f32[6272,256], weight=f32[1024,256])");
    EXPECT_EQ(
        product("aten::conv2d(input=f32[8,3,224,224], weight=f32[64,3,7,7], stride=[2,2], padding=[3,3])", "a100"),
        "aten::linear(input=f32[100352,147], weight=f32[64,147])");
    EXPECT_EQ(product(winograd_sized, "a100"), "aten::linear(input=f32[25088,1152], weight=f32[128,1152])");
    EXPECT_EQ(product(winograd_sized, "v100-16g-sxm"), "") << "such were measured there";
}

TEST(Float32Convolution, IsNoneOfGroupsOrOnTensorCores) {
    EXPECT_EQ(product("aten::conv2d(input=f32[8,32,56,56], weight=f32[32,1,3,3], groups=32)", "a100"), "");
    EXPECT_EQ(product(pointwise, "a100", Math::tf32), "");
    EXPECT_EQ(product("aten::conv2d(input=bf16[32,256,14,14], weight=bf16[1024,256,1,1])", "a100"), "");
    EXPECT_EQ(
        product("aten::conv_transpose2d.input(input=f32[8,128,28,28], weight=f32[128,64,2,2], stride=[2,2])", "a100"),
        "");
    EXPECT_EQ(product("aten::relu(self=f32[32,256,14,14])", "a100"), "");
}

TEST(Float32Convolution, ATileIsSummedByOneUnit) {
    const Device sheet = find_device("h200");
    const auto least_us = [&](const std::string& text) { return 1e6 * least_in_tiles_s(call(text, sheet), sheet); };
    const std::string deep = "weight=f32[512,512,3,3], padding=[1,1])", one = "weight=f32[256,256,3,3], padding=[1,1])";
    EXPECT_NEAR(least_us("aten::conv2d(input=f32[8,512,7,7], " + deep), 152.4, 8);  // as measured
    EXPECT_NEAR(least_us("aten::conv2d(input=f32[1,256,14,14], " + one), 77.2, 4);
    EXPECT_EQ(least_us("aten::conv2d(input=bf16[1,256,14,14], weight=bf16[256,256,3,3], padding=[1,1])"), 0);
}

TEST(Float32Convolution, WinogradsTransformsAddUp) {
    const Device sheet = find_device("a100");
    const double tiles = 32 * 7 * 7;
    const double flop = 2.0 * 36 * tiles * 128 * 128;  // 1568 tiles are 49 times 32
    const double image = 32.0 * 128 * 28 * 28, weight = 9.0 * 128 * 128;
    const double bytes = 4 * (2 * image + weight + 2 * 36 * (2 * tiles * 128 + 128 * 128));
    const double expected =
        flop / (0.8 * sheet.peak_flop_per_s_fp32) + bytes / sheet.bandwidth_bytes_per_s + 4 * sheet.kernel_latency_s;
    EXPECT_NEAR(winograd_s(call(winograd_sized, sheet), sheet) / expected, 1, 0.15) << "memory sustains less than all";
    // The arithmetic alone would take longer without the transforms.
    EXPECT_LT(expected, 2.0 * 9 * image * 128 / sheet.peak_flop_per_s_fp32);
}

TEST(Float32Convolution, WinogradIsForThreeByThreeOfStrideOneFromAmpereOn) {
    EXPECT_TRUE(std::isfinite(transformed_s(winograd_sized, "a100")));
    EXPECT_TRUE(std::isinf(transformed_s(winograd_sized, "v100-16g-sxm")));
    EXPECT_TRUE(std::isinf(transformed_s(winograd_sized, "h200")));
    EXPECT_TRUE(std::isinf(transformed_s(winograd_sized, "mi300x")));
    EXPECT_TRUE(std::isinf(transformed_s(pointwise, "a100")));
    EXPECT_TRUE(std::isinf(transformed_s(
        "aten::conv2d(input=f32[32,128,28,28], weight=f32[128,128,3,3], stride=[2,2], padding=[1,1])", "a100")));
}

}  // namespace
}  // namespace joulecast
