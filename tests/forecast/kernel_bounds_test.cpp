#include "joulecast/forecast/kernel_bounds.h"

#include <gtest/gtest.h>

#include <cmath>
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

TEST(KernelBounds, OddRowsAreLoadedByTheElement) {
    // GPT-2's last layer for 32 x 128 tokens took an H200 3.42 ms.
    EXPECT_NEAR(least(product(50257), "h200"), 3.42e-3, 0.3e-3);
    EXPECT_LT(least(product(50304), "h200"), 0.5e-3);
    EXPECT_LT(least(product(50257, "f32"), "h200"), 10e-3);
    // By units and clock, not by the peak: two thirds of it on an RTX 4090, which was measured, a fifth on an A100.
    const std::string square = "aten::mm(self=bf16[2071,2071], mat2=bf16[2071,2071])";
    EXPECT_NEAR(2 * std::pow(2071, 3) / least(square, "rtx4090"), 111e12, 15e12);
    EXPECT_NEAR(least(product(50257), "a100-80g-sxm") / least(product(50256), "a100-80g-sxm"), 4.3, 0.3);
    EXPECT_NEAR(least(product(50257), "mi300x"), least(product(50256), "mi300x"), 1e-6) << "another maker's kernels";
}

TEST(KernelBounds, AFewOddRowsTakeAWholeTile) {
    // GPT-2's last layer for 8 tokens took an H200 107.8 us; the weight's bytes would take 16.
    EXPECT_NEAR(least("aten::mm(self=bf16[8,768], mat2=bf16[768,50257])", "h200"), 107.8e-6, 11e-6);
    EXPECT_LT(least("aten::mm(self=bf16[8,768], mat2=bf16[768,50304])", "h200"), 20e-6);
    EXPECT_LT(least("aten::mm(self=bf16[1,768], mat2=bf16[768,50257])", "h200"), 20e-6)
        << "a vector has kernels of its own";
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

// An RTX 3090 was told to read the weights of Llama-3.1-8B at 963 GB/s; its sheet has 936.
TEST(KernelBounds, WeightsThatNoCacheHoldsComeFromMemory) {
    const std::string call = "aten::linear(input=bf16[1,1,4096], weight=bf16[14336,4096])";
    const double bytes = 2.0 * 14336 * 4096;
    for (const char* card : {"rtx3090", "rtx4090", "h200"})
        EXPECT_GE(least(call, card), bytes / (0.94 * find_device(card).bandwidth_bytes_per_s)) << card;
    const std::string small = "aten::linear(input=bf16[1,1,1024], weight=bf16[1024,1024])";
    EXPECT_LT(least(small, "l40s"), 2.0 * 1024 * 1024 / find_device("l40s").bandwidth_bytes_per_s) << "fits its cache";
}

TEST(KernelBounds, EagerKernelsOfTheForwardPassBoundBothPasses) {
    const std::string broadcast = "aten::add.Tensor(self=bf16[128,197,768], other=bf16[1,197,768])";
    EXPECT_NEAR(least(broadcast, "h200"), 48e-6, 4e-6);  // 49.4 us
    const std::string training = "aten::add.Tensor(self=bf16[128,197,768]~, other=bf16[1,197,768]~)";
    EXPECT_GE(least(training, "h200"), least(broadcast, "h200"));
}

}  // namespace
}  // namespace joulecast
