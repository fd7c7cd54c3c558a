#include "joulecast/forecast/product_copies.h"

#include <gtest/gtest.h>

#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

const Device& h200() {
    static const Device device = find_device("h200");
    return device;
}

Operation linear(const std::string& input, const std::string& bias = ", bias=bf16[2304]") {
    return parse_operation("aten::linear(input=" + input + ", weight=bf16[2304,768]" + bias + ")");
}

Operation matmul(const std::string& self, const std::string& other) {
    return parse_operation("aten::matmul(self=" + self + ", other=" + other + ")");
}

/// Beyond the latencies of its kernels.
double copying_s_of(const Operation& product, const Device& device = h200()) {
    return copying_s(prepare(product, device, Math::ieee), device) - copying_kernels(product) * device.kernel_latency_s;
}

TEST(ProductCopies, AreMadeOfALinearLayersInputThatIsNoMatrixAsItLies) {
    EXPECT_EQ(copying_kernels(linear("bf16[197,32,768]{768,151296,1}")), 2);
    EXPECT_EQ(copying_kernels(linear("bf16[197,32,768]{768,151296,1}", "")), 1);
    EXPECT_EQ(copying_kernels(linear("bf16[197,32,768]")), 0);
    EXPECT_EQ(copying_kernels(linear("bf16[32,768]{151296,1}")), 0);
    EXPECT_EQ(copying_kernels(linear("bf16[4,197,768]{302592,1536,1}")), 0);  // every other row of a matrix
    EXPECT_EQ(copying_kernels(linear("bf16[2,4,197,768]{151296,302592,768,1}")), 2);
    EXPECT_EQ(copying_kernels(parse_operation("aten::relu(self=bf16[197,32,768]{768,151296,1})")), 0);
}

// 32 sequences of 197 tokens and 16 heads of 64, as a projection leaves them.
TEST(ProductCopies, AreMadeOfHeadsThatLieBetweenTokens) {
    const std::string heads = "bf16[32,16,197,64]{201728,64,1024,1}";
    const std::string turned = "bf16[32,16,64,197]{201728,64,1,1024}";
    EXPECT_EQ(copying_kernels(matmul(heads, turned)), 2);
    EXPECT_EQ(copying_kernels(matmul("bf16[32,16,197,197]", heads)), 1);
    EXPECT_EQ(copying_kernels(matmul("bf16[32,16,197,64]", "bf16[32,16,64,197]")), 0);
    // Turned within its matrices alone: the product reads those.
    EXPECT_EQ(copying_kernels(matmul("bf16[32,16,197,64]", "bf16[32,16,64,197]{201728,12608,1,64}")), 0);
    // One sequence, one dimension of heads: a batch as it lies.
    EXPECT_EQ(copying_kernels(matmul("bf16[1,16,197,64]{201728,64,1024,1}", turned)), 2);
    EXPECT_EQ(copying_kernels(matmul("bf16[1,16,197,64]{201728,64,1024,1}", "bf16[1,16,64,197]{201728,64,1,1024}")), 0);
    EXPECT_EQ(copying_kernels(matmul("bf16[16,197,64]{64,1024,1}", "bf16[16,64,197]{64,1,1024}")), 0);
    EXPECT_EQ(copying_kernels(matmul("bf16[32,16,197,64]{201728,64,1024,1}", "bf16[64,64]")), 0);
}

// MixNet's parts of 168 of 336 channels (timm, RTX 3090 and 4090: 0.85 of what it takes was told without).
TEST(ProductCopies, AreMadeOfImagesThatDoNotLieWhole) {
    const auto depthwise = [](const std::string& input) {
        return parse_operation("aten::conv2d(input=" + input + ", weight=f16[168,1,5,5], padding=[2,2], groups=168)");
    };
    const Operation part = depthwise("f16[1024,168,28,28]{263424,784,28,1}");
    EXPECT_EQ(copying_kernels(part), 1);
    EXPECT_EQ(copying_kernels(depthwise("f16[1024,168,28,28]")), 0);
    EXPECT_EQ(copying_kernels(depthwise("f16[1024,168,28,28]{cl}")), 0);
    const double bytes = 2.0 * 1024 * 168 * 28 * 28;
    const Device rtx4090 = find_device("rtx4090");
    EXPECT_NEAR(copying_s_of(part, rtx4090), 2 * bytes / streamed_bytes_per_s(rtx4090), 1e-6);
    // One copy, and the two that cuDNN turns where it computes.
    const auto held = [](const Operation& convolution) {
        return image_copies_bytes(prepare(convolution, h200(), Math::ieee), h200());
    };
    EXPECT_EQ(held(part) - held(depthwise("f16[1024,168,28,28]")), bytes);
    const std::string weight = ", weight=f16[32,32,3,3], padding=[1,1])";
    const Operation third = parse_operation("aten::conv2d(input=f16[8,32,28,28]{75264,784,28,1}" + weight);
    EXPECT_EQ(held(third) - held(parse_operation("aten::conv2d(input=f16[8,32,28,28]" + weight)),
              2.0 * 8 * 32 * 28 * 28);
}

