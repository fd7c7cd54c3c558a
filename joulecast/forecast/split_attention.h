#pragma once

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Attention on NVIDIA's GPUs that no fused kernel takes, since its mask, query, key or value has another last stride
/// than 1 (check_last_dim_stride_equals_1_dense in ATen/native/transformers/sdp_utils_cpp.h, torch 2.13), or its
/// operands are not of four dimensions (check_tensor_shapes there): windows in a dimension of their own, or joined to
/// the batch. A BERT that was traced by transformers has such a mask; one that runs has none.
bool runs_split_attention(const Operation& attention, const Device& device);

/// What its forward pass takes, in seconds, on a device that was never measured: the kernels that PyTorch calls one
/// after the other (_scaled_dot_product_attention_math in ATen/native/transformers/attention.cpp), of s scores and
/// operands of q, k and v elements. Each takes its bytes, streamed, or its cycles or FLOP, where those take longer:
/// - two products of float32, at 0.7 of its peak: 4 (q + k + s) and 4 (s + v + o) bytes;
/// - 16 bits alone: query, key and value to float32, result and scores back: 6 bytes and c for each of q + k + v + o +
/// s;
/// - query and key scaled: 8 bytes for each;
/// - operands copied whose heads cannot be joined to the batch: 8 bytes and c for each of q + v, and 2 for the
/// transposed key;
/// - a mask added: 9 s bytes, c s;
/// - softmax: 8 s bytes; rows without any score found and cleared: 14 s bytes, c s;
/// - dropout, in training: 9 s bytes.
///
/// c = 0.65 cycles of a unit, as of all kernels whose operands lie apart (eager_kernels.h); 2 were measured of
/// concatenations that read across. An H200 takes up to a quarter longer than this says (datasets/h200.csv,
/// tests/forecast/split_attention_test.cpp); NesT and SAM on an RTX 4090, torch 2.9, take 0.94 to 1.0 of it
/// (docs/decisions/0060).
double split_attention_forward_s(const PreparedOperation& attention, const Device& device);

/// The same under torch.compile, which makes one kernel of all between the products, and one of each operand.
double compiled_split_attention_s(const PreparedOperation& attention, const Device& device);

/// Of the eager backward pass: 0.7 of what this says of the forward one. An H200 took 0.30 ms for both passes in
/// TF32 where these say 0.24.
double split_attention_backward_s(const PreparedOperation& attention, const Device& device);

/// Bytes beside its operands and result while it runs: query, key and value in float32 where they are in 16 bits, the
/// scaled query, two tensors of scores and one of booleans. Traced BERTs on an H200: 558 MB at their peak in bf16,
/// where 226 were told without this and 554 are with it; in TF32 128 MB, where 132 are told.
double split_attention_scratch_bytes(const Operation& attention);

/// What autograd keeps of it for the backward pass (_scaled_dot_product_attention_math): query, key and value as they
/// are multiplied, in float32, and the weights; with dropout their factors and the dropped weights, too. Absent where
/// attention is not split, and in inference.
std::optional<KeptTensors> kept_by_split_attention(const Operation& attention, const Device& device);

/// How many kernels the forward pass launches; the backward pass about as many.
double split_attention_kernels(const Operation& attention);

}  // namespace joulecast
