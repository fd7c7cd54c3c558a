#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "joulecast/graph/integers.h"

namespace joulecast {

/// Element types that occur in graphs. The short names (f32, bf16, i64, ...) are those of the text form.
enum class Dtype { u8, i8, i16, i32, i64, f16, f32, f64, c64, c128, boolean, bf16, f8e4m3fn, f8e5m2 };

/// Text-form name ("f32"); `boolean` is "bool".
std::string_view name(Dtype dtype);
/// Inverse of name(); also accepts torch's long names ("float32", "bfloat16", "int64"). Absent when unknown.
std::optional<Dtype> parse_dtype(std::string_view text);
/// Bytes of one element.
std::int64_t element_bytes(Dtype dtype);
/// True for floating and complex types: only those carry gradients.
bool is_floating(Dtype dtype);

using Sizes = Integers;
/// One for each dimension, in elements: how far apart its neighbours lie in memory. 0 where a dimension is expanded.
using Strides = Integers;

/// What is known of a tensor before anything runs.
struct TensorType {
    Dtype dtype = Dtype::f32;
    Sizes sizes;
    /// Empty: contiguous. Else canonical, as strided() makes them, so that tensors that lie alike compare equal.
    Strides strides = {};
    /// Set by the training transform: a gradient flows to this tensor.
    bool requires_grad = false;

    friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// The type of a tensor with these strides, in canonical form: no strides where it is contiguous (dimensions of one
/// element and tensors without any do not matter, as in torch's is_contiguous); in dimensions of one element those of
/// memory_format channels_last where that is what it is, and otherwise what a slowest dimension would have.
/// Throws FormatError for negative strides, another number of them than of sizes, and more than 2^50 elements of span.
TensorType strided(Dtype dtype, Sizes sizes, const Strides& strides);
/// Dense, channels fastest, batch slowest; throws FormatError for other than 4 or 5 dimensions.
TensorType channels_last(Dtype dtype, Sizes sizes);

/// The strides of a contiguous tensor; a size of 0 counts as 1, as in torch. Throws FormatError when they overflow.
Strides contiguous_strides(const Sizes& sizes);
/// Those of memory_format channels_last (4 sizes) or channels_last_3d (5); throws FormatError for other numbers.
Strides channels_last_strides(const Sizes& sizes);
/// Dense strides for other sizes, the dimensions in the order in which those of `model` lie.
Strides strides_in_order_of(const TensorType& model, const Sizes& sizes);
/// The strides, written out where they are left out.
Strides strides_of(const TensorType& type);

inline bool is_contiguous(const TensorType& type) {
    return type.strides.empty();
}
/// Dense in the order of channels_last and not contiguous.
bool is_channels_last(const TensorType& type);
/// Without gaps and overlaps: torch's is_non_overlapping_and_dense.
bool is_dense(const TensorType& type);

/// How the elements lie, in the words that features use; the numbers stand in trained predictors.
enum class Layout { contiguous = 0, channels_last = 1, permuted = 2, gapped = 3, expanded = 4 };
/// `permuted` is dense, `expanded` has a dimension of stride 0, `gapped` is the rest (overlapping windows too).
Layout layout(const TensorType& type);

/// Product of the sizes; throws FormatError when a size is negative or the product overflows 2^62.
std::int64_t element_count(const TensorType& type);
/// element_count x element_bytes, same errors.
std::int64_t byte_count(const TensorType& type);
/// Elements of storage from the first to the last that the tensor touches, gaps included.
std::int64_t span(const TensorType& type);
/// Elements that are different memory: expanded dimensions count once, gaps do not count.
std::int64_t distinct_count(const TensorType& type);
/// distinct_count x element_bytes: what a kernel has to read of it.
std::int64_t distinct_bytes(const TensorType& type);

}  // namespace joulecast
