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

/// 64 images of 256 channels. "~" behind the input: it gets a gradient.
PreparedOperation norm(const std::string& training, const std::string& mark = "", const Device& device = a100()) {
    return prepare(parse_operation("aten::batch_norm(input=f16[64,256,56,56]" + mark + ", weight=f32[256]" + mark +
                                   ", bias=f32[256]" + mark +
                                   ", running_mean=f32[256], running_var=f32[256], training=" + training +
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
    const double pass_s = 2.0 * 64 * 256 * 56 * 56 / (0.78 * streamed_bytes_per_s(a100()));
    const double kernels_s = 2 * a100().kernel_latency_s;
    EXPECT_NEAR((batch_statistics_forward_s(norm("true", "~"), a100()) - kernels_s) / pass_s, 3, 0.01);
    EXPECT_NEAR((batch_statistics_backward_s(norm("true", "~"), a100()) - kernels_s) / pass_s, 5, 0.01);
}

}  // namespace
}  // namespace joulecast
