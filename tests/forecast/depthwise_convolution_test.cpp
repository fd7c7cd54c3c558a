#include "joulecast/forecast/depthwise_convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/forecast/convolution_bias.h"
#include "joulecast/graph/operation.h"

namespace joulecast {
namespace {

const Device& a100() {
    static const Device device = find_device("a100-80g-sxm");
    return device;
}

PreparedOperation call(const std::string& signature, const Device& device = a100()) {
    return prepare(parse_operation(signature), device, Math::ieee);
}

/// 32 images of 256 channels and 56 x 56 places, as many results. "~" behind a tensor: it gets a gradient.
std::string square(int window, const std::string& of_input = "", const std::string& of_weight = "",
                   const std::string& type = "f32") {
    const std::string side = std::to_string(window), border = std::to_string(window / 2);
    return "aten::conv2d(input=" + type + "[32,256,56,56]" + of_input + ", weight=" + type + "[256,1," + side + "," +
           side + "]" + of_weight + ", padding=[" + border + "," + border + "], groups=256)";
}

double forward_s(const std::string& signature, const Device& device = a100()) {
    return depthwise_forward_s(call(signature, device), device);
}

double backward_s(const std::string& signature) {
    return depthwise_backward_s(call(signature), a100());
}

TEST(DepthwiseConvolution, IsOneInTwoDimensionsWithAChannelForEachGroupOnACardOfNvidia) {
    EXPECT_TRUE(runs_depthwise_kernel(call(square(3)), a100()));
    EXPECT_TRUE(runs_depthwise_kernel(call(square(7, "", "", "bf16")), a100()));
    for (const char* other :
         {"aten::conv2d(input=f32[8,64,56,56], weight=f32[64,64,3,3])",
          "aten::conv2d(input=f32[8,64,56,56], weight=f32[64,32,3,3], groups=2)",
          "aten::conv1d(input=f32[8,64,56], weight=f32[64,1,3], groups=64)", "aten::relu(self=f32[8,64,56,56])"})
        EXPECT_FALSE(runs_depthwise_kernel(call(other), a100())) << other;
    const Device amd = find_device("mi210");
    EXPECT_FALSE(runs_depthwise_kernel(call(square(3), amd), amd));
    // cuDNN computes images whose channels lie last.
    const auto turned = call("aten::conv2d(input=f32[8,64,56,56]{cl}, weight=f32[64,1,3,3], groups=64)");
    EXPECT_FALSE(runs_depthwise_kernel(turned, a100()));
    EXPECT_TRUE(runs_depthwise_with_channels_last(turned, a100()));
    EXPECT_FALSE(runs_depthwise_with_channels_last(call(square(3)), a100()));
}

// Measured on an H200 in bf16 (datasets/README.md): the windows of ConvNeXt, whose image is permuted before, with bias.
TEST(DepthwiseConvolution, TakesEachPlaceOfTheWindowWhereChannelsLieLast) {
    const Device h200 = find_device("h200");
    const auto over_measured = [&](const std::string& images, const std::string& channels, double measured_s) {
        const PreparedOperation layer =
            call("aten::conv2d(input=bf16[" + images + "]{cl}, weight=bf16[" + channels + ",1,7,7], bias=bf16[" +
                     channels + "], padding=[3,3], groups=" + channels + ")",
                 h200);
        return (depthwise_with_channels_last_s(layer, h200) + bias_pass_s(layer, h200)) / measured_s;
    };
    EXPECT_NEAR(over_measured("128,96,56,56", "96", 383.8e-6), 1, 0.2);
    EXPECT_NEAR(over_measured("128,192,28,28", "192", 223.1e-6), 1, 0.1);
    EXPECT_NEAR(over_measured("128,384,14,14", "384", 109.6e-6), 1, 0.1);
    EXPECT_NEAR(over_measured("128,768,7,7", "768", 62.9e-6), 1, 0.1);
}

// ConvMixer on an RTX 4090: 43 ms for each of its layers of 9 x 9 when they are compiled (timm), 12 times what the taps
// of narrower windows take.
TEST(DepthwiseConvolution, WiderWindowsHaveNoFastKernelWhereChannelsLieLast) {
    const Device rtx4090 = find_device("rtx4090");
    const auto layer = call(
        "aten::conv2d(input=f16[1024,1024,16,16]{cl}, weight=f16[1024,1,9,9], padding=[4,4], groups=1024)", rtx4090);
    EXPECT_NEAR(depthwise_with_channels_last_s(layer, rtx4090), 43e-3, 2e-3);
}

// CoAtNet-0 of 512 images: on an RTX 3090 all of it takes 90 ms more than told without, on a 4090 74 ms; Xception-41p
// of 768 images 261 ms for two, of 512 nothing (timm).
TEST(DepthwiseConvolution, FallsOffItsFastKernelWhereIndicesDoNotReach) {
    const Device rtx3090 = find_device("rtx3090");
    const auto seconds = [&](const std::string& batch) {
        return depthwise_with_channels_last_s(
            call("aten::conv2d(input=f16[" + batch +
                     ",384,112,112]{cl}, weight=f16[384,1,3,3], stride=[2,2], padding=[1,1], groups=384)",
                 rtx3090),
            rtx3090);
    };
    EXPECT_NEAR(seconds("512"), 97e-3, 15e-3);
    EXPECT_NEAR(seconds("512") / seconds("400"), 10 * 512.0 / 400, 0.1);  // 1.9 and 2.5 billion elements
}

// A V100 has 80 units at 1.53 GHz, an A100 108 at 1.41.
TEST(DepthwiseConvolution, TakesCyclesOfUnitsForEachResult) {
    const Device v100 = find_device("v100-16g-sxm");
    const double cycles =
        (forward_s(square(7), v100) - v100.kernel_latency_s) * v100.units * v100.boost_clock_mhz * 1e6;
    EXPECT_NEAR(cycles / (32.0 * 256 * 56 * 56), 1.3 + 0.144 * 49, 0.1);
    EXPECT_NEAR(forward_s(square(7), v100) / forward_s(square(7)), 108 * 1.410 / (80 * 1.530), 0.01);
}

TEST(DepthwiseConvolution, TakesLongerForALargerWindowAndLessForOneThatHasAKernelOfItsOwn) {
    double before = 0;
    for (const int window : {1, 3, 5, 7, 9}) {
        EXPECT_GT(forward_s(square(window)), before) << window;
        before = forward_s(square(window));
    }
    // Twenty-five places in a row have no kernel that was compiled for them.
    const std::string row = "aten::conv2d(input=f32[32,256,56,56], weight=f32[256,1,1,25], padding=[0,12], groups=256)";
    EXPECT_GT(forward_s(row), 1.2 * forward_s(square(5)));
}

TEST(DepthwiseConvolution, IsNoFasterThanItsBytes) {
    const Device t4 = find_device("t4");
    const auto over_bytes = [&](const std::string& signature) {
        const Counts counts = call(signature, t4).dimensions.forward;
        const double bytes = static_cast<double>(counts.bytes_read + counts.bytes_written);
        return forward_s(signature, t4) / (bytes / streamed_bytes_per_s(t4));
    };
    EXPECT_GT(over_bytes(square(1)), 1);
    EXPECT_LT(over_bytes(square(1)), 1.3);
    EXPECT_GT(over_bytes(square(7)), 3);
}

TEST(DepthwiseConvolution, GoesBackForTheGradientsThatAreWanted) {
    const double both = backward_s(square(3, "~", "~"));
    const double input = backward_s(square(3, "~"));
    const double weight = backward_s(square(3, "", "~"));
    EXPECT_GT(input, forward_s(square(3)));
    EXPECT_GT(weight, 0);
    EXPECT_NEAR(both, input + weight, 1e-9);
    EXPECT_EQ(backward_s(square(3)), 0);
}

// What PyTorch gives to cuDNN: in float16 alone, of 32 channels and more, and with a stride of many channels alone.
TEST(DepthwiseConvolution, GoesBackAsItWentForwardWhereCuDnnDoes) {
    const auto passes = [](const std::string& images, const std::string& channels, const std::string& rest = "",
                           const std::string& type = "f16", const std::string& window = "3,3") {
        const std::string call = "aten::conv2d(input=" + type + "[64," + channels + "," + images +
                                 "]~, weight=" + type + "[" + channels + ",1," + window + "]~" + rest +
                                 ", groups=" + channels + ")";
        return backward_s(call) / forward_s(call);
    };
    const auto is_cudnns = [](double passes) { return std::abs(passes - 2) < 1e-9; };
    const std::string strided = ", stride=[2,2]";
    EXPECT_TRUE(is_cudnns(passes("28,28", "64")));
    EXPECT_TRUE(is_cudnns(passes("28,28", "64", "", "f16", "5,5")));
    EXPECT_TRUE(is_cudnns(passes("28,28", "256", strided)));
    EXPECT_TRUE(is_cudnns(passes("14,14", "512", strided)));
    EXPECT_FALSE(is_cudnns(passes("28,28", "64", "", "bf16")));
    EXPECT_FALSE(is_cudnns(passes("28,28", "64", "", "f16", "7,7")));
    EXPECT_FALSE(is_cudnns(passes("28,28", "64", ", dilation=[2,2]")));
    EXPECT_FALSE(is_cudnns(passes("28,28", "24")));
    EXPECT_FALSE(is_cudnns(passes("6,6", "64")));
    EXPECT_FALSE(is_cudnns(passes("14,14", "256", strided)));
    EXPECT_FALSE(is_cudnns(passes("28,28", "128", strided)));
}

TEST(DepthwiseConvolution, GoesBackAsContiguousOnesGoForwardWhereChannelsLieLast) {
    const std::string last = "aten::conv2d(input=f16[64,64,28,28]{cl}~, weight=f16[64,1,3,3]~, groups=64)";
    const std::string contiguous = "aten::conv2d(input=f16[64,64,28,28], weight=f16[64,1,3,3], groups=64)";
    const double both = depthwise_backward_with_channels_last_s(call(last), a100());
    EXPECT_NEAR(both, 2 * forward_s(contiguous), 1e-9);
    EXPECT_GT(both, 2 * depthwise_with_channels_last_s(call(last), a100()));
    const PreparedOperation wide = call("aten::conv2d(input=f16[64,64,28,28]{cl}~, weight=f16[64,1,9,9]~, groups=64)");
    EXPECT_NEAR(depthwise_backward_with_channels_last_s(wide, a100()), 2 * depthwise_with_channels_last_s(wide, a100()),
                1e-9);
}

// A warp has 32 lanes, so an image of 7 x 7 places takes two steps, and as long to begin as one of 56 x 56.
TEST(DepthwiseConvolution, GradientOfTheWeightLosesMostOnSmallImages) {
    const auto of_a_place = [](const std::string& images, double places) {
        return backward_s("aten::conv2d(input=f32[32," + images +
                          "], weight=f32[1024,1,7,7]~, padding=[3,3], groups=1024)") /
               places;
    };
    EXPECT_GT(of_a_place("1024,7,7", 49), 2 * of_a_place("1024,56,56", 3136));
}

}  // namespace
}  // namespace joulecast
