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

TEST(Strided, LeavesOutTheStridesOfContiguousTensors) {
    EXPECT_EQ(strided(Dtype::f32, {2, 3, 4}, {12, 4, 1}), (TensorType{Dtype::f32, {2, 3, 4}}));
    // Dimensions of one element do not matter, nor does anything in a tensor without elements.
    EXPECT_EQ(strided(Dtype::f32, {1, 3, 1}, {77, 1, 5}), (TensorType{Dtype::f32, {1, 3, 1}}));
    EXPECT_EQ(strided(Dtype::f32, {0, 3}, {7, 9}), (TensorType{Dtype::f32, {0, 3}}));
    EXPECT_EQ(strided(Dtype::f32, {}, {}), (TensorType{Dtype::f32, {}}));
}

TEST(Strided, GivesTensorsThatLieAlikeTheSameStrides) {
    // The heads of one image, taken apart: 12 x 64 = 768 a token, 197 x 768 an image.
    const TensorType heads = strided(Dtype::f32, {1, 12, 197, 64}, {5, 64, 768, 1});
    EXPECT_EQ(heads.strides, (Strides{151296, 64, 768, 1}));
    EXPECT_EQ(strided(Dtype::f32, {1, 12, 197, 64}, {0, 64, 768, 1}), heads);
    EXPECT_EQ(strided(Dtype::f32, {8, 64, 1, 7}, {448, 1, 9, 64}), channels_last(Dtype::f32, {8, 64, 1, 7}));
}

TEST(Strided, RefusesStridesThatNoMemoryHas) {
    EXPECT_THROW(strided(Dtype::f32, {2, 2}, {-1, 1}), FormatError);
    EXPECT_THROW(strided(Dtype::f32, {2, 2}, {2}), FormatError);
    EXPECT_THROW(strided(Dtype::f32, {2, 2}, {std::int64_t{1} << 50, 1}), FormatError);
    EXPECT_THROW(strided(Dtype::f32, {3, 2}, {std::int64_t{1} << 62, 1}), FormatError);
    EXPECT_THROW(strided(Dtype::f32, {std::int64_t{1} << 40, 2}, {std::int64_t{1} << 40, 1}), FormatError);
    EXPECT_NO_THROW(strided(Dtype::f32, {2, 2}, {(std::int64_t{1} << 50) - 2, 1}));
    EXPECT_THROW(channels_last(Dtype::f32, {2, 2, 2}), FormatError);
}

TEST(Layout, NamesHowElementsLie) {
    EXPECT_EQ(layout({Dtype::f32, {2, 3}}), Layout::contiguous);
    EXPECT_EQ(layout(channels_last(Dtype::f32, {2, 3, 4, 5})), Layout::channels_last);
    EXPECT_EQ(layout(channels_last(Dtype::f32, {2, 3, 4, 5, 6})), Layout::channels_last);
    EXPECT_EQ(layout(channels_last(Dtype::f32, {2, 1, 4, 5})), Layout::contiguous);
    EXPECT_EQ(layout(strided(Dtype::f32, {2, 3}, {1, 2})), Layout::permuted);
    EXPECT_EQ(layout(strided(Dtype::f32, {2, 3}, {4, 1})), Layout::gapped);
    EXPECT_EQ(layout(strided(Dtype::f32, {3, 3}, {1, 1})), Layout::gapped);  // windows that overlap
    EXPECT_EQ(layout(strided(Dtype::f32, {2, 3}, {0, 1})), Layout::expanded);
    EXPECT_TRUE(is_dense(strided(Dtype::f32, {2, 3, 4}, {1, 8, 2})));
    EXPECT_FALSE(is_dense(strided(Dtype::f32, {2, 3, 4}, {1, 9, 2})));
}

TEST(DistinctBytes, CountMemoryOnceAndLeaveOutGaps) {
    EXPECT_EQ(distinct_bytes({Dtype::f32, {2, 3}}), 24);
    const TensorType expanded = strided(Dtype::f32, {8, 3}, {0, 1});
    EXPECT_EQ(distinct_bytes(expanded), 12);
    EXPECT_EQ(span(expanded), 3);
    const TensorType gapped = strided(Dtype::f32, {2, 3}, {10, 1});
    EXPECT_EQ(distinct_bytes(gapped), 24);
    EXPECT_EQ(span(gapped), 13);  // 10 + 2 + 1
    // Windows of three over eight elements touch eight.
    EXPECT_EQ(distinct_count(strided(Dtype::f32, {6, 3}, {1, 1})), 8);
    EXPECT_EQ(distinct_bytes({Dtype::f32, {0, 3}}), 0);
}

}  // namespace
}  // namespace joulecast
