#pragma once

#include <string_view>
#include <vector>

#include "joulecast/graph/record.h"

namespace joulecast::records {

/// One parameter as the schema writes it: "SymInt[2] stride=1".
struct SchemaParameter {
    /// Type without alias annotation: "Tensor", "SymInt[2]", "ScalarType?".
    std::string_view type;
    Parameter parameter;
};

/// An ATen schema text such as torch prints it, taken apart. Views point into the text.
struct Schema {
    std::string_view target;
    std::vector<SchemaParameter> parameters;
};

/// Throws FormatError naming the part that is not understood. For the texts in the tables of ops_*.cpp, not for input.
Schema parse_schema(std::string_view text);

/// The target alone: what stands before the parameters.
std::string_view schema_target(std::string_view text);

/// What a table line in ops_<family>.cpp says; the parameters come out of the schema text.
struct Row {
    std::string_view schema;
    Family family;
    std::vector<TensorType> (*outputs)(const Operation&);
    Counts (*forward)(const Operation&);
    Counts (*backward)(const Operation&) = nullptr;
    std::vector<std::int32_t> (*saved)(const Operation&) = nullptr;
    std::int64_t (*hidden_bytes)(const Operation&) = nullptr;
    MatrixProduct (*product)(const Operation&) = nullptr;
    bool (*waits)(const Operation&) = nullptr;
    std::optional<KeptTensors> (*kept_on_cpu)(const Operation&) = nullptr;
    AutocastPolicies autocast = {};
};

/// The host reads its result back, whatever the arguments.
constexpr Row waiting(Row row) {
    row.waits = [](const Operation&) { return true; };
    return row;
}

/// The row of an operation that torch.autocast does not leave alone. tests/graph/autocast_test.cpp holds the names
/// against what torch registers. A few operations run by calling another one on the other device (einsum ends in bmm on
/// a CPU, conv2d.padding in conv2d on a GPU).
constexpr Row cast(AutocastPolicies policies, Row row) {
    row.autocast = policies;
    return row;
}
inline constexpr AutocastPolicies lowered{AutocastPolicy::lower, AutocastPolicy::lower};
inline constexpr AutocastPolicies lowered_on_cpu{AutocastPolicy::lower, std::nullopt};
inline constexpr AutocastPolicies lowered_on_gpu{std::nullopt, AutocastPolicy::lower};
inline constexpr AutocastPolicies lowered_or_promoted{AutocastPolicy::lower, AutocastPolicy::promote};
inline constexpr AutocastPolicies f32_everywhere{AutocastPolicy::f32, AutocastPolicy::f32};
inline constexpr AutocastPolicies f32_on_cpu{AutocastPolicy::f32, std::nullopt};
inline constexpr AutocastPolicies f32_on_gpu{std::nullopt, AutocastPolicy::f32};
inline constexpr AutocastPolicies f32_result_on_gpu{std::nullopt, AutocastPolicy::f32_dtype};
inline constexpr AutocastPolicies f32_or_f32_result{AutocastPolicy::f32, AutocastPolicy::f32_dtype};
inline constexpr AutocastPolicies f32_or_promoted{AutocastPolicy::f32, AutocastPolicy::promote};
inline constexpr AutocastPolicies promoted_on_cpu{AutocastPolicy::promote, std::nullopt};
inline constexpr AutocastPolicies promoted_on_gpu{std::nullopt, AutocastPolicy::promote};

std::span<const Row> algebra_rows();
std::span<const Row> arithmetic_rows();
std::span<const Row> attention_rows();
std::span<const Row> contraction_rows();
std::span<const Row> convolution_rows();
std::span<const Row> copy_rows();
std::span<const Row> creation_rows();
std::span<const Row> decomposed_rows();
std::span<const Row> elementwise_rows();
std::span<const Row> fourier_rows();
std::span<const Row> functions_rows();
std::span<const Row> detection_rows();
std::span<const Row> gradients_rows();
std::span<const Row> indexing_rows();
std::span<const Row> joining_rows();
std::span<const Row> likeness_rows();
std::span<const Row> loss_rows();
std::span<const Row> margins_rows();
std::span<const Row> matmul_rows();
std::span<const Row> normalization_rows();
std::span<const Row> part_rows();
std::span<const Row> placing_rows();
std::span<const Row> pooling_rows();
std::span<const Row> quantized_rows();
std::span<const Row> random_rows();
std::span<const Row> recurrent_rows();
std::span<const Row> reduction_rows();
std::span<const Row> resize_rows();
std::span<const Row> softmax_rows();
std::span<const Row> sorting_rows();
std::span<const Row> statistics_rows();
std::span<const Row> symbolic_rows();
std::span<const Row> view_rows();

}  // namespace joulecast::records
