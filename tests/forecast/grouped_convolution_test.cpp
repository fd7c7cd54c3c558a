#include "joulecast/forecast/grouped_convolution.h"

#include <gtest/gtest.h>

#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/forecast/channels_last_convolution.h"
#include "joulecast/graph/operation.h"

namespace joulecast {
namespace {

const Device& h200() {
    static const Device device = find_device("h200");
    return device;
}

PreparedOperation call(const std::string& signature, const Device& device = h200(), Math math = Math::ieee) {
    return prepare(parse_operation(signature), device, math);
}

std::string square(const std::string& input, const std::string& weight) {
    return "aten::conv2d(input=" + input + ", weight=" + weight + ", padding=[1,1], groups=32)";
}

TEST(GroupedConvolution, HasSeveralChannelsButNotAllForEachGroup) {
    EXPECT_TRUE(runs_grouped_kernel(call(square("bf16[8,256,28,28]", "bf16[256,8,3,3]")), h200()));
    EXPECT_FALSE(runs_grouped_kernel(call(square("bf16[8,32,28,28]", "bf16[32,1,3,3]")), h200()));
    EXPECT_FALSE(runs_grouped_kernel(call("aten::conv2d(input=bf16[8,64,28,28], weight=bf16[64,64,3,3])"), h200()));
    EXPECT_FALSE(runs_grouped_kernel(call("aten::relu(self=bf16[8,64,28,28])"), h200()));
    const Device amd = find_device("mi210");
    EXPECT_FALSE(runs_grouped_kernel(call(square("bf16[8,256,28,28]", "bf16[256,8,3,3]"), amd), amd));
}

// What an H200 took, in us (datasets/h200-families.csv).
TEST(GroupedConvolution, GoesByTheBytesOfItsResult) {
    const auto share = [](const std::string& signature, double measured_us, Math math = Math::ieee) {
        return 1e6 * grouped_forward_s(call(signature, h200(), math), h200()) / measured_us;
    };
    EXPECT_NEAR(share(square("bf16[1,256,28,28]", "bf16[256,8,3,3]"), 12.33), 1, 0.3);
    EXPECT_NEAR(share(square("bf16[8,256,28,28]", "bf16[256,8,3,3]"), 19.31), 1, 0.15);
    EXPECT_NEAR(share(square("bf16[64,256,28,28]", "bf16[256,8,3,3]"), 105.05), 1, 0.15);
    EXPECT_NEAR(share(square("bf16[8,128,28,28]", "bf16[128,4,3,3]"), 14.13), 1, 0.15);
    EXPECT_NEAR(share(square("f16[8,128,28,28]", "f16[128,4,3,3]"), 14.10), 1, 0.15);
    EXPECT_NEAR(share(square("f32[8,128,28,28]", "f32[128,4,3,3]"), 20.85, Math::tf32), 1, 0.15);
    EXPECT_NEAR(share(square("f32[8,128,28,28]", "f32[128,4,3,3]"), 21.91), 1, 0.15);
}

TEST(GroupedConvolution, TakesNoLessThanItsArithmetic) {
    // Groups of many channels: 2 · 64 · 28 · 28 · 1024 · 512 · 9 FLOP.
    const PreparedOperation wide =
        call("aten::conv2d(input=bf16[64,1024,28,28], weight=bf16[1024,512,3,3], padding=[1,1], groups=2)");
    EXPECT_GT(grouped_forward_s(wide, h200()), 2.0 * 64 * 28 * 28 * 1024 * 512 * 9 / h200().peak_flop_per_s_bf16);
}

TEST(GroupedConvolution, TurnsImagesWhoseChannelsDoNotLieLast) {
    const std::string weight = "bf16[256,8,3,3]";
    const double turned = grouped_forward_s(call(square("bf16[64,256,28,28]", weight)), h200());
    const double plain = grouped_forward_s(call(square("bf16[64,256,28,28]{cl}", weight)), h200());
    const double bytes = 2 * 2.0 * 64 * 256 * 28 * 28;  // input and result
    EXPECT_NEAR(turned - plain, 2 * bytes / streamed_bytes_per_s(h200()) + 2 * h200().kernel_latency_s, 1e-6);
}

// RegNetX-4.0GF, whose groups have 40 channels, takes 1.24 times what was told without (timm, RTX 4090 and 3090).
TEST(GroupedConvolution, MultipliesWholeTilesOfChannels) {
    const Device card = find_device("rtx4090");
    const auto seconds = [&](std::int64_t of_group) {  // of the product alone
        const std::string channels = std::to_string(14 * of_group);
        const PreparedOperation convolution =
            call("aten::conv2d(input=f16[1024," + channels + ",14,14], weight=f16[" + channels + "," +
                     std::to_string(of_group) + ",3,3], padding=[1,1], groups=14)",
                 card);
        const Counts& counts = convolution.dimensions.forward;
        const double bytes = static_cast<double>(counts.bytes_read + counts.bytes_written);
        return grouped_forward_s(convolution, card) - 2 * bytes / streamed_bytes_per_s(card);
    };
    EXPECT_NEAR(seconds(40), seconds(64), 0.01 * seconds(64));
    EXPECT_NEAR(seconds(48), seconds(64), 0.01 * seconds(64));
    EXPECT_GT(seconds(65), 2 * seconds(64));
    EXPECT_LT(seconds(32), 0.6 * seconds(40));
}

// DLA-46x-c, half of whose time they are, takes 1.4 times what was told without, on both cards (timm).
TEST(GroupedConvolution, HasNoKernelForGroupsOfTwoWhereChannelsLieLast) {
    const auto seconds = [](const std::string& images, const std::string& weight) {
        return grouped_forward_s(call(square(images, weight)), h200()) - 2 * h200().kernel_latency_s;
    };
    const double pairs = seconds("f16[256,64,56,56]{cl}", "f16[64,2,3,3]");
    EXPECT_NEAR(pairs / seconds("f16[256,128,56,56]{cl}", "f16[128,4,3,3]"), 3.5 / 2, 0.02);
    EXPECT_LT(seconds("f16[256,64,56,56]", "f16[64,2,3,3]"), pairs);
}

TEST(GroupedConvolution, HasNoKernelForOddGroupsWhereChannelsLieLast) {
    const Device card = find_device("rtx4090");
    const PreparedOperation odd =
        call("aten::conv2d(input=f16[512,1344,14,14]{cl}, weight=f16[1344,56,3,3], padding=[1,1], groups=24)", card);
    EXPECT_NEAR(grouped_forward_s(odd, card) - 2 * card.kernel_latency_s, 1.6 * channels_last_convolution_s(odd, card),
                1e-6);
}

TEST(GroupedConvolution, TakesTwoPassesForTheGradientOfItsWeight) {
    const auto passes = [](const std::string& of_input, const std::string& of_weight) {
        const PreparedOperation convolution =
            call(square("f16[64,256,28,28]" + of_input, "f16[256,8,3,3]" + of_weight));
        return grouped_backward_s(convolution, h200()) / grouped_forward_s(convolution, h200());
    };
    EXPECT_DOUBLE_EQ(passes("~", "~"), 3);
    EXPECT_DOUBLE_EQ(passes("", "~"), 2);
    EXPECT_DOUBLE_EQ(passes("~", ""), 1);
}

}  // namespace
}  // namespace joulecast
