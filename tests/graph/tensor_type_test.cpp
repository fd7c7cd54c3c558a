#include "joulecast/graph/tensor_type.h"

#include <gtest/gtest.h>

#include "joulecast/error.h"

namespace joulecast {
namespace {

TEST(Dtype, NamesReadBack) {
    for (int i = 0; i <= static_cast<int>(Dtype::f8e5m2); ++i) {
        const auto dtype = static_cast<Dtype>(i);
        EXPECT_EQ(parse_dtype(name(dtype)), dtype);
    }
    EXPECT_EQ(name(Dtype::boolean), "bool");
}

TEST(Dtype, TorchsLongNamesAreUnderstood) {
    EXPECT_EQ(parse_dtype("float32"), Dtype::f32);
    EXPECT_EQ(parse_dtype("bfloat16"), Dtype::bf16);
    EXPECT_EQ(parse_dtype("int64"), Dtype::i64);
    EXPECT_EQ(parse_dtype("quint8"), std::nullopt);
}

TEST(Dtype, HasTheSizeOfItsElement) {
    EXPECT_EQ(element_bytes(Dtype::bf16), 2);
    EXPECT_EQ(element_bytes(Dtype::boolean), 1);
    EXPECT_EQ(element_bytes(Dtype::c128), 16);  // two doubles
}

TEST(Dtype, OnlyFloatingOnesCarryGradients) {
    EXPECT_TRUE(is_floating(Dtype::bf16));
    EXPECT_TRUE(is_floating(Dtype::c64));
    EXPECT_FALSE(is_floating(Dtype::i64));
    EXPECT_FALSE(is_floating(Dtype::boolean));
}

TEST(TensorType, CountsElementsAndBytes) {
    EXPECT_EQ(element_count({Dtype::f32, {8, 3, 224, 224}}), 1204224);  // 8 * 3 * 50176
    EXPECT_EQ(byte_count({Dtype::bf16, {10, 10}}), 200);
    EXPECT_EQ(element_count({Dtype::f32, {}}), 1);
    EXPECT_EQ(element_count({Dtype::f32, {5, 0, 7}}), 0);
}

TEST(TensorType, RefusesNegativeAndOverflowingSizes) {
    EXPECT_THROW(element_count({Dtype::f32, {4, -1}}), FormatError);
    EXPECT_THROW(element_count({Dtype::f32, {std::int64_t{1} << 40, std::int64_t{1} << 40}}), FormatError);
    // 2^62 elements are still a number, their bytes are not.
    EXPECT_EQ(element_count({Dtype::u8, {std::int64_t{1} << 62}}), std::int64_t{1} << 62);
    EXPECT_THROW(byte_count({Dtype::f32, {std::int64_t{1} << 62}}), FormatError);
}

TEST(TensorType, AZeroDoesNotHideAnOverflow) {
    EXPECT_THROW(element_count({Dtype::f32, {0, std::int64_t{1} << 40, std::int64_t{1} << 40}}), FormatError);
}

}  // namespace
}  // namespace joulecast
