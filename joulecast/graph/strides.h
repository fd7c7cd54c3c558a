#pragma once

#include <optional>
#include <span>
#include <vector>

#include "joulecast/graph/tensor_type.h"

/// How torch chooses the strides of what it returns: the rules that many records share. They take types whose sizes
/// have at most 2^50 elements, zeros left out, as records check on access.
namespace joulecast::records {

/// The same memory under other sizes of as many elements: at::detail::computeStride. Absent where torch would have to
/// copy.
std::optional<TensorType> view_of(const TensorType& self, Sizes sizes);
/// What reshape() returns: the view, or a contiguous copy.
TensorType reshape_of(const TensorType& self, Sizes sizes);
/// The dimensions in another order: dimension i of the result is dimension from[i].
TensorType permuted(const TensorType& self, const std::vector<std::size_t>& from);

/// What a new tensor of torch's TensorIterator gets (element-wise operations): the order of the operands' dimensions in
/// memory, the first one that tells deciding. `sizes` is the broadcast of the operands'.
TensorType iterated(Dtype dtype, const Sizes& sizes, std::span<const TensorType* const> operands);
/// memory_format=preserve_format (clone, empty_like, to): dense strides are kept, others squeezed together.
TensorType like(const TensorType& self, Dtype dtype);
inline TensorType like(const TensorType& self) {
    return like(self, self.dtype);
}

/// Tensor::suggest_memory_format: what cat, convolutions and pooling go by. True for any tensor of 4 or 5 dimensions
/// whose strides, gaps or not, fall in the order batch, space, channels. Tensors that could be either (one channel, or
/// one pixel) count as contiguous.
bool suggests_channels_last(const TensorType& type);

}  // namespace joulecast::records
