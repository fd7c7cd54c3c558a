#include "joulecast/forecast/kernel_bounds.h"

#include <gtest/gtest.h>

#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"

namespace joulecast {
namespace {

double least(const std::string& call, const std::string& device) {
    const Device sheet = find_device(device);
    return least_call_s(prepare(parse_operation(call), sheet, Math::ieee), sheet);
}

std::string product(int columns, const std::string& type = "bf16") {
    return "aten::mm(self=" + type + "[4096,768], mat2=" + type + "[768," + std::to_string(columns) + "])";
}

TEST(KernelBounds, OddRowsKeepHopperFromItsCopyEngine) {
    // GPT-2's last layer for 32 x 128 tokens took an H200 3.42 ms.
    EXPECT_NEAR(least(product(50257), "h200"), 3.42e-3, 0.3e-3);
    EXPECT_LT(least(product(50304), "h200"), 0.5e-3);
    EXPECT_LT(least(product(50257, "f32"), "h200"), 10e-3);
    EXPECT_NEAR(least(product(50257), "a100-80g-sxm"), least(product(50256), "a100-80g-sxm"), 1e-6);
}

TEST(KernelBounds, NoProductPassesItsPeakAndNoStreamTheBandwidth) {
    const Device h200 = find_device("h200");
    const double flop = 2.0 * 4096 * 768 * 50304;
    EXPECT_GE(least(product(50304), "h200"), flop / h200.peak_flop_per_s_bf16);
    const double bytes = 3 * 2.0 * 268435456;
    const std::string stream = "aten::add.Tensor(self=bf16[268435456], other=bf16[268435456])";
    EXPECT_LE(least(stream, "h200"), bytes / h200.bandwidth_bytes_per_s);
    EXPECT_GT(least(stream, "h200"), 0.9 * bytes / h200.bandwidth_bytes_per_s);
}

TEST(KernelBounds, EagerKernelsOfTheForwardPassBoundBothPasses) {
    const std::string broadcast = "aten::add.Tensor(self=bf16[128,197,768], other=bf16[1,197,768])";
    EXPECT_NEAR(least(broadcast, "h200"), 48e-6, 4e-6);  // 49.4 us
    const std::string training = "aten::add.Tensor(self=bf16[128,197,768]~, other=bf16[1,197,768]~)";
    EXPECT_GE(least(training, "h200"), least(broadcast, "h200"));
}

}  // namespace
}  // namespace joulecast
