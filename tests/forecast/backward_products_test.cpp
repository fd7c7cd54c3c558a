#include "joulecast/forecast/backward_products.h"

#include <gtest/gtest.h>

#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"
#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

const Device& h200() {
    static const Device device = find_device("h200");
    return device;
}

PreparedOperation call(const std::string& text, Math math = Math::ieee, const Device& device = h200()) {
    return prepare(parse_operation(text), device, math);
}

constexpr const char* of_float32 = "aten::linear(input=f32[32,128,768]~, weight=f32[3072,768]~, bias=f32[3072]~)";
constexpr const char* of_bf16 = "aten::linear(input=bf16[32,128,768]~, weight=bf16[3072,768]~, bias=bf16[3072]~)";

// Backward passes of three layers took an H200 2.75 to 3.7 times the forward one, of which two are arithmetic.
TEST(SlowdownAcrossDepth, IsThatOfTf32OnHopper) {
    EXPECT_DOUBLE_EQ(slowdown_across_depth(call(of_float32, Math::tf32), h200()), 1.4);
    EXPECT_DOUBLE_EQ(slowdown_across_depth(call(of_float32, Math::ieee), h200()), 1);
    EXPECT_DOUBLE_EQ(slowdown_across_depth(call(of_bf16, Math::tf32), h200()), 1);
    const Device a100 = find_device("a100-80g-sxm");
    EXPECT_DOUBLE_EQ(slowdown_across_depth(call(of_float32, Math::tf32, a100), a100), 1);
    const std::string convolution = "aten::conv2d(input=f32[8,64,56,56]~, weight=f32[64,64,3,3]~, padding=[1,1])";
    EXPECT_DOUBLE_EQ(slowdown_across_depth(call(convolution, Math::tf32), h200()), 1);
}

TEST(BiasGradient, ReadsTheGradientOfTheResultOnce) {
    const double bytes = 2.0 * 32 * 128 * 3072;
    EXPECT_DOUBLE_EQ(bias_gradient_s(call(of_bf16), h200()),
                     bytes / streamed_bytes_per_s(h200()) + 2 * h200().kernel_latency_s);
    // None without a bias, without its gradient, and where a bias belongs to no product.
    EXPECT_EQ(bias_gradient_s(call("aten::linear(input=bf16[32,768]~, weight=bf16[3072,768]~)"), h200()), 0);
    EXPECT_EQ(
        bias_gradient_s(call("aten::linear(input=bf16[32,768]~, weight=bf16[3072,768]~, bias=bf16[3072])"), h200()), 0);
    EXPECT_EQ(bias_gradient_s(call("aten::layer_norm(input=f32[64,256]~, normalized_shape=[256], weight=f32[256]~, "
                                   "bias=f32[256]~)"),
                              h200()),
              0);
}

}  // namespace
}  // namespace joulecast
