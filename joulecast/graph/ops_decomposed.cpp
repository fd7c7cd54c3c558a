// Normalisations, dropout and softmax as core ATen has them: statistics and masks are outputs of their own.

#include <algorithm>
#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

constexpr std::int64_t statistics_cost = 4;  // sum; difference, square, sum
constexpr std::int64_t normalise_cost = 4;   // subtract, multiply, scale, shift

/// Half-precision inputs have their statistics in f32.
Dtype statistics_dtype(Dtype dtype) {
    return dtype == Dtype::f16 || dtype == Dtype::bf16 ? Dtype::f32 : dtype;
}

/// Normalised values, then mean and reciprocal deviation of each row; rms norm has no mean.
Types by_row_outputs(const Operation& operation) {
    const TensorType& input = tensor(operation, "input");
    const Sizes shape = integers(operation, "normalized_shape");
    if (shape.size() > rank(input) || !std::equal(shape.rbegin(), shape.rend(), input.sizes.rbegin())) {
        refuse(operation, "the input does not end with normalized_shape");
    }
    Sizes rows = input.sizes;
    std::fill(rows.end() - static_cast<std::ptrdiff_t>(shape.size()), rows.end(), 1);
    const TensorType statistics = make(statistics_dtype(input.dtype), std::move(rows));
    Types types{make(input.dtype, input.sizes), statistics};
    if (operation.target == "aten::native_layer_norm") types.push_back(statistics);
    return types;
}

Types by_group_outputs(const Operation& operation) {
    const TensorType& input = tensor(operation, "input");
    const std::int64_t groups = integer(operation, "group");
    if (rank(input) < 2 || groups < 1 || input.sizes[1] % groups != 0) refuse(operation, "the groups do not fit");
    const TensorType statistics = make(statistics_dtype(input.dtype), {input.sizes[0], groups});
    Types types = same_as_first(operation);
    return {types.front(), statistics, statistics};
}

bool trains(const Operation& operation) {
    if (operation.target.ends_with("_no_training") || operation.target.ends_with("_no_update")) return false;
    if (operation.target.starts_with("aten::_batch_norm_with_update")) return true;
    return flag(operation, "training");
}

/// Normalised values, then mean and reciprocal deviation of each channel, a reserve for cuDNN
/// where the target has one, and the new running statistics where they are not written in place.
Types by_channel_outputs(const Operation& operation) {
    const TensorType& input = tensor(operation, "input");
    if (rank(input) < 2) refuse(operation, "the input has no channels");
    // Without training the CPU leaves them out; GPUs hand the running ones out.
    const TensorType statistics = make(statistics_dtype(input.dtype), {input.sizes[1]});
    Types types = same_as_first(operation);
    types.insert(types.end(), {statistics, statistics});
    if (operation.target.starts_with("aten::_batch_norm")) types.push_back(make(Dtype::u8, {0}));
    if (operation.target.ends_with("_functional")) {
        for (const std::string_view name : {"running_mean", "running_var"}) {
            const TensorType& running = tensor(operation, name);
            types.push_back(make(running.dtype, running.sizes));
        }
    }
    return types;
}

/// The input is passed over twice in training, and the running statistics are written.
Counts by_channel_forward(const Operation& operation) {
    Counts counts = streamed<&by_channel_outputs, normalise_cost>(operation);
    const TensorType& input = tensor(operation, "input");
    counts.other_flop =
        checked(operation, normalise_cost + (trains(operation) ? statistics_cost : 0), element_count(input));
    if (!trains(operation)) return counts;
    counts.bytes_read = added(counts.bytes_read, byte_count(input));
    if (operation.target.ends_with("_functional") || operation.target.ends_with(".no_stats")) return counts;
    for (const std::string_view name : {"running_mean", "running_var"}) {
        if (const TensorType* running = optional_tensor(operation, name)) {
            counts.bytes_written = added(counts.bytes_written, byte_count(*running));
        }
    }
    return counts;
}

/// Two passes over input and output gradient: sums for the parameters' gradients, then the input's gradient.
template <auto Outputs>
Counts backward(const Operation& operation) {
    constexpr std::int64_t per_element = 9;
    const TensorType& input = tensor(operation, "input");
    const TensorType* weight = optional_tensor(operation, "weight");
    const std::int64_t passes = input.requires_grad ? 2 : 1;
    Counts counts;
    counts.other_flop = checked(operation, per_element, element_count(input));
    counts.bytes_read =
        added(checked(operation, 2 * passes, byte_count(input)), weight == nullptr ? 0 : byte_count(*weight));
    counts.bytes_written = gradient_bytes(operation);
    return counts;
}

