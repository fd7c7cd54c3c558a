#include "joulecast/forecast/small_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"

namespace joulecast {
namespace {

double most_us(const std::string& call, const std::string& device = "h200") {
    const Device sheet = find_device(device);
    return 1e6 * most_small_kernel_s(prepare(parse_operation(call), sheet, Math::ieee), sheet);
}

// What an H100 or an H200 took stands behind each (datasets/h100-sxm.csv, h200.csv, h200-families.csv).
TEST(SmallKernels, ElementsThatLieAlikeTakeAMicrosecondOrTwo) {
    EXPECT_NEAR(most_us("aten::add.Tensor(self=bf16[8,1,1], other=1e-05)"), 1.15, 0.15);
    EXPECT_NEAR(most_us("aten::rsqrt(self=bf16[8,128,1])"), 1.21, 0.15);
    EXPECT_NEAR(most_us("aten::silu(self=bf16[8,1,8192])"), 1.74, 0.35);
    EXPECT_NEAR(most_us("aten::sigmoid(self=bf16[64,1000])"), 2.1, 0.3);
    EXPECT_TRUE(std::isinf(most_us("aten::mul.Tensor(self=bf16[2048], other=bf16[8,1,2048])"))) << "3.4 us";
    EXPECT_TRUE(std::isinf(most_us("aten::rsqrt(self=bf16[8,128,1]~)"))) << "has a backward pass";
}

TEST(SmallKernels, OfLargeOnesTheyTellNothing) {
    EXPECT_NEAR(most_us("aten::relu(self=f32[32,160,7,7])"), 2.5, 0.3);
    EXPECT_TRUE(std::isinf(most_us("aten::add.Tensor(self=bf16[33554432], other=bf16[33554432])")));
}

TEST(SmallKernels, ConvolutionsOfOnePlaceGoThroughTheirChannels) {
    EXPECT_NEAR(most_us("aten::conv2d(input=bf16[32,480,1,1], weight=bf16[20,480,1,1], bias=bf16[20])"), 8.82, 0.5);
    EXPECT_NEAR(most_us("aten::conv2d(input=bf16[32,32,1,1], weight=bf16[8,32,1,1], bias=bf16[8])"), 4.29, 0.5);
    EXPECT_NEAR(most_us("aten::conv2d(input=bf16[32,28,1,1], weight=bf16[672,28,1,1], bias=bf16[672])"), 7.58, 1.2);
    EXPECT_TRUE(std::isinf(most_us("aten::conv2d(input=bf16[32,32,7,7], weight=bf16[8,32,1,1])")));
}

TEST(SmallKernels, GoByTheClockAndAreOfOneMaker) {
    const std::string one = "aten::relu(self=f32[1])";
    EXPECT_NEAR(most_us(one, "a100-80g-sxm") / most_us(one), 1980.0 / 1410, 1e-3);
    EXPECT_TRUE(std::isinf(most_us(one, "mi300x")));
}

}  // namespace
}  // namespace joulecast
