#include "joulecast/forecast/batch_statistics.h"

#include <gtest/gtest.h>

#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"

namespace joulecast {
namespace {

const Device& a100() {
    static const Device device = find_device("a100-80g-sxm");
    return device;
}

/// 64 images of 1,024 channels. "~" behind the input: it gets a gradient.
PreparedOperation norm(const std::string& training, const std::string& mark = "", const Device& device = a100()) {
    return prepare(parse_operation("aten::batch_norm(input=f16[64,1024,14,14]" + mark + ", weight=f32[1024]" + mark +
                                   ", bias=f32[1024]" + mark +
                                   ", running_mean=f32[1024], running_var=f32[1024], training=" + training +
                                   ", momentum=0.1, eps=1e-05, cudnn_enabled=true)"),
                   device, Math::ieee);
}

TEST(BatchStatistics, AreThoseOfTrainingOnACardOfNvidia) {
    EXPECT_TRUE(runs_batch_statistics(norm("true"), a100()));
    EXPECT_FALSE(runs_batch_statistics(norm("false"), a100()));
    const Device amd = find_device("mi210");
    EXPECT_FALSE(runs_batch_statistics(norm("true", "", amd), amd));
    const PreparedOperation layer =
        prepare(parse_operation("aten::layer_norm(input=f32[64,256], normalized_shape=[256])"), a100(), Math::ieee);
    EXPECT_FALSE(runs_batch_statistics(layer, a100()));
}

TEST(BatchStatistics, ReadTheInputTwiceAndItsGradientToo) {
    const double pass_s = 2.0 * 64 * 1024 * 14 * 14 / (0.78 * streamed_bytes_per_s(a100()));
    const double kernels_s = 2 * a100().kernel_latency_s;
    EXPECT_NEAR((batch_statistics_forward_s(norm("true", "~"), a100()) - kernels_s) / pass_s, 3, 0.01);
    EXPECT_NEAR((batch_statistics_backward_s(norm("true", "~"), a100()) - kernels_s) / pass_s, 5, 0.01);
}

// What an H100 took for both passes, whose kernel takes a block of threads for each channel (datasets/h100-sxm.csv).
TEST(BatchStatistics, OfBf16TakeABlockForEachChannel) {
    const Device h100 = find_device("h100-sxm");
    const auto both_us = [&](const std::string& type, int channels, int side) {
        const std::string count = std::to_string(channels), pixels = std::to_string(side);
        const PreparedOperation call =
            prepare(parse_operation("aten::batch_norm(input=" + type + "[32," + count + "," + pixels + "," + pixels +
                                    "]~, weight=f32[" + count + "]~, bias=f32[" + count + "]~, running_mean=f32[" +
                                    count + "], running_var=f32[" + count +
                                    "], training=true, momentum=0.1, eps=1e-05, cudnn_enabled=true)"),
                    h100, Math::ieee);
        return 1e6 * (batch_statistics_forward_s(call, h100) + batch_statistics_backward_s(call, h100));
    };
    EXPECT_NEAR(both_us("bf16", 64, 56), 277, 0.1 * 277);
    EXPECT_NEAR(both_us("bf16", 128, 56), 352, 0.25 * 352);
    EXPECT_NEAR(both_us("bf16", 256, 56), 412, 0.15 * 412);
    EXPECT_NEAR(both_us("bf16", 512, 28), 152, 0.15 * 152);
    // Planes of 7 x 7 fill no block, on an H200.
    EXPECT_NEAR(both_us("bf16", 2048, 7), 90.2, 0.25 * 90.2);
    EXPECT_NEAR(both_us("bf16", 512, 7), 28.1, 0.2 * 28.1);
    // In float32 a channel takes its start.
    EXPECT_NEAR(both_us("f32", 2048, 7), 63, 0.25 * 63);
    EXPECT_NEAR(both_us("bf16", 1024, 14), 89.7, 0.3 * 89.7);
    EXPECT_LT(both_us("f16", 64, 56), 0.7 * both_us("bf16", 64, 56));  // cuDNN's
}

// Of fewer channels than units most units have none: a network of 8 to 40 channels, trained on an RTX 3090 in mixed
// precision, takes 1.5 times what streams say.
TEST(BatchStatistics, OfFewChannelsLeaveUnitsIdleInFloat16) {
    const Device card = find_device("rtx3090");
    const auto both_s = [&](const std::string& input, int channels) {
        const std::string count = std::to_string(channels);
        const PreparedOperation call =
            prepare(parse_operation("aten::batch_norm(input=" + input + ", weight=f32[" + count + "]~, bias=f32[" +
                                    count + "]~, running_mean=f32[" + count + "], running_var=f32[" + count +
                                    "], training=true, momentum=0.1, eps=1e-05, cudnn_enabled=true)"),
                    card, Math::ieee);
        return batch_statistics_forward_s(call, card) + batch_statistics_backward_s(call, card);
    };
    const double few = both_s("f16[512,8,112,112]~", 8);
    const double cycles = 0.85 * (1.1 + 3.0) * 512 * 112 * 112;
    EXPECT_NEAR(few, cycles / (1e6 * card.boost_clock_mhz), 0.05 * few);
    EXPECT_NEAR(both_s("f16[512,16,112,112]~", 16), few, 0.01 * few);  // twice the work, by twice the units
    EXPECT_NEAR(both_s("f16[512,8,112,112]{cl}~", 8), 0.6 * few, 0.01 * few);
}

}  // namespace
}  // namespace joulecast
