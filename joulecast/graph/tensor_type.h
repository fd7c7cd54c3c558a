#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

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

/// How the elements lie in memory, as far as it changes the kernel that runs.
enum class Layout { contiguous, channels_last, transposed };

/// What is known of a tensor before anything runs.
struct TensorType {
    Dtype dtype = Dtype::f32;
    std::vector<std::int64_t> sizes;
    Layout layout = Layout::contiguous;
    /// Set by the training transform: a gradient flows to this tensor.
    bool requires_grad = false;

    friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// Product of the sizes; throws FormatError when a size is negative or the product overflows 2^62.
std::int64_t element_count(const TensorType& type);
/// element_count x element_bytes, same errors.
std::int64_t byte_count(const TensorType& type);

}  // namespace joulecast
