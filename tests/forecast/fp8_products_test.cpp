#include "joulecast/forecast/fp8_products.h"

#include <gtest/gtest.h>

#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/graph/operation.h"
#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

TEST(Fp8Products, HaveATwinOfTheSameSizes) {
    const auto twin = in_16_bits(
        parse_operation("aten::_scaled_mm(self=f8e4m3fn[1024,2048], mat2=f8e4m3fn[2048,512]{1,2048}, scale_a=f32[], "
                        "scale_b=f32[], out_dtype=bf16)"));
    ASSERT_TRUE(twin);
    EXPECT_EQ(signature(*twin), "aten::linear(input=bf16[1024,2048], weight=bf16[512,2048])");
    EXPECT_FALSE(in_16_bits(parse_operation("aten::mm(self=bf16[64,64], mat2=bf16[64,64])")));
}

TEST(Fp8Products, TakeTheRatioOfThePeaksBeyondTheirStart) {
    const Device h200 = find_device("h200");  // twice the rate
    const double start = h200.kernel_latency_s;
    EXPECT_NEAR(fp8_product_s(start + 100e-6, h200), start + 55e-6, 0.1e-6);
    EXPECT_EQ(fp8_product_s(0.5 * start, h200), 0.5 * start);
    // An A100 has no such units, and its sheet no such peak.
    const Device a100 = find_device("a100-40g-pcie");
    EXPECT_EQ(fp8_product_s(1e-4, a100), 1e-4);
}

}  // namespace
}  // namespace joulecast
