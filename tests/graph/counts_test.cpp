// Forward and backward counts of the records in text form; each number is derived beside it.

#include <gtest/gtest.h>

#include "joulecast/error.h"
#include "joulecast/graph/record.h"

namespace joulecast {

static void PrintTo(const Counts& counts, std::ostream* out) {
    *out << "flop " << counts.flop << ", other " << counts.other_flop << ", read " << counts.bytes_read << ", written "
         << counts.bytes_written;
}

namespace {

Counts forward(const char* text) {
    return forward_counts(parse_operation(text));
}
Counts backward(const char* text) {
    return backward_counts(parse_operation(text));
}

std::vector<std::int32_t> saved(const char* text) {
    const Operation operation = parse_operation(text);
    return find_record(operation.target)->saved(operation);
}

std::int64_t hidden(const char* text) {
    const Operation operation = parse_operation(text);
    return find_record(operation.target)->hidden_bytes(operation);
}

using Indices = std::vector<std::int32_t>;

TEST(Convolution, CountsTwoPerMultiplyAdd) {
    // 2 images, 8 of 6 channels in 2 groups, 3x5 kernel, 10x11 positions: 2 * 2 * 8 * 3 * 15 * 110 = 158400.
    const Counts counts = forward("aten::conv2d(input=f32[2,6,12,11], weight=f32[8,3,3,5], padding=[0,2], groups=2)");
    EXPECT_EQ(counts.flop, 158400);
    EXPECT_EQ(counts.other_flop, 0);
    EXPECT_EQ(counts.bytes_read, 4 * (2 * 6 * 12 * 11 + 8 * 3 * 3 * 5));
    EXPECT_EQ(counts.bytes_written, 4 * 2 * 8 * 10 * 11);
}

TEST(Convolution, CountsTheInputsPositionsWhenTransposed) {
    // torch.utils.flop_counter: 2 * batch 2 * weight 6*4*9 * input positions 25.
    EXPECT_EQ(forward("aten::conv_transpose2d.input(input=f32[2,6,5,5], weight=f32[6,4,3,3], stride=[2,2])").flop,
              2 * 2 * 216 * 25);
}

TEST(Convolution, WithoutInputGradientHasOneProductBackward) {
    // The first convolution of a network: weight and bias only. 2 * 1 * 4 * 3 * 9 * 36 = 7776.
    const char* first = "aten::conv2d(input=f32[1,3,8,8], weight=f32[4,3,3,3]~, bias=f32[4]~)";
    EXPECT_EQ(forward(first).flop, 7776);
    // Output 4*6*6: its gradient read, summed for the bias; input read, weight and bias gradient written.
    EXPECT_EQ(backward(first), (Counts{7776, 144, 4 * (144 + 192), 4 * (108 + 4)}));
    EXPECT_EQ(saved(first), (Indices{0}));
    const char* later = "aten::conv2d(input=f32[1,3,8,8]~, weight=f32[4,3,3,3]~)";
    EXPECT_EQ(backward(later), (Counts{2 * 7776, 0, 4 * (144 + 192 + 108), 4 * (192 + 108)}));
    EXPECT_EQ(saved(later), (Indices{0, 1}));
}

TEST(Convolution, WeightGradientOfGroupsIsAsMuchWorkAsForward) {
    // Depthwise: 2 * 8 * 9 * 36. torch 2.13's counter would say 8 times as much for the weight.
    const char* depthwise = "aten::conv2d(input=f32[1,8,8,8]~, weight=f32[8,1,3,3]~, groups=8)";
    EXPECT_EQ(forward(depthwise).flop, 5184);
    EXPECT_EQ(backward(depthwise).flop, 2 * 5184);
}

TEST(Matmul, CountsTwoPerMultiplyAdd) {
    // 2 * 4*8 results * 6.
    EXPECT_EQ(forward("aten::mm(self=f32[4,6], mat2=f32[6,8])"), (Counts{384, 0, 4 * (24 + 48), 4 * 32}));
    // Bias: one addition per result.
    EXPECT_EQ(forward("aten::linear(input=f32[2,2,6], weight=f32[8,6], bias=f32[8])"),
              (Counts{384, 32, 4 * (24 + 48 + 8), 4 * 32}));
    // Batches 3 and 1 broadcast: 3 * 384.
    EXPECT_EQ(forward("aten::matmul(self=f32[3,4,6], other=f32[1,6,8])").flop, 1152);
}

TEST(Matmul, HasAProductPerGradientBackward) {
    EXPECT_EQ(backward("aten::mm(self=f32[4,6]~, mat2=f32[6,8]~)"), (Counts{768, 0, 4 * (32 + 24 + 48), 4 * 72}));
    EXPECT_EQ(backward("aten::mm(self=f32[4,6]~, mat2=f32[6,8])"), (Counts{384, 0, 4 * (32 + 48), 4 * 24}));
    // The bias' gradient is the sum over 4 rows of 8: 32 additions.
    EXPECT_EQ(backward("aten::addmm(self=f32[8]~, mat1=f32[4,6], mat2=f32[6,8])"), (Counts{0, 32, 4 * 32, 4 * 8}));
    EXPECT_EQ(saved("aten::addmm(self=f32[8]~, mat1=f32[4,6], mat2=f32[6,8]~)"), (Indices{1}));
}

TEST(Matmul, OfExpertsIsOneProductOverAllRows) {
    // 16 rows of 32, each with one of 4 matrices: 2 * 16 * 32 * 64.
    EXPECT_EQ(forward("aten::_grouped_mm(self=bf16[16,32], mat2=bf16[4,32,64], offs=i32[4])").flop, 65536);
    const char* fallback = "transformers::grouped_mm_fallback(input=f32[16,32]~, weight=f32[4,32,64]~, offs=i32[4])";
    EXPECT_EQ(forward(fallback).flop, 65536);
    EXPECT_EQ(backward(fallback).flop, 2 * 65536);
}

TEST(Recurrent, CountsItsProductsOverAllStepsLayersAndDirections) {
    // 5 steps of 2: 10 positions; weights 32x4 and 32x8: 2 * 10 * 384. Without gradients for the input and the first
    // state, backward has twice that less one product of the 10 with the 32x4 and one of the first 2 with the 32x8.
    const std::string lstm =
        "aten::lstm.input(input=f32[5,2,4], hx=[f32[1,2,8],f32[1,2,8]], params=[f32[32,4]~,f32[32,8]~], "
        "has_biases=false, num_layers=1, dropout=0.0, train=true, bidirectional=false, batch_first=false)";
    EXPECT_EQ(forward(lstm.c_str()).flop, 7680);
    EXPECT_EQ(backward(lstm.c_str()).flop, 2 * 7680 - 2 * 10 * 128 - 2 * 2 * 256);
    // 4 gates, the cell and what leaves it, of 8 elements at 10 positions.
    EXPECT_EQ(hidden(lstm.c_str()), 4 * (4 + 2) * 8 * 10);
}

TEST(Einsum, IsBatchedProductsFromTheLeft) {
    // bij,bjk: 2 * 2*3*5 results * 4.
    const char* product = "aten::einsum(equation=\"bij,bjk->bik\", tensors=[f32[2,3,4]~,f32[2,4,5]])";
    EXPECT_EQ(forward(product).flop, 240);
    EXPECT_EQ(backward(product).flop, 240);
    // Without a sum it is element-wise: 3 * 4 multiplications.
    EXPECT_EQ(forward("aten::einsum(equation=\"i,j->ij\", tensors=[f32[3],f32[4]])"), (Counts{0, 12, 28, 48}));
}

TEST(Resize, ReadsItsInputAndWritesItsOutput) {
    // 4 pixels become 16 of 7 elementary operations.
    EXPECT_EQ(forward("aten::upsample_bilinear2d.vec(input=f32[1,1,2,2], output_size=[4,4], align_corners=false, "
                      "scale_factors=none)"),
              (Counts{0, 112, 16, 64}));
}

TEST(Indexing, AMaskIsCountedAsIfItTookAll) {
    // 8 floats and 8 booleans in, 8 floats out.
    EXPECT_EQ(forward("aten::masked_select(self=f32[8], mask=bool[8])"), (Counts{0, 0, 40, 32}));
    EXPECT_EQ(forward("aten::index.Tensor(self=f32[8], indices=[bool[8]])"), (Counts{0, 0, 40, 32}));
}

TEST(Attention, HasTwoProductsForwardAndFiveBackward) {
    // 2*3 heads, 10 queries, 12 keys, depth 16: 720 scores, a product is 2 * 720 * 16 = 23040.
    const char* call =
        "aten::scaled_dot_product_attention(query=f32[2,3,10,16]~, key=f32[2,3,12,16]~, value=f32[2,3,12,16]~)";
    EXPECT_EQ(forward(call).flop, 2 * 23040);
    EXPECT_EQ(backward(call).flop, 5 * 23040);
    EXPECT_EQ(forward(call).bytes_read, 4 * (960 + 1152 + 1152));
    EXPECT_EQ(forward(call).bytes_written, 4 * 960);
    // q, k, v, output and its gradient are read; three gradients written.
    EXPECT_EQ(backward(call).bytes_read, 4 * (960 + 1152 + 1152 + 960 + 960));
    EXPECT_EQ(backward(call).bytes_written, 4 * (960 + 1152 + 1152));
    EXPECT_EQ(saved(call), (Indices{0, 1, 2, 3}));
}

TEST(Elementwise, InPlaceReadsBothAndWritesSelf) {
    EXPECT_EQ(forward("aten::add_.Tensor(self=f32[10], other=f32[10])"), (Counts{0, 10, 80, 40}));
    EXPECT_EQ(forward("aten::relu_(self=f32[10])"), (Counts{0, 10, 40, 40}));
}

TEST(Elementwise, AdditionHandsItsGradientOn) {
    EXPECT_EQ(backward("aten::add.Tensor(self=f32[10]~, other=f32[10]~)"), Counts{});
    // A broadcast operand's gradient is a sum over 3 rows of 10.
    EXPECT_EQ(backward("aten::add.Tensor(self=f32[3,10]~, other=f32[10]~)"), (Counts{0, 30, 120, 40}));
}

TEST(Elementwise, ProductsReadTheOtherOperandBackward) {
    EXPECT_EQ(backward("aten::mul.Tensor(self=f32[10]~, other=f32[10]~)"), (Counts{0, 20, 120, 80}));
    EXPECT_EQ(saved("aten::mul.Tensor(self=f32[10]~, other=f32[10])"), (Indices{1}));
    EXPECT_EQ(saved("aten::mul.Tensor(self=f32[10]~, other=2.0)"), Indices{});
}

TEST(Elementwise, ReluKeepsItsOutputAndGeluItsInput) {
    EXPECT_EQ(backward("aten::relu(self=f32[10]~)"), (Counts{0, 10, 80, 40}));
    EXPECT_EQ(saved("aten::relu(self=f32[10]~)"), (Indices{1}));
    EXPECT_EQ(saved("aten::gelu(self=f32[10]~)"), (Indices{0}));
}

// Guards the memory of efficientnet and mobilenet: autograd keeps a copy of what silu_ and hardtanh_ overwrite.
TEST(Elementwise, InPlaceFunctionsOfTheirInputCopyItInTraining) {
    EXPECT_EQ(forward("aten::silu_(self=f32[10])"), (Counts{0, 50, 40, 40}));
    EXPECT_EQ(forward("aten::silu_(self=f32[10]~)"), (Counts{0, 50, 80, 80}));
    EXPECT_EQ(hidden("aten::silu_(self=f32[10]~)"), 40);
    EXPECT_EQ(hidden("aten::hardtanh_(self=f32[10]~, min_val=0.0, max_val=6.0)"), 40);
    EXPECT_EQ(saved("aten::relu_(self=f32[10]~)"), (Indices{1}));
}

TEST(Elementwise, ComparisonsWriteBytes) {
    EXPECT_EQ(forward("aten::eq.Scalar(self=f32[10], other=0)"), (Counts{0, 10, 40, 10}));
}

TEST(Elementwise, DropoutCostsInTrainingOnly) {
    EXPECT_EQ(forward("aten::dropout(input=f32[10], p=0.5, train=false)"), Counts{});
    EXPECT_EQ(forward("aten::dropout(input=f32[10], p=0.0, train=true)"), Counts{});
    // Values and a byte of mask each are written.
    const char* training = "aten::dropout(input=f32[10]~, p=0.5, train=true)";
    EXPECT_EQ(forward(training), (Counts{0, 30, 40, 50}));
    EXPECT_EQ(backward(training), (Counts{0, 20, 50, 40}));
    EXPECT_EQ(hidden(training), 10);
    // In place it multiplies by factors, feature_dropout by one for each of 12 channels.
    EXPECT_EQ(hidden("aten::dropout_(self=f32[10]~, p=0.5, train=true)"), 40);
    EXPECT_EQ(hidden("aten::feature_dropout(input=f32[2,6,8]~, p=0.5, train=true)"), 48);
}

TEST(Normalization, ReadsItsInputTwiceInTraining) {
    const std::string head =
        "aten::batch_norm(input=f32[2,4,5,5], weight=f32[4], bias=f32[4], running_mean=f32[4], "
        "running_var=f32[4], training=";
    const std::string tail = ", momentum=0.1, eps=1e-05, cudnn_enabled=false)";
    EXPECT_EQ(forward((head + "false" + tail).c_str()), (Counts{0, 800, 4 * (200 + 16), 800}));
    // Statistics double the arithmetic; running mean and variance are written.
    EXPECT_EQ(forward((head + "true" + tail).c_str()), (Counts{0, 1600, 4 * (400 + 16), 4 * (200 + 8)}));
}

TEST(Normalization, KeepsMeanAndDeviationOfEachRowOrChannel) {
    // 2 * 3 rows of 8; 2 numbers of 4 bytes each.
    EXPECT_EQ(hidden("aten::layer_norm(input=f32[2,3,8]~, normalized_shape=[8])"), 48);
    EXPECT_EQ(hidden("aten::group_norm(input=f32[2,6,5,5]~, num_groups=3)"), 48);
    EXPECT_EQ(hidden("aten::layer_norm(input=f32[2,3,8], normalized_shape=[8])"), 0);
}

TEST(Softmax, KeepsItsOutput) {
    EXPECT_EQ(forward("aten::softmax.int(self=f32[2,8], dim=-1)"), (Counts{0, 80, 64, 64}));
    EXPECT_EQ(backward("aten::softmax.int(self=f32[2,8]~, dim=-1)"), (Counts{0, 64, 128, 64}));
    EXPECT_EQ(saved("aten::softmax.int(self=f32[2,8]~, dim=-1)"), (Indices{1}));
}

TEST(Pooling, ComparesEachElementOfEachWindow) {
    // 1*2*2*2 windows of 4.
    EXPECT_EQ(forward("aten::max_pool2d(self=f32[1,2,4,4], kernel_size=[2,2])"), (Counts{0, 32, 128, 32}));
    // In training the 8 indices (i64) are written, and read backward.
    EXPECT_EQ(forward("aten::max_pool2d(self=f32[1,2,4,4]~, kernel_size=[2,2])").bytes_written, 32 + 64);
    EXPECT_EQ(backward("aten::max_pool2d(self=f32[1,2,4,4]~, kernel_size=[2,2])"), (Counts{0, 8, 32 + 64, 128}));
}

TEST(Pooling, AMeanPerChannelKeepsNothing) {
    EXPECT_EQ(saved("aten::adaptive_avg_pool2d(self=f32[1,2,4,4]~, output_size=[1,1])"), Indices{});
    EXPECT_EQ(saved("aten::adaptive_avg_pool2d(self=f32[1,2,4,4]~, output_size=[2,2])"), (Indices{0}));
}

TEST(Reduction, ReadsAllAndWritesTheRest) {
    EXPECT_EQ(forward("aten::mean.dim(self=f32[2,4,5,5], dim=[2,3])"), (Counts{0, 200, 800, 32}));
    EXPECT_EQ(backward("aten::mean.dim(self=f32[2,4,5,5]~, dim=[2,3])"), (Counts{0, 200, 32, 800}));
}

TEST(Indexing, EmbeddingReadsOnlyTheRowsItTakes) {
    // 6 rows of 4 floats and 6 indices; the table of 1000 rows is not read.
    EXPECT_EQ(forward("aten::embedding(weight=f32[1000,4], indices=i64[2,3])"), (Counts{0, 0, 96 + 48, 96}));
    // Backward fills the table's gradient with zeros, then adds 6 rows.
    EXPECT_EQ(backward("aten::embedding(weight=f32[1000,4]~, indices=i64[2,3])"),
              (Counts{0, 24, 2 * 96 + 48, 16000 + 96}));
}

// Eight rows that are one row in memory.
TEST(Copy, AnExpandedTensorIsReadOnce) {
    EXPECT_EQ(forward("aten::contiguous(self=f32[8,6]{0,1})"), (Counts{0, 0, 24, 192}));
    EXPECT_EQ(forward("aten::add.Tensor(self=f32[8,6]{0,1}, other=f32[8,6])"), (Counts{0, 48, 24 + 192, 192}));
}

TEST(Copy, CostsOnlyWhenSomethingChanges) {
    EXPECT_EQ(forward("aten::contiguous(self=f32[2,6])"), Counts{});
    EXPECT_EQ(forward("aten::contiguous(self=f32[2,6]{1,2})"), (Counts{0, 0, 48, 48}));
    EXPECT_EQ(forward("aten::to.dtype(self=f32[10], dtype=f32)"), Counts{});
    EXPECT_EQ(forward("aten::to.dtype(self=f32[10], dtype=bf16)"), (Counts{0, 0, 40, 20}));
    EXPECT_EQ(backward("aten::to.dtype(self=f32[10]~, dtype=bf16)"), (Counts{0, 0, 20, 40}));
    EXPECT_EQ(forward("aten::reshape(self=f32[2,6], shape=[12])"), Counts{});
    EXPECT_EQ(forward("aten::reshape(self=f32[2,6]{1,2}, shape=[12])"), (Counts{0, 0, 48, 48}));
    // The first two dimensions lie in one piece, and only those are joined.
    EXPECT_EQ(forward("aten::reshape(self=f32[2,4,6]{4,1,8}, shape=[8,6])"), Counts{});
    EXPECT_EQ(forward("aten::reshape(self=f32[2,4,6]{4,1,8}, shape=[2,24])"), (Counts{0, 0, 192, 192}));
    EXPECT_EQ(forward("aten::cat(tensors=[f32[2],f32[3]])"), (Counts{0, 0, 20, 20}));
}

TEST(View, IsFreeForwardAndPaysForPartsBackward) {
    EXPECT_EQ(forward("aten::select.int(self=f32[3,4], dim=0, index=0)"), Counts{});
    // The gradient of 4 elements goes into 12.
    EXPECT_EQ(backward("aten::select.int(self=f32[3,4]~, dim=0, index=0)"), (Counts{0, 0, 16, 48}));
    EXPECT_EQ(backward("aten::permute(self=f32[3,4]~, dims=[1,0])"), Counts{});
    EXPECT_EQ(backward("aten::expand(self=f32[1,4]~, size=[3,4])"), (Counts{0, 12, 48, 16}));
}

TEST(Product, KeepsTheCopyOfWhatCannotBeViewedAsMatrices) {
    const char* viewed = "aten::matmul(self=f32[2,3,4,5]~, other=f32[2,3,5,6]~)";
    EXPECT_EQ(saved(viewed), (Indices{0, 1}));
    EXPECT_EQ(hidden(viewed), 0);
    // 60 is not 3 times 5, so the two outer dimensions are not one: 120 elements are copied.
    const char* copied = "aten::matmul(self=f32[2,3,4,5]{60,5,15,1}~, other=f32[2,3,5,6]~)";
    EXPECT_EQ(saved(copied), Indices{1});
    EXPECT_EQ(hidden(copied), 480);
    // The batch that the operand is expanded by is copied too, since 1 and 4 are not one dimension then: 3 * 4 * 20.
    const char* expanded = "aten::matmul(self=f32[3,1,4,5]~, other=f32[3,4,5,6]~)";
    EXPECT_EQ(saved(expanded), Indices{1});
    EXPECT_EQ(hidden(expanded), 960);
    const char* rows = "aten::linear(input=f32[4,2,8]{8,32,1}~, weight=f32[3,8]~)";
    EXPECT_EQ(saved(rows), Indices{1});
    EXPECT_EQ(hidden(rows), 256);
}

TEST(Attention, KeepsRowSumsAndAMaskOfBooleansAsNumbers) {
    const char* call =
        "aten::scaled_dot_product_attention(query=f32[2,3,10,16]~, key=f32[2,3,12,16]~, value=f32[2,3,12,16]~, "
        "attn_mask=bool[10,12])";
    EXPECT_EQ(saved(call), (Indices{0, 1, 2, 4}));
    EXPECT_EQ(hidden(call), 4 * 2 * 3 * 10 + 4 * 10 * 12);
}

TEST(Choice, ReadsItsConditionBackwardAndAProductByANumberNothing) {
    // 40 of the output's gradient, 10 of the condition.
    EXPECT_EQ(backward("aten::where.ScalarOther(condition=bool[10], self=f32[10]~, other=0.0)"),
              (Counts{0, 10, 50, 40}));
    EXPECT_EQ(backward("aten::mul.Scalar(self=f32[10]~, other=2)"), (Counts{0, 10, 40, 40}));
}

TEST(Creation, OnlyWrites) {
    EXPECT_EQ(forward("aten::arange(end=10)"), (Counts{0, 0, 0, 80}));
    EXPECT_EQ(forward("aten::fill_.Tensor(self=f32[10], value=f32[])"), (Counts{0, 0, 4, 40}));
    EXPECT_EQ(forward("aten::empty.memory_format(size=[10])"), Counts{});
}

TEST(Symbolic, CostsNothing) {
    EXPECT_EQ(forward("aten::sym_size.int(self=f32[10], dim=0)"), Counts{});
    EXPECT_EQ(forward("operator::mul(a=3, b=4)"), Counts{});
    EXPECT_EQ(family(parse_operation("operator::mul(a=3, b=4)")), Family::symbolic);
}

TEST(Loss, MeanSquareReadsBoth) {
    EXPECT_EQ(forward("aten::mse_loss(self=f32[10], target=f32[10])"), (Counts{0, 30, 80, 4}));
}

TEST(Elementwise, QuantizingReadsFloatsAndScalesAndWritesBytes) {
    // 96 elements. Quantizing: scale, round, shift, two limits; dequantizing: shift, scale. Scale 4 bytes, zero
    // point 1.
    const Operation quantize = parse_operation(
        "quantized_decomposed::quantize_per_tensor.tensor(input=f32[2,6,8], scale=f32[], zero_point=u8[], "
        "quant_min=0, quant_max=255, dtype=u8)");
    EXPECT_EQ(forward_counts(quantize), (Counts{0, 5 * 96, 4 * 96 + 4 + 1, 96}));
    const Operation dequantize = parse_operation(
        "quantized_decomposed::dequantize_per_channel(input=i8[2,6,8], scales=f32[6], zero_points=i8[6], axis=1, "
        "quant_min=-128, quant_max=127, dtype=i8)");
    EXPECT_EQ(forward_counts(dequantize), (Counts{0, 2 * 96, 96 + 6 * 4 + 6, 4 * 96}));
}

TEST(View, UnderAnotherTypeMovesNothing) {
    EXPECT_EQ(forward_counts(parse_operation("aten::view.dtype(self=u8[2,6], dtype=i8)")), Counts{});
    const Operation odd = parse_operation("aten::view.dtype(self=f16[2,3], dtype=f32)");  // 6 bytes a row
    EXPECT_THROW(find_record(odd.target)->outputs(odd), FormatError);
}

}  // namespace
}  // namespace joulecast
