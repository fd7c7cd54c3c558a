#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// Mean, and variance of the values: read once more before they are normalised.
bool computes_statistics(const Operation& operation) {
    if (operation.target == "aten::batch_norm") return flag(operation, "training");
    if (operation.target == "aten::instance_norm") return flag(operation, "use_input_stats");
    return false;
}

/// layer_norm and group_norm keep a row in cache; batch and instance norm in training pass over the input twice, and
/// update the running mean and variance.
Counts forward(const Operation& operation) {
    constexpr std::int64_t statistics = 4;  // sum; difference, square, sum
    constexpr std::int64_t normalise = 4;   // subtract, multiply, scale, shift
    const TensorType& input = tensor(operation, "input");
    const bool twice = computes_statistics(operation);
    const bool always = operation.target != "aten::batch_norm" && operation.target != "aten::instance_norm";
    const std::int64_t per_element = normalise + (twice || always ? statistics : 0);
    Counts counts{0, checked(operation, per_element, element_count(input)), input_bytes(operation), byte_count(input)};
    if (!twice) return counts;
    counts.bytes_read += byte_count(input);
    for (const std::string_view name : {"running_mean", "running_var"}) {
        if (const TensorType* running = optional_tensor(operation, name)) counts.bytes_written += byte_count(*running);
    }
    return counts;
}

/// Two passes over input and output gradient: sums for the parameters' gradients, then the input's gradient.
Counts backward(const Operation& operation) {
    constexpr std::int64_t per_element = 9;
    const TensorType& input = tensor(operation, "input");
    const TensorType* weight = optional_tensor(operation, "weight");
    const std::int64_t passes = input.requires_grad ? 2 : 1;
    const std::int64_t parameters = weight == nullptr ? 0 : byte_count(*weight);
    return {0, checked(operation, per_element, element_count(input)),
            checked(operation, 2 * passes, byte_count(input)) + parameters, gradient_bytes(operation)};
}

/// Norms over channels keep channels last; layer_norm wants rows in one piece, instance_norm batches.
Types outputs(const Operation& operation) {
    const TensorType& input = tensor(operation, "input");
    const bool by_row = operation.target == "aten::layer_norm" || operation.target == "aten::instance_norm";
    return {formatted(input.dtype, input.sizes, !by_row && suggests_channels_last(input))};
}

/// Mean and reciprocal deviation of each channel or row, in f32: kept for the backward pass.
std::int64_t statistics_bytes(const Operation& operation) {
    const TensorType& input = tensor(operation, "input");
    if (!input.requires_grad) return 0;
    std::int64_t rows = 0;
    if (operation.target == "aten::layer_norm" || operation.target == "aten::rms_norm") {
        const std::int64_t row = product(operation, integers(operation, "normalized_shape"));
        rows = row == 0 ? 0 : element_count(input) / row;
    } else if (rank(input) >= 2) {
        const bool by_group = operation.target == "aten::group_norm";
        rows = by_group ? checked(operation, input.sizes[0], integer(operation, "num_groups")) : input.sizes[1];
    }
    return checked(operation, 2 * element_bytes(Dtype::f32), rows);
}

constexpr Row normalization(std::string_view schema) {
    return {schema, Family::normalization, &outputs, &forward, &backward, &saves_first, &statistics_bytes};
}

constexpr std::array rows{
    normalization("aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
                  "running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor"),
    cast(f32_on_gpu,
         normalization(
             "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
             "float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor")),
    cast(f32_on_gpu,
         normalization("aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float "
                       "eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor")),
    normalization("aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
                  "running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor"),
    cast(
        f32_on_gpu,
        normalization(
            "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor")),
};

}  // namespace

std::span<const Row> normalization_rows() {
    return rows;
}

}  // namespace joulecast::records
