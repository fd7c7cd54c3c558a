#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph/readers/onnx_call.h"

namespace joulecast::onnx {

/// One operator and how it is said in ATen. Of several lines with one name the latest not after the file's operator
/// set counts.
struct Row {
    std::string_view op_type;
    /// First version of the operator set that it holds for.
    std::int64_t since = 1;
    void (*translate)(Call&) = nullptr;
    /// "com.microsoft"; empty for ONNX's own.
    std::string_view domain = {};
    /// Sizes are worked out, but the node keeps its ONNX name: ATen has no such call.
    bool is_named = false;
};

/// The name of an ATen target as a template argument, so that one function serves many rows.
struct Target {
    static constexpr std::size_t longest = 64;

    template <std::size_t length>
    constexpr Target(const char (&name)[length]) {  // NOLINT(*-explicit-*): written as a text
        static_assert(length <= longest);
        std::copy_n(name, length, text);
    }
    std::string string() const { return text; }

    char text[longest] = {};
};

/// Versions of ONNX's own operator set that the reader's tests have models of.
inline constexpr std::int64_t oldest_tested = 11;
inline constexpr std::int64_t newest_tested = 22;

/// The row for a node, or nullptr: it keeps its name then.
const Row* find_row(std::string_view domain, std::string_view op_type, std::int64_t opset);

/// All rows, sorted by domain and operator, but those that fold() writes.
std::vector<const Row*> all_rows();

/// ONNX' own operators, up to set 20, without a row: they keep their name and need the sizes of their outputs in the
/// file. Shape and Size, which only give numbers, are not among them.
std::span<const std::string_view> untranslated();

/// The outputs' numbers, when the operator computes sizes and the inputs it needs are known. At most most_integers or
/// most_reals elements.
std::optional<std::vector<Constant>> evaluate(const Call& call);

// The tables, one a family: onnx_ops_<family>.cpp.
std::span<const Row> activation_rows();
std::span<const Row> convolution_rows();
std::span<const Row> elementwise_rows();
std::span<const Row> folded_rows();
std::span<const Row> fused_rows();
std::span<const Row> indexing_rows();
std::span<const Row> matmul_rows();
std::span<const Row> normalization_rows();
std::span<const Row> pooling_rows();
std::span<const Row> placing_rows();
std::span<const Row> quantized_rows();
std::span<const Row> random_rows();
std::span<const Row> recurrent_rows();
std::span<const Row> reduction_rows();
std::span<const Row> sequence_rows();
std::span<const Row> shape_rows();
std::span<const Row> signal_rows();
std::span<const Row> training_rows();

}  // namespace joulecast::onnx
