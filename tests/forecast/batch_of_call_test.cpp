#include "joulecast/forecast/batch_of_call.h"

#include <gtest/gtest.h>

#include <string>

namespace joulecast {
namespace {

std::string at_batch(const char* text, std::int64_t batch) {
    return signature(with_batch(parse_operation(text), batch));
}

TEST(BatchOfCall, IsTheLeadingSizeOfWhatIsNoWeight) {
    const char* linear = "aten::linear(input=f32[8,197,768], weight=f32[8,768], bias=f32[8])";
    EXPECT_EQ(batch_of(parse_operation(linear)), 8);
    EXPECT_EQ(at_batch(linear, 16), "aten::linear(input=f32[16,197,768], weight=f32[8,768], bias=f32[8])");
    const char* embedding = "aten::embedding(weight=f32[8,768], indices=i64[8,128])";
    EXPECT_EQ(batch_of(parse_operation(embedding)), 8);
    EXPECT_EQ(at_batch(embedding, 4), "aten::embedding(weight=f32[8,768], indices=i64[4,128])");
}

TEST(BatchOfCall, TakesBothFactorsOfABatchOfProductsAndTheFirstOfAPlainProduct) {
    EXPECT_EQ(at_batch("aten::bmm(self=f32[12,64,64], mat2=f32[12,64,32])", 24),
              "aten::bmm(self=f32[24,64,64], mat2=f32[24,64,32])");
    EXPECT_EQ(at_batch("aten::mm(self=f32[64,64], mat2=f32[64,32])", 128),
              "aten::mm(self=f32[128,64], mat2=f32[64,32])");
    EXPECT_EQ(at_batch("aten::matmul(self=f32[4,64], other=f32[64,4])", 8),
              "aten::matmul(self=f32[8,64], other=f32[64,4])");
}

TEST(BatchOfCall, LeavesBroadcastTensorsAndTakesAllOfAList) {
    EXPECT_EQ(at_batch("aten::add.Tensor(self=f32[32,64], other=f32[32,64])", 64),
              "aten::add.Tensor(self=f32[64,64], other=f32[64,64])");
    EXPECT_EQ(at_batch("aten::add.Tensor(self=f32[8,16,64], other=f32[1,16,64])", 16),
              "aten::add.Tensor(self=f32[16,16,64], other=f32[1,16,64])");
    EXPECT_EQ(at_batch("aten::mul.Tensor(self=f32[64], other=f32[8,64])", 16),
              "aten::mul.Tensor(self=f32[64], other=f32[16,64])");
    EXPECT_EQ(at_batch("aten::cat(tensors=[f32[8,64],f32[8,32]], dim=1)", 2),
              "aten::cat(tensors=[f32[2,64],f32[2,32]], dim=1)");
}

TEST(BatchOfCall, KeepsTheOrderInMemoryAndTheMarks) {
    EXPECT_EQ(at_batch("aten::relu(self=f32[8,64,56,56]{cl}~)", 16), "aten::relu(self=f32[16,64,56,56]{cl}~)");
    // The sequence is slower than the batch, and its step grows with it.
    EXPECT_EQ(at_batch("aten::relu(self=f32[8,12,64]{64,512,1})", 16), "aten::relu(self=f32[16,12,64]{64,1024,1})");
    // Every other row of a tensor: still so.
    EXPECT_EQ(at_batch("aten::relu(self=f32[8,4]{8,1})", 16), "aten::relu(self=f32[16,4]{8,1})");
}

TEST(BatchOfCall, IsAbsentWhereItDoesNotDecideTheWork) {
    EXPECT_EQ(batch_of(parse_operation("aten::zeros(size=[8,64])")), std::nullopt);
    EXPECT_EQ(batch_of(parse_operation("aten::index.Tensor(self=f32[8,64], indices=[i64[3]])")), std::nullopt);
    EXPECT_EQ(batch_of(parse_operation("aten::relu(self=f32[0,64])")), std::nullopt);
    EXPECT_EQ(batch_of(parse_operation("mine::unknown(self=f32[8,64])")), std::nullopt);
}

}  // namespace
}  // namespace joulecast
