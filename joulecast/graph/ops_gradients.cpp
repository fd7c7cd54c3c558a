// Backward operations, as they stand in graphs that were exported with their gradients. Nothing flows through them
// again.

#include <algorithm>
#include <array>

#include "joulecast/graph/pointwise.h"

namespace joulecast::records {

namespace {

/// The gradient of an element-wise function: like the first tensor, which is the output's gradient.
constexpr Row elementwise(std::string_view schema) {
    return {schema, Family::elementwise, &pair_outputs, &streamed<&pair_outputs, 4>};
}

Types like_named(const Operation& operation, std::string_view name) {
    const TensorType& type = tensor(operation, name);
    return {make(type.dtype, type.sizes)};
}

/// What the output's gradient is spread over: the forward operation's input.
Types like_self(const Operation& operation) {
    return like_named(operation, "self");
}
Types like_gradient(const Operation& operation) {
    return {make(first(operation).dtype, first(operation).sizes)};
}

Types of_sizes(const Operation& operation, std::string_view name) {
    Sizes sizes = integers(operation, name);
    product(operation, sizes);
    return {make(first(operation).dtype, std::move(sizes))};
}
Types of_input_size(const Operation& operation) {
    return of_sizes(operation, "input_size");
}
Types of_input_sizes(const Operation& operation) {
    return of_sizes(operation, "input_sizes");
}

Types of_input_dtype(const Operation& operation) {
    Types types = like_gradient(operation);
    types.front().dtype = argument_or_default<Dtype>(operation, "input_dtype");
    return types;
}

template <auto Outputs, std::int64_t cost, Family family = Family::elementwise>
constexpr Row spread_over(std::string_view schema) {
    return {schema, family, Outputs, &streamed<Outputs, cost>};
}

/// Which of the gradients are asked for.
std::vector<bool> asked(const Operation& operation, std::size_t count) {
    auto mask = argument_or_default<std::vector<bool>>(operation, "output_mask");
    if (mask.size() != count) refuse(operation, "output_mask has a wrong length");
    return mask;
}

Types masked(const Operation& operation, std::initializer_list<const TensorType*> candidates) {
    const std::vector<bool> mask = asked(operation, candidates.size());
    Types types;
    std::size_t i = 0;
    for (const TensorType* candidate : candidates) {
        if (mask[i++] && candidate != nullptr) types.push_back(make(candidate->dtype, candidate->sizes));
    }
    return types;
}

/// Gradients of input, weight and bias; the same number of multiply-adds as forward for each of the first two.
Types convolution_outputs(const Operation& operation) {
    const TensorType& output = tensor(operation, "grad_output");
    const TensorType& weight = tensor(operation, "weight");
    const bool transposed = flag(operation, "transposed");
    if (rank(weight) < 3 || rank(output) != rank(weight)) refuse(operation, "the tensors do not fit");
    const std::int64_t groups = integer(operation, "groups");
    if (groups < 1) refuse(operation, "there is no group");
    const TensorType bias =
        make(weight.dtype, {transposed ? checked(operation, weight.sizes[1], groups) : weight.sizes[0]});
    return masked(operation, {&tensor(operation, "input"), &weight, &bias});
}

Counts convolution_forward(const Operation& operation) {
    const Types outputs = convolution_outputs(operation);
    const TensorType& output = tensor(operation, "grad_output");
    const TensorType& weight = tensor(operation, "weight");
    const TensorType& positions = flag(operation, "transposed") ? tensor(operation, "input") : output;
    const std::vector<bool> mask = asked(operation, 3);
    if (rank(positions) < 2) refuse(operation, "the tensors do not fit");
    std::int64_t work = checked(operation, 2, element_count(weight));
    work = checked(operation, work, positions.sizes[0]);
    work = checked(operation, work, product(operation, Sizes(positions.sizes.begin() + 2, positions.sizes.end())));
    const std::int64_t products = (mask[0] ? 1 : 0) + (mask[1] ? 1 : 0);
    return {checked(operation, products, work), mask[2] ? element_count(output) : 0, input_bytes(operation),
            bytes(outputs)};
}

constexpr Row convolution(std::string_view schema) {
    return {schema, Family::convolution, &convolution_outputs, &convolution_forward};
}

/// Gradients of input, weight and bias of a normalisation.
Types norm_outputs(const Operation& operation) {
    const bool has_bias_parameter = operation.target == "aten::native_layer_norm_backward";
    const TensorType& input = tensor(operation, "input");
    const TensorType* weight = optional_tensor(operation, "weight");
    TensorType channels;
    const TensorType* bias = weight;
    if (has_bias_parameter) {
        bias = optional_tensor(operation, "bias");
    } else if (weight == nullptr) {
        if (rank(input) < 2) refuse(operation, "the input has no channels");
        channels = make(input.dtype, {input.sizes[1]});
        weight = bias = &channels;
    }
    return masked(operation, {&input, weight, bias});
}

Types rms_norm_outputs(const Operation& operation) {
    return masked(operation, {&tensor(operation, "input"), optional_tensor(operation, "weight")});
}

template <auto Outputs>
constexpr Row norm(std::string_view schema) {
    return {schema, Family::normalization, Outputs, &reduced<Outputs, 9>};
}

/// The table's gradient: zeros, and the rows of the output's gradient added.
Types table_outputs(const Operation& operation) {
    const TensorType& gradient = tensor(operation, "grad_output");
    if (rank(gradient) < 1) refuse(operation, "the gradient has no rows");
    const Sizes sizes{integer(operation, "num_weights"), gradient.sizes.back()};
    product(operation, sizes);
    return {make(gradient.dtype, sizes)};
}

constexpr Row table(std::string_view schema) {
    return {schema, Family::indexing, &table_outputs, &streamed<&table_outputs>};
}

/// Gradients of query, key and value: five products, since a fused kernel computes the scores again.
Types attention_outputs(const Operation& operation) {
    Types types;
    for (const std::string_view name : {"query", "key", "value"}) types.push_back(like_named(operation, name).front());
    return types;
}

Counts attention_forward(const Operation& operation) {
    const TensorType& query = tensor(operation, "query");
    const TensorType& key = tensor(operation, "key");
    const TensorType& value = tensor(operation, "value");
    if (rank(query) < 2 || rank(key) != rank(query) || rank(value) != rank(query)) {
        refuse(operation, "query, key and value do not fit");
    }
    const std::int64_t rows = product(operation, Sizes(query.sizes.begin(), query.sizes.end() - 1));
    const std::int64_t scores = checked(operation, rows, key.sizes[rank(key) - 2]);
    const std::int64_t depths =
        added(checked(operation, 3, query.sizes.back()), checked(operation, 2, value.sizes.back()));
    return {checked(operation, checked(operation, 2, scores), depths), checked(operation, 12, scores),
            input_bytes(operation), bytes(attention_outputs(operation))};
}

constexpr Row attention(std::string_view schema) {
    return {schema, Family::attention, &attention_outputs, &attention_forward};
}

/// Gradients of what a grid samples and of the grid itself.
Types sampled_outputs(const Operation& operation) {
    return masked(operation, {&tensor(operation, "input"), &tensor(operation, "grid")});
}

constexpr Row sampled(std::string_view schema) {
    return {schema, Family::indexing, &sampled_outputs, &streamed<&sampled_outputs, 8>};
}

/// Gradients of the gates (and of the cell state and biases) of one step.
constexpr Row pooled(std::string_view schema) {
    return {schema, Family::pooling, &like_self, &streamed<&like_self, 1>};
}

constexpr std::array rows{
    elementwise("aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor"),
    elementwise("aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate=\"none\") -> Tensor"),
    elementwise("aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor"),
    elementwise("aten::hardswish_backward(Tensor grad_output, Tensor self) -> Tensor"),
    elementwise("aten::hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor"),
    elementwise("aten::leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool "
                "self_is_result) -> Tensor"),
    elementwise("aten::elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool "
                "is_result, Tensor self_or_result) -> Tensor"),
    elementwise("aten::sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor"),
    elementwise("aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor"),
    elementwise("aten::hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor"),
    elementwise("aten::hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor"),
    elementwise("aten::softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor"),
    elementwise("aten::softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor"),
    elementwise("aten::mish_backward(Tensor grad_output, Tensor self) -> Tensor"),
    elementwise("aten::logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor"),
    elementwise("aten::log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor"),
    elementwise("aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor"),
    elementwise("aten::rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar "
                "upper, bool training, bool self_is_result) -> Tensor"),
    spread_over<&of_input_dtype, 4, Family::softmax>(
        "aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor"),
    spread_over<&of_input_dtype, 4, Family::softmax>("aten::_log_softmax_backward_data(Tensor grad_output, Tensor "
                                                     "output, int dim, ScalarType input_dtype) -> Tensor"),
    spread_over<&like_self, 4>("aten::glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor"),
    spread_over<&like_self, 3, Family::loss>(
        "aten::mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor"),
    spread_over<&like_self, 3, Family::loss>("aten::smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor "
                                             "target, int reduction, float beta) -> Tensor"),
    spread_over<&like_self, 3, Family::loss>("aten::huber_loss_backward(Tensor grad_output, Tensor self, Tensor "
                                             "target, int reduction, float delta) -> Tensor"),
    spread_over<&like_self, 3, Family::loss>("aten::binary_cross_entropy_backward(Tensor grad_output, Tensor self, "
                                             "Tensor target, Tensor? weight=None, int reduction=1) -> Tensor"),
    spread_over<&like_self, 3, Family::loss>(
        "aten::soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor"),
    spread_over<&like_self, 3, Family::loss>(
        "aten::nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt "
        "ignore_index, Tensor total_weight) -> Tensor"),
    spread_over<&like_self, 3, Family::loss>(
        "aten::nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
        "SymInt ignore_index, Tensor total_weight) -> Tensor"),
    spread_over<&like_self, 3, Family::loss>(
        "aten::multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, Scalar margin, "
        "Tensor? weight=None, int reduction=1) -> Tensor"),
    pooled("aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, "
           "int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor"),
    pooled("aten::max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, "
           "int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor"),
    pooled("aten::avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] "
           "padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor"),
    pooled("aten::avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] "
           "padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor"),
    pooled("aten::_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor"),
    pooled("aten::_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor"),
    pooled("aten::adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor"),
    pooled("aten::adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor"),
    pooled("aten::fractional_max_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] "
           "output_size, Tensor indices) -> Tensor"),
    pooled("aten::fractional_max_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] "
           "output_size, Tensor indices) -> Tensor"),
    spread_over<&like_self, 0, Family::copy>(
        "aten::reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor"),
    spread_over<&like_self, 0, Family::copy>(
        "aten::reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor"),
    spread_over<&like_self, 0, Family::copy>(
        "aten::reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor"),
    spread_over<&like_self, 0, Family::copy>(
        "aten::replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor"),
    spread_over<&like_self, 0, Family::copy>(
        "aten::replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor"),
    spread_over<&like_self, 0, Family::copy>(
        "aten::replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor"),
    spread_over<&of_input_size, 0, Family::pooling>("aten::upsample_nearest1d_backward(Tensor grad_output, SymInt[1] "
                                                    "output_size, SymInt[3] input_size, float? scales=None) -> Tensor"),
    spread_over<&of_input_size, 0, Family::pooling>(
        "aten::upsample_nearest2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, float? "
        "scales_h=None, float? scales_w=None) -> Tensor"),
    spread_over<&of_input_size, 0, Family::pooling>(
        "aten::upsample_nearest3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, float? "
        "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"),
    spread_over<&of_input_size, 0, Family::pooling>(
        "aten::_upsample_nearest_exact1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, "
        "float? scales=None) -> Tensor"),
    spread_over<&of_input_size, 0, Family::pooling>(
        "aten::_upsample_nearest_exact2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, "
        "float? scales_h=None, float? scales_w=None) -> Tensor"),
    spread_over<&of_input_size, 0, Family::pooling>(
        "aten::_upsample_nearest_exact3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, "
        "float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"),
    spread_over<&of_input_size, 7, Family::pooling>(
        "aten::upsample_linear1d_backward(Tensor grad_output, SymInt[1] output_size, SymInt[3] input_size, bool "
        "align_corners, float? scales=None) -> Tensor"),
    spread_over<&of_input_size, 7, Family::pooling>(
        "aten::upsample_bilinear2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool "
        "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"),
    spread_over<&of_input_size, 7, Family::pooling>(
        "aten::upsample_trilinear3d_backward(Tensor grad_output, SymInt[3] output_size, SymInt[5] input_size, bool "
        "align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"),
    spread_over<&of_input_size, 7, Family::pooling>(
        "aten::upsample_bicubic2d_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool "
        "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"),
    spread_over<&of_input_size, 7, Family::pooling>(
        "aten::_upsample_bilinear2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool "
        "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"),
    spread_over<&of_input_size, 7, Family::pooling>(
        "aten::_upsample_bicubic2d_aa_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool "
        "align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"),
    spread_over<&of_input_sizes, 0, Family::copy>(
        "aten::select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor"),
    spread_over<&of_input_sizes, 0, Family::copy>("aten::slice_backward(Tensor grad_output, SymInt[] input_sizes, int "
                                                  "dim, SymInt start, SymInt end, SymInt step) -> Tensor"),
    spread_over<&of_input_sizes, 0, Family::copy>(
        "aten::diagonal_backward(Tensor grad_output, SymInt[] input_sizes, int offset, int dim1, int dim2) -> Tensor"),
    spread_over<&of_input_sizes, 0, Family::copy>(
        "aten::unfold_backward(Tensor grad_in, SymInt[] input_sizes, int dim, int size, int step) -> Tensor"),
    convolution("aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, "
                "SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, "
                "SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"),
    norm<&norm_outputs>(
        "aten::native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, "
        "Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"),
    norm<&norm_outputs>("aten::native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? "
                        "running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float "
                        "eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"),
    norm<&rms_norm_outputs>("aten::_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, "
                            "Tensor rstd, Tensor? weight, bool[2] output_mask) -> (Tensor, Tensor)"),
    table("aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, "
          "bool scale_grad_by_freq) -> Tensor"),
    attention("aten::_scaled_dot_product_flash_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor "
              "value, Tensor out, Tensor logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, "
              "float dropout_p, bool is_causal, Tensor philox_seed, Tensor philox_offset, *, float? scale=None) -> "
              "(Tensor grad_query, Tensor grad_key, Tensor grad_value)"),
    attention("aten::_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, "
              "Tensor value, Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, "
              "float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)"),
    attention("aten::_scaled_dot_product_cudnn_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor "
              "value, Tensor out, Tensor logsumexp, Tensor philox_seed, Tensor philox_offset, Tensor attn_bias, Tensor "
              "cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, *, float? "
              "scale=None) -> (Tensor, Tensor, Tensor)"),
    sampled("aten::grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int "
            "padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)"),
    sampled("aten::grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int "
            "padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)"),
};

}  // namespace

std::span<const Row> gradients_rows() {
    return rows;
}

}  // namespace joulecast::records
