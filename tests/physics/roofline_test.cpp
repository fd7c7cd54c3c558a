#include "joulecast/physics/roofline.h"

#include <gtest/gtest.h>

#include "joulecast/error.h"

namespace joulecast {
namespace {

Device device() {
    Device d;
    d.id = "test";
    d.peak_flop_per_s_fp32 = 1e10;
    d.peak_flop_per_s_bf16 = 4e10;
    d.bandwidth_bytes_per_s = 1e9;
    return d;
}

TEST(Roofline, DividesArithmeticByThePeakOfItsType) {
    // 2*8*16*4 = 1024 FLOP.
    const auto linear = [](const char* text) { return roofline(parse_operation(text), device()); };
    EXPECT_DOUBLE_EQ(linear("aten::linear(input=f32[8,16], weight=f32[4,16])").flop_s, 1024 / 1e10);
    EXPECT_DOUBLE_EQ(linear("aten::linear(input=bf16[8,16], weight=bf16[4,16])").flop_s, 1024 / 4e10);
    // (8*16 + 4*16 + 8*4) floats = 896 bytes, each once.
    EXPECT_DOUBLE_EQ(linear("aten::linear(input=f32[8,16], weight=f32[4,16])").byte_s, 896 / 1e9);
}

TEST(Roofline, TakesTheRateOfTf32WhereProductsAreComputedSo) {
    Device d = device();
    d.peak_flop_per_s_tf32 = 2e10;
    const auto linear = parse_operation("aten::linear(input=f32[8,16], weight=f32[4,16])");
    EXPECT_DOUBLE_EQ(roofline(linear, d, Math::tf32).flop_s, 1024 / 2e10);
    EXPECT_DOUBLE_EQ(roofline(linear, d).flop_s, 1024 / 1e10);
}

TEST(Roofline, CountsTheBackwardPassOfTraining) {
    const auto forward = roofline(parse_operation("aten::linear(input=f32[8,16], weight=f32[4,16])"), device());
    const auto both = roofline(parse_operation("aten::linear(input=f32[8,16]~, weight=f32[4,16]~)"), device());
    EXPECT_DOUBLE_EQ(both.flop_s, 3 * forward.flop_s);  // two more products of the same size
}

TEST(Roofline, SaysWhatADataSheetLacks) {
    Device bare = device();
    bare.bandwidth_bytes_per_s = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW(roofline(Counts{}, Dtype::f32, bare), Error);
}

TEST(ComputeDtype, IsThatOfTheFirstFloatingTensor) {
    EXPECT_EQ(compute_dtype(parse_operation("aten::embedding(weight=bf16[9,4], indices=i64[3])")), Dtype::bf16);
    EXPECT_EQ(compute_dtype(parse_operation("aten::add.Tensor(self=i64[3], other=i64[3])")), Dtype::i64);
}

}  // namespace
}  // namespace joulecast
