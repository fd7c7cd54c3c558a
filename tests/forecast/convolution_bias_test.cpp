#include "joulecast/forecast/convolution_bias.h"

#include <gtest/gtest.h>

#include <string>

#include "joulecast/device/device_table.h"

namespace joulecast {
namespace {

const Device& h200() {
    static const Device device = find_device("h200");
    return device;
}

double told_s(const std::string& call, Math math = Math::ieee, const Device& device = h200()) {
    return bias_pass_s(prepare(parse_operation(call), device, math), device);
}

/// ConvNeXt's first layer, whose bias takes 83 us on an H200: 309.6 us in all, of which its products are told 226.3
/// (datasets/README.md).
std::string first_layer(const std::string& type, const std::string& bias) {
    return "aten::conv2d(input=" + type + "[128,3,224,224], weight=" + type + "[96,3,4,4]" + bias + ", stride=[4,4])";
}

TEST(ConvolutionBias, IsAddedInAKernelOfItsOwnBehindCudnns) {
    EXPECT_NEAR(told_s(first_layer("bf16", ", bias=bf16[96]")), 83e-6, 0.2 * 83e-6);
    EXPECT_EQ(told_s(first_layer("bf16", "")), 0);
    EXPECT_GT(told_s("aten::conv2d(input=bf16[128,96,56,56]{cl}, weight=bf16[96,1,7,7], bias=bf16[96], padding=[3,3], "
                     "groups=96)"),
              0);
    EXPECT_GT(told_s("aten::conv2d(input=f16[8,64,56,56], weight=f16[64,8,3,3], bias=f16[64], groups=8)"), 0);
}

TEST(ConvolutionBias, IsNotFasterThanMemory) {
    // A T4's memory is slow beside its units: 38.5 million results read and written.
    const Device t4 = find_device("t4");
    const double least = 2 * 128.0 * 96 * 56 * 56 * 2 / streamed_bytes_per_s(t4);
    EXPECT_NEAR(told_s(first_layer("f16", ", bias=f16[96]"), Math::ieee, t4), least, 1e-3 * least);
}

TEST(ConvolutionBias, IsAddedByTheKernelItselfElsewhere) {
    for (const char* call :
         {"aten::conv2d(input=bf16[8,96,56,56], weight=bf16[96,1,7,7], bias=bf16[96], padding=[3,3], groups=96)",
          "aten::conv_transpose2d.input(input=f16[8,64,32,32], weight=f16[64,32,2,2], bias=f16[32], stride=[2,2])",
          "aten::linear(input=f16[8,64], weight=f16[32,64], bias=f16[32])"})
        EXPECT_EQ(told_s(call), 0) << call;
    EXPECT_EQ(told_s(first_layer("f32", ", bias=f32[96]")), 0) << "others measured float32 with it";
    const Device amd = find_device("mi210");
    EXPECT_EQ(told_s(first_layer("f16", ", bias=f16[96]"), Math::ieee, amd), 0);
}

}  // namespace
}  // namespace joulecast
