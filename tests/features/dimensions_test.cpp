#include "joulecast/features/dimensions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

Dimensions of(const char* text) {
    return dimensions(parse_operation(text));
}

TEST(Dimensions, SeeAConvolutionAsAMatrixProduct) {
    const auto d =
        of("aten::conv2d(input=f32[2,8,10,10], weight=f32[16,4,3,3], stride=[2,2], padding=[1,1], groups=2)");
    EXPECT_EQ(d.n, 2);
    EXPECT_EQ(d.c, 8);
    EXPECT_EQ(d.k, 16);
    EXPECT_EQ(d.oh, 5);  // (10 + 2*1 - 3) / 2 + 1
    EXPECT_EQ(d.stride, 2);
    EXPECT_EQ(d.gemm_b, 2);          // one product per group
    EXPECT_EQ(d.gemm_m, 2 * 5 * 5);  // output pixels
    EXPECT_EQ(d.gemm_n, 8);          // 16 / 2 channels out
    EXPECT_EQ(d.gemm_k, 4 * 3 * 3);
    EXPECT_EQ(d.weight_bytes, 16 * 4 * 9 * 4);
    EXPECT_EQ(d.input_bytes, 2 * 8 * 100 * 4);
}

TEST(Dimensions, SeeConvolutionsOfAnyRankAsMatrixProducts) {
    struct Case {
        const char* text;
        double b, m, n, k;
    };
    for (const Case& c :
         {Case{"aten::conv1d(input=f32[2,8,50], weight=f32[16,8,3], padding=[1])", 1, 2 * 50, 16, 8 * 3},
          Case{"aten::conv1d(input=f32[8,50], weight=f32[16,8,3], padding=[1])", 1, 50, 16, 8 * 3},
          Case{"aten::conv3d(input=f32[2,8,6,10,10], weight=f32[16,4,3,3,3], groups=2)", 2, 2 * 4 * 8 * 8, 8, 4 * 27},
          // Each of 7 x 7 places spreads over a window of 4 x 3 x 3.
          Case{"aten::conv_transpose2d.input(input=f32[2,8,7,7], weight=f32[8,4,3,3])", 1, 2 * 49, 4 * 9, 8}}) {
        const auto d = of(c.text);
        EXPECT_EQ(d.gemm_b, c.b) << c.text;
        EXPECT_EQ(d.gemm_m, c.m) << c.text;
        EXPECT_EQ(d.gemm_n, c.n) << c.text;
        EXPECT_EQ(d.gemm_k, c.k) << c.text;
        EXPECT_EQ(2 * c.b * c.m * c.n * c.k, static_cast<double>(d.forward.flop)) << c.text;
    }
}

/// The arithmetic of a product is two for each multiply-add, whatever it is called.
TEST(Dimensions, ProductsAreAllOfTheFlops) {
    for (const char* text :
         {"aten::mv(self=f32[32,16], vec=f32[16])", "aten::dot(self=f32[16], tensor=f32[16])",
          "aten::matmul(self=f32[4,8,16], other=f32[16,32])", "aten::matmul(self=f32[4,8,16], other=f32[16])",
          "aten::matmul(self=f32[16], other=f32[5,16,32])", "aten::matmul(self=f32[4,8,16], other=f32[4,16,32])",
          "aten::matmul(self=f32[16], other=f32[16,3])", "aten::linear(input=f32[16], weight=f32[32,16])",
          "aten::baddbmm(self=f32[6,3,7], batch1=f32[6,3,5], batch2=f32[6,5,7])",
          "aten::addbmm(self=f32[3,7], batch1=f32[6,3,5], batch2=f32[6,5,7])"}) {
        const auto d = of(text);
        EXPECT_EQ(2 * d.gemm_b * d.gemm_m * d.gemm_n * d.gemm_k, static_cast<double>(d.forward.flop)) << text;
    }
    // All rows of all batches in one product, as torch runs it.
    EXPECT_EQ(of("aten::matmul(self=f32[4,8,16], other=f32[16,32])").gemm_m, 32);
    EXPECT_EQ(of("aten::matmul(self=f32[4,8,16], other=f32[4,16,32])").gemm_b, 4);
}

TEST(Dimensions, ReadProductsOfAllSpellings) {
    for (const char* text :
         {"aten::linear(input=f32[4,8,16], weight=f32[32,16])", "aten::mm(self=f32[32,16], mat2=f32[16,32])",
          "aten::addmm(self=f32[32], mat1=f32[32,16], mat2=f32[16,32])"}) {
        const auto d = of(text);
        EXPECT_EQ(d.gemm_m, 32) << text;
        EXPECT_EQ(d.gemm_n, 32) << text;
        EXPECT_EQ(d.gemm_k, 16) << text;
        EXPECT_EQ(d.gemm_b, 1) << text;
    }
    EXPECT_EQ(of("aten::bmm(self=f32[6,3,5], mat2=f32[6,5,7])").gemm_b, 6);
}

TEST(Dimensions, ReadAttentionAsHeadsOfProducts) {
    const auto d =
        of("aten::scaled_dot_product_attention(query=f32[2,12,7,64], key=f32[2,12,9,64], value=f32[2,12,9,64])");
    EXPECT_EQ(d.gemm_b, 24);
    EXPECT_EQ(d.gemm_m, 7);
    EXPECT_EQ(d.gemm_n, 9);
    EXPECT_EQ(d.gemm_k, 64);
}

TEST(Dimensions, TakePoolingsStrideFromItsWindow) {
    const auto d = of("aten::max_pool2d(self=f32[1,4,8,8], kernel_size=[2,2])");
    EXPECT_EQ(d.kernel_h, 2);
    EXPECT_EQ(d.stride, 2);
    EXPECT_EQ(d.reduced, 4);  // four elements become one
}

TEST(Dimensions, LeaveOutWhatAnOperationDoesNotHave) {
    const auto d = of("aten::relu(self=f32[8,16])");
    EXPECT_TRUE(std::isnan(d.groups));
    EXPECT_TRUE(std::isnan(d.gemm_k));
    EXPECT_TRUE(std::isnan(d.w));
    EXPECT_EQ(d.c, 16);
}

// Eight rows of tiles of 128: 36 of 64 are computed.
TEST(Dimensions, CausalAttentionComputesWhatIsBelowTheDiagonal) {
    const std::string heads = "bf16[2,4,1024,64]";
    const std::string plain =
        "aten::scaled_dot_product_attention(query=" + heads + ", key=" + heads + ", value=" + heads;
    const Dimensions whole = dimensions(parse_operation(plain + ")"));
    const Dimensions causal = dimensions(parse_operation(plain + ", is_causal=true)"));
    EXPECT_EQ(causal.forward.flop, whole.forward.flop * 36 / 64);
    EXPECT_EQ(causal.forward.bytes_read, whole.forward.bytes_read);
    EXPECT_EQ(forward_counts(parse_operation(plain + ", is_causal=true)")).flop, whole.forward.flop)
        << "as torch counts";
}

}  // namespace
}  // namespace joulecast
