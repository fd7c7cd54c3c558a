#include "joulecast/forecast/channels_last_convolution.h"

#include <gtest/gtest.h>

#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/forecast/tensor_core_convolution.h"
#include "joulecast/graph/operation.h"

namespace joulecast {
namespace {

const Device& card() {
    static const Device device = find_device("rtx4090");
    return device;
}

PreparedOperation convolution(const std::string& input, const std::string& weight, const std::string& groups = "1") {
    return prepare(parse_operation("aten::conv2d(input=" + input + ", weight=" + weight +
                                   ", padding=[1,1], groups=" + groups + ")"),
                   card(), Math::ieee);
}

double seconds(const std::string& input, const std::string& weight, const std::string& groups = "1") {
    return channels_last_convolution_s(convolution(input, weight, groups), card());
}

// ResNet-34 of 160 x 160 pixels, 512 images: with channels last all of it takes 22.4 ms on an RTX 4090, 11.6 ms of
// which the arithmetic of its convolutions does at the sheet's peak (timm).
TEST(ChannelsLastConvolution, TakesLittleMoreThanItsArithmetic) {
    const double at_peak = 2.0 * 512 * 20 * 20 * 128 * 128 * 9 / card().peak_flop_per_s_fp16;
    const double told = seconds("f16[512,128,20,20]{cl}", "f16[128,128,3,3]{cl}");
    EXPECT_GT(told, at_peak);
    EXPECT_LT(told, 1.1 * at_peak);
}

TEST(ChannelsLastConvolution, IsWhatAnEagerOneTakes) {
    const PreparedOperation last = convolution("f16[512,128,20,20]{cl}", "f16[128,128,3,3]{cl}");
    const PreparedOperation turned = convolution("f16[512,128,20,20]", "f16[128,128,3,3]");
    EXPECT_NEAR(tensor_core_convolution_s(last, card()),
                channels_last_convolution_s(last, card()) + 2 * card().kernel_latency_s, 1e-9);
    EXPECT_GT(tensor_core_convolution_s(turned, card()), 1.2 * tensor_core_convolution_s(last, card()));
}

TEST(ChannelsLastConvolution, OfFewTilesLeavesUnitsIdle) {
    const double many = seconds("f16[512,512,7,7]{cl}", "f16[512,512,3,3]{cl}");
    EXPECT_GT(seconds("f16[1,512,7,7]{cl}", "f16[512,512,3,3]{cl}"), 3 * many / 512);
}

TEST(ChannelsLastConvolution, HasNoKernelForOddGroups) {
    const double even = seconds("f16[512,256,14,14]{cl}", "f16[256,64,3,3]{cl}", "4");
    const double odd = seconds("f16[512,240,14,14]{cl}", "f16[240,60,3,3]{cl}", "4");
    EXPECT_GT(odd, 2.5 * even);
}

}  // namespace
}  // namespace joulecast