/// The input and the statistics, which are outputs 1 and 2.
template <auto Outputs>
Indices saved(const Operation& operation) {
    const auto inputs = static_cast<std::int32_t>(tensors(operation).size());
    const auto outputs = static_cast<std::int32_t>(Outputs(operation).size());
    Indices kept{0};
    for (std::int32_t i = 1; i < std::min<std::int32_t>(outputs, 3); ++i) kept.push_back(inputs + i);
    return kept;
}

template <auto Outputs>
constexpr Row by_row(std::string_view schema) {
    return {schema,
            Family::normalization,
            Outputs,
            &reduced<Outputs, statistics_cost + normalise_cost>,
            &backward<Outputs>,
            &saved<Outputs>};
}
constexpr Row by_channel(std::string_view schema) {
    return {schema,
            Family::normalization,
            &by_channel_outputs,
            &by_channel_forward,
            &backward<&by_channel_outputs>,
            &saved<&by_channel_outputs>};
}

/// Values and the mask; without train the mask is written all the same.
Types dropped_outputs(const Operation& operation) {
    const Types types = same_as_first(operation);
    TensorType mask = types.front();
    mask.dtype = Dtype::boolean;
    return {types.front(), mask};
}

Counts dropped_backward(const Operation& operation) {
    const TensorType& input = first(operation);
    return {0, checked(operation, 2, element_count(input)), bytes(dropped_outputs(operation)),
            gradient_bytes(operation)};
}

/// The mask: output 1, behind the input.
Indices saves_mask(const Operation& /*operation*/) {
    return {2};
}

constexpr Row dropout(std::string_view schema) {
    return {schema,     Family::elementwise, &dropped_outputs, &reduced<&dropped_outputs, 3>, &dropped_backward,
            &saves_mask};
}

Types softmax_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    dimension(operation, integer(operation, "dim"), rank(self));
    Types types = same_as_first(operation);
    types.front().dtype = optional_dtype(operation, "dtype").value_or(self.dtype);
    return types;
}

/// Maximum, subtraction, exponential, sum, division (or logarithm and subtraction).
constexpr Row softmax(std::string_view schema) {
    return {schema,
            Family::softmax,
            &softmax_outputs,
            &streamed<&softmax_outputs, 5>,
            &gradient_with_saved<&softmax_outputs, 4>,
            &saves_output};
}

/// A weight split into length g and direction v: w = v g / |v|, the norm taken over all dimensions but one.
Types weight_norm_outputs(const Operation& operation) {
    const TensorType& v = tensor(operation, "v");
    const TensorType& g = tensor(operation, "g");
    Types types{make(v.dtype, v.sizes)};
    if (operation.target == "aten::_weight_norm_interface") types.push_back(make(statistics_dtype(g.dtype), g.sizes));
    return types;
}

Indices saves_both(const Operation& /*operation*/) {
    return {0, 1};
}

constexpr Row weight_norm(std::string_view schema) {
    return {schema,
            Family::normalization,
            &weight_norm_outputs,
            &reduced<&weight_norm_outputs, 4>,
            &gradient_with_saved<&weight_norm_outputs, 6>,
            &saves_both};
}

constexpr std::array rows{
    cast(f32_on_gpu, by_row<&by_row_outputs>(
                         "aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? "
                         "bias, float eps) -> (Tensor, Tensor, Tensor)")),
    by_row<&by_row_outputs>(
        "aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)"),
    by_row<&by_group_outputs>("aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, "
                              "SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)"),
    by_channel("aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
               "running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)"),
    by_channel("aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
               "Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)"),
    by_channel("aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, "
               "float momentum, float eps) -> (Tensor, Tensor, Tensor)"),
    by_channel("aten::_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor "
               "running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, "
               "Tensor, Tensor running_mean_out, Tensor running_var_out)"),
    by_channel("aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor "
               "running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)"),
    by_channel("aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
               "Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)"),
    by_channel("aten::_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor "
               "running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, "
               "Tensor running_mean_out, Tensor running_var_out)"),
    by_channel("aten::_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
               "running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)"),
    dropout("aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)"),
    softmax("aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"),
    softmax("aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"),
    softmax("aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"),
    weight_norm("aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor"),
    weight_norm("aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, Tensor)"),
};

}  // namespace

std::span<const Row> decomposed_rows() {
    return rows;
}

}  // namespace joulecast::records