TEST(ProductCopies, AreWhatTheProductThenReads) {
    const std::string heads = "bf16[32,16,197,64]{201728,64,1024,1}";
    const auto multiplied = as_multiplied(matmul("bf16[32,16,197,197]", heads));
    ASSERT_TRUE(multiplied);
    EXPECT_EQ(signature(*multiplied), signature(matmul("bf16[32,16,197,197]", "bf16[32,16,197,64]")));
    EXPECT_FALSE(as_multiplied(matmul("bf16[32,16,197,64]", "bf16[32,16,64,197]{201728,12608,1,64}")))
        << "reads the turned matrices as they lie";
}

// Keys of one head for all: read for each.
TEST(ProductCopies, RepeatWhatIsGivenOnce) {
    const Operation shared = matmul("bf16[32,16,197,64]", "bf16[32,1,64,197]");
    EXPECT_EQ(copying_kernels(shared), 1);
    EXPECT_EQ(copied_bytes(shared), 2.0 * 32 * 16 * 64 * 197);
    EXPECT_EQ(copied_bytes(matmul("bf16[32,16,197,64]", "bf16[1,1,64,197]")), 0);  // one stride of 0
}

// The copy of what already lies as the product reads it was looked for again and again, until the stack was full.
TEST(ProductCopies, OfWhatIsOnlyRepeatedChangeNoLayout) {
    EXPECT_FALSE(as_multiplied(matmul("bf16[32,16,197,64]", "bf16[32,1,64,197]")));
    const auto multiplied = as_multiplied(matmul("bf16[32,16,197,64]{201728,64,1024,1}", "bf16[32,1,64,197]"));
    ASSERT_TRUE(multiplied);
    EXPECT_EQ(signature(*multiplied), signature(matmul("bf16[32,16,197,64]", "bf16[32,1,64,197]")));
    EXPECT_FALSE(as_multiplied(*multiplied));
}

TEST(ProductCopies, TakeTheCyclesOfCopies) {
    const double cycles_s = 0.65 / cycles_per_s(h200()), across_s = 1.75 / cycles_per_s(h200());
    const double input = 197.0 * 32 * 768, result = 197.0 * 32 * 2304;
    EXPECT_NEAR(copying_s_of(linear("bf16[197,32,768]{768,151296,1}")), cycles_s * (input + result), 1e-9);
    EXPECT_NEAR(copying_s_of(linear("bf16[197,32,768]{768,151296,1}", "")), cycles_s * input, 1e-9);
    EXPECT_EQ(copying_s_of(linear("bf16[197,32,768]")), 0);
    const double heads = 32.0 * 16 * 197 * 64;
    const Operation scores = matmul("bf16[32,16,197,64]{201728,64,1024,1}", "bf16[32,16,64,197]{201728,64,1,1024}");
    EXPECT_NEAR(copying_s_of(scores), (cycles_s + across_s) * heads, 1e-9);
    EXPECT_EQ(copied_bytes(scores), 2 * 2 * heads);
    EXPECT_EQ(copied_bytes(linear("bf16[197,32,768]{768,151296,1}")), 2 * input);
}

TEST(ProductCopies, TakeNoLessThanTheirBytes) {
    const Operation product = linear("bf16[197,32,768]{768,151296,1}", "");
    for (const char* id : {"mi210", "a10"}) {  // cycles of AMD's kernels are not known; an A10's memory is slow
        const Device device = find_device(id);
        EXPECT_NEAR(copying_s_of(product, device), 2 * 2 * 197.0 * 32 * 768 / streamed_bytes_per_s(device), 1e-9) << id;
    }
}

TEST(ProductCopies, HaveTheHostLaunchThemToo) {
    const auto of = [](const Operation& product) { return launches(prepare(product, h200(), Math::ieee), h200()); };
    EXPECT_EQ(of(linear("bf16[197,32,768]{768,151296,1}")), 2);
    EXPECT_EQ(of(linear("bf16[197,32,768]")), 1);
}

}  // namespace
}  // namespace joulecast
