// Losses beside the common ones in ops_loss.cpp: margins, distances, counts, alignments, and losses as core ATen has
// them.

#include <array>

#include "joulecast/graph/pointwise.h"

namespace joulecast::records {

namespace {

/// One number for each element of the broadcast tensors.
Types elementwise_loss(const Operation& operation) {
    const Sizes sizes = broadcast_of_all(operation);
    return {make(first(operation).dtype, is_reduced_loss(operation) ? Sizes{} : sizes)};
}

/// One number for each row: the last dimension (or that of the features, 1) is summed.
Types row_loss(const Operation& operation) {
    const TensorType& input = first(operation);
    if (rank(input) > 2) refuse(operation, "the input has more than two dimensions");
    Sizes sizes;
    if (!is_reduced_loss(operation) && rank(input) == 2) sizes.push_back(input.sizes[0]);
    return {make(input.dtype, std::move(sizes))};
}

/// Distances along the last dimension of broadcast tensors.
Types distance_loss(const Operation& operation) {
    Sizes sizes = broadcast_of_all(operation);
    if (sizes.empty()) refuse(operation, "a scalar has no features");
    sizes.pop_back();
    return {make(first(operation).dtype, is_reduced_loss(operation) ? Sizes{} : sizes)};
}

/// Similarities along the features (dimension 1, or 0 of vectors) of two tensors.
Types similarity_loss(const Operation& operation) {
    const TensorType& input = tensor(operation, "input1");
    if (rank(input) < 1 || rank(input) > 2) refuse(operation, "the input has more than two dimensions");
    Sizes sizes;
    if (!is_reduced_loss(operation) && rank(input) == 2) sizes.push_back(input.sizes[0]);
    return {make(input.dtype, std::move(sizes))};
}

/// Alignments of targets [batch, length] to log_probs [time, batch, classes].
Types alignment_loss(const Operation& operation) {
    const TensorType& scores = tensor(operation, "log_probs");
    if (rank(scores) < 2 || rank(scores) > 3) refuse(operation, "log_probs has a wrong number of dimensions");
    Sizes sizes;
    if (!is_reduced_loss(operation) && rank(scores) == 3) sizes.push_back(scores.sizes[1]);
    return {make(scores.dtype, std::move(sizes))};
}

/// Forward variables: for each time step 2 x length + 1 states, three of which add up in logarithms (about 8 elementary
/// operations). They are written, read, and kept for the backward pass.
std::int64_t alignment_states(const Operation& operation) {
    const TensorType& scores = tensor(operation, "log_probs");
    const TensorType& targets = tensor(operation, "targets");
    alignment_loss(operation);
    const std::int64_t batch = rank(scores) == 3 ? scores.sizes[1] : 1;
    const std::int64_t length =
        rank(targets) == 2 ? targets.sizes[1] : element_count(targets) / std::max<std::int64_t>(batch, 1);
    return checked(operation, checked(operation, scores.sizes[0], batch), added(checked(operation, 2, length), 1));
}

std::int64_t alignment_bytes(const Operation& operation) {
    return checked(operation, alignment_states(operation), element_bytes(first(operation).dtype));
}

Counts alignment_forward(const Operation& operation) {
    return {0, checked(operation, 8, alignment_states(operation)), input_bytes(operation),
            added(bytes(alignment_loss(operation)), alignment_bytes(operation))};
}

Counts alignment_backward(const Operation& operation) {
    return {0, checked(operation, 16, alignment_states(operation)),
            added(input_bytes(operation), alignment_bytes(operation)), gradient_bytes(operation)};
}

std::int64_t alignment_kept(const Operation& operation) {
    return mode(operation) == Mode::training ? alignment_bytes(operation) : 0;
}

/// One loss for each class target and the sum of the weights, as core ATen has it.
Types likelihood_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const TensorType& target = tensor(operation, "target");
    const TensorType total = make(self.dtype, {});
    return {is_reduced_loss(operation) ? total : make(self.dtype, target.sizes), total};
}

Types class_loss(const Operation& operation) {
    const TensorType& self = first(operation);
    return {is_reduced_loss(operation) ? make(self.dtype, {}) : make(self.dtype, tensor(operation, "target").sizes)};
}

template <auto Outputs, std::int64_t cost>
constexpr Row loss(std::string_view schema) {
    return {
        schema, Family::loss, Outputs, &reduced<Outputs, cost>, &factor_backward<Outputs, cost>, &saves_all_operands};
}
template <auto Outputs>
constexpr Row likelihood(std::string_view schema) {
    return {schema, Family::loss, Outputs, &streamed<Outputs, 1>, &gradient_streamed<Outputs>, &saves_all_operands};
}
constexpr Row alignment(std::string_view schema) {
    return {schema,         Family::loss, &alignment_loss, &alignment_forward, &alignment_backward, &saves_all_operands,
            &alignment_kept};
}

constexpr std::array rows{
    cast(f32_everywhere,
         loss<&elementwise_loss, 5>("aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")),
    cast(f32_everywhere, loss<&elementwise_loss, 5>(
                             "aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float "
                             "eps, int reduction) -> Tensor")),
    cast(f32_everywhere,
         loss<&elementwise_loss, 5>(
             "aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor")),
    cast(f32_everywhere,
         loss<&elementwise_loss, 4>("aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float "
                                    "margin=0., int reduction=1) -> Tensor")),
    cast(f32_everywhere,
         loss<&row_loss, 4>("aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? "
                            "weight=None, int reduction=1) -> Tensor")),
    cast(f32_everywhere,
         loss<&row_loss, 4>("aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")),
    cast(f32_everywhere,
         loss<&distance_loss, 8>("aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float "
                                 "margin=1., float p=2., float "
                                 "eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor")),
    cast(f32_everywhere,
         loss<&similarity_loss, 8>("aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float "
                                   "margin=0., int reduction=1) -> Tensor")),
    cast(f32_on_cpu,
         alignment(
             "aten::ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int "
             "blank=0, int reduction=1, bool zero_infinity=False) -> Tensor")),
    cast(f32_on_cpu,
         alignment(
             "aten::ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, "
             "int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor")),
    likelihood<&likelihood_outputs>("aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, "
                                    "SymInt ignore_index) -> (Tensor output, Tensor total_weight)"),
    likelihood<&likelihood_outputs>("aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int "
                                    "reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)"),
    cast(f32_everywhere,
         likelihood<&class_loss>(
             "aten::nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
             "ignore_index=-100) -> Tensor")),
};

}  // namespace

std::span<const Row> margins_rows() {
    return rows;
}

}  // namespace joulecast::records
