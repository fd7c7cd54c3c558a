#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph/record.h"
#include "joulecast/graph/strides.h"

/// What the tables in ops_<family>.cpp are built from: access to arguments, shape rules, and costs that many share.
/// All throw FormatError, naming the operation, when the arguments cannot be right. No arithmetic overflows: tensors
/// have at most 2^50 elements here (checked on access and in make()), products at most 2^60 (checked()).
namespace joulecast::records {

using Types = std::vector<TensorType>;
using Indices = std::vector<std::int32_t>;

[[noreturn]] void refuse(const Operation& operation, const std::string& why);

// --- arguments
const TensorType& tensor(const Operation& operation, std::string_view name);
/// nullptr when left out or none.
const TensorType* optional_tensor(const Operation& operation, std::string_view name);
/// The tensors of a list argument, holes skipped.
std::vector<const TensorType*> tensor_list(const Operation& operation, std::string_view name);
inline std::int64_t integer(const Operation& operation, std::string_view name) {
    return argument_or_default<std::int64_t>(operation, name);
}
inline bool flag(const Operation& operation, std::string_view name) {
    return argument_or_default<bool>(operation, name);
}
/// Integer lists; a single integer counts as a list of one. Absent when none.
std::optional<Sizes> optional_integers(const Operation& operation, std::string_view name);
Sizes integers(const Operation& operation, std::string_view name);
/// integers(), repeated to `length` where one stands for all dimensions.
Sizes spread(const Operation& operation, std::string_view name, std::size_t length);
std::optional<std::int64_t> optional_integer(const Operation& operation, std::string_view name);
std::optional<Dtype> optional_dtype(const Operation& operation, std::string_view name);
/// The target's schema has an argument of that name, given or not.
bool has_parameter(const Operation& operation, std::string_view name);
/// The argument `dtype`, or `otherwise` where it is left out, none, or no parameter.
Dtype dtype_or(const Operation& operation, Dtype otherwise);
/// A loss that is summed or averaged: the argument `reduction`, 0 none, 1 mean, 2 sum (at::Reduction).
bool is_reduced_loss(const Operation& operation);
/// First tensor of the operation, whatever its name.
const TensorType& first(const Operation& operation);

// --- shapes
inline std::size_t rank(const TensorType& type) {
    return type.sizes.size();
}
/// Position of a dimension that may be negative; `extra` for operations that add one.
std::size_t dimension(const Operation& operation, std::int64_t dim, std::size_t rank, std::size_t extra = 0);
std::size_t dimension_argument(const Operation& operation, const TensorType& type, std::string_view name = "dim");
Sizes broadcast(const Operation& operation, const Sizes& a, const Sizes& b);
std::int64_t product(const Operation& operation, const Sizes& sizes);
/// a times b.
std::int64_t checked(const Operation& operation, std::int64_t a, std::int64_t b);
/// a plus b; throws FormatError.
std::int64_t added(std::int64_t a, std::int64_t b);
/// A contiguous type; throws FormatError for a negative size and more than 2^50 elements. strides.h has other orders.
TensorType make(Dtype dtype, Sizes sizes);
/// Channels last where wanted and possible, else contiguous; errors as above.
TensorType formatted(Dtype dtype, Sizes sizes, bool wants_channels_last);
/// The same memory under other sizes; refuses what torch's view() refuses.
TensorType viewed(const Operation& operation, const TensorType& self, Sizes sizes);
/// What the argument memory_format makes of the first tensor: none and preserve_format keep its order.
TensorType in_memory_format(const Operation& operation, Dtype dtype);
/// What TensorIterator gives the operation's tensors, all of them broadcast.
TensorType iterated(const Operation& operation, Dtype dtype, const Sizes& sizes);
/// Torch's type promotion of all tensors and scalars in the arguments `names`.
Dtype promoted(const Operation& operation, std::initializer_list<std::string_view> names);
/// floating for floats, otherwise f32: sqrt of integers.
inline Dtype to_floating(Dtype dtype) {
    return is_floating(dtype) ? dtype : Dtype::f32;
}
/// Accumulators of integer sums are i64.
inline Dtype to_accumulator(Dtype dtype) {
    return is_floating(dtype) ? dtype : Dtype::i64;
}

/// Output rules that many records use; new memory in the order of the first tensor, without its gaps.
Types same_as_first(const Operation& operation);
Types floating_as_first(const Operation& operation);
Types boolean_as_first(const Operation& operation);
/// A dense tensor's copy keeps its order, others become contiguous: scatter, index_add, bernoulli.
Types same_if_dense(const Operation& operation);
/// The same memory; what comes out is not marked by an operation.
TensorType unmarked(TensorType type);
/// In place and for aliases: the first tensor itself, strides included.
Types first_itself(const Operation& operation);
Types no_outputs(const Operation& operation);

// --- costs
std::int64_t elements(const Types& outputs);
std::int64_t bytes(const Types& outputs);
/// All tensors of the operation, each once.
std::int64_t input_bytes(const Operation& operation);
/// The gradients written: all tensors that require one.
std::int64_t gradient_bytes(const Operation& operation);
inline std::int64_t gradient_bytes(const TensorType* type) {
    return type != nullptr && type->requires_grad ? byte_count(*type) : 0;
}

Counts free_of_charge(const Operation& operation);

/// Reads all tensors, writes the outputs, `per_element` elementary operations for each element written.
template <auto Outputs, std::int64_t per_element = 0>
Counts streamed(const Operation& operation) {
    const Types outputs = Outputs(operation);
    return {0, checked(operation, per_element, elements(outputs)), input_bytes(operation), bytes(outputs)};
}

/// The same where the arithmetic goes with the elements read: reductions.
template <auto Outputs, std::int64_t per_element = 1>
Counts reduced(const Operation& operation) {
    const Types outputs = Outputs(operation);
    return {0, checked(operation, per_element, element_count(first(operation))), input_bytes(operation),
            bytes(outputs)};
}

/// Writes only: fills and random numbers.
template <auto Outputs>
Counts written(const Operation& operation) {
    return {0, 0, 0, bytes(Outputs(operation))};
}

/// The outputs' gradient is read, the gradients of all marked tensors are written.
template <auto Outputs, std::int64_t per_element = 0>
Counts gradient_streamed(const Operation& operation) {
    const Types outputs = Outputs(operation);
    const std::int64_t written = gradient_bytes(operation);
    return {0, checked(operation, per_element, element_count(first(operation))), bytes(outputs), written};
}

/// The same, and the first tensor (or an output of its size) was kept and is read too.
template <auto Outputs, std::int64_t per_element = 1>
Counts gradient_with_saved(const Operation& operation) {
    Counts counts = gradient_streamed<Outputs, per_element>(operation);
    counts.bytes_read += byte_count(first(operation));
    return counts;
}

Indices saves_first(const Operation& operation);
Indices saves_output(const Operation& operation);

}  // namespace joulecast::records
