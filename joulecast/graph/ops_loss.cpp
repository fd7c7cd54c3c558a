#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// Target of classes: one loss for each.
Types classified(const Operation& operation) {
    const TensorType& target = tensor(operation, "target");
    const bool probabilities = is_floating(target.dtype);
    if (is_reduced_loss(operation)) return {make(first(operation).dtype, {})};
    Sizes sizes = target.sizes;
    if (probabilities && !sizes.empty()) sizes.erase(sizes.begin() + (sizes.size() > 1 ? 1 : 0));
    return {make(first(operation).dtype, std::move(sizes))};
}

Types compared(const Operation& operation) {
    const TensorType& self = first(operation);
    if (is_reduced_loss(operation)) return {make(self.dtype, {})};
    const TensorType& target = tensor(operation, "target");
    const TensorType contiguous = make(self.dtype, broadcast(operation, self.sizes, target.sizes));
    // It is computed in place of 1 - target.
    if (operation.target == "aten::binary_cross_entropy_with_logits") return {like(target, self.dtype)};
    return {iterated(self.dtype, contiguous.sizes, std::array{&self, &target})};
}

Indices saves_both(const Operation& /*operation*/) {
    return {0, 1};
}

std::int64_t input_size(const Operation& operation) {
    return byte_count(first(operation));
}

/// Logarithms of the softmax are written and read again: 5 elementary operations per element.
Counts cross_entropy_forward(const Operation& operation) {
    const std::int64_t between = byte_count(first(operation));
    return {0, checked(operation, 5, element_count(first(operation))), input_bytes(operation) + between,
            bytes(classified(operation)) + between};
}

constexpr Row cross_entropy(std::string_view schema) {
    return {schema,  Family::loss, &classified, &cross_entropy_forward, &gradient_with_saved<&classified, 3>,
            nullptr, &input_size};
}
constexpr Row likelihood(std::string_view schema) {
    return {schema, Family::loss, &classified, &streamed<&classified, 1>, &gradient_streamed<&classified>};
}
template <std::int64_t cost>
constexpr Row comparison(std::string_view schema) {
    return {schema,     Family::loss, &compared, &reduced<&compared, cost>, &gradient_with_saved<&compared, cost>,
            &saves_both};
}

constexpr std::array rows{
    cast(f32_everywhere,
         cross_entropy(
             "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
             "ignore_index=-100, float label_smoothing=0.) -> Tensor")),
    cast(f32_everywhere,
         likelihood("aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
                    "ignore_index=-100) -> Tensor")),
    likelihood("aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt "
               "ignore_index=-100) -> Tensor"),
    cast(f32_everywhere, comparison<3>("aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")),
    cast(f32_everywhere, comparison<3>("aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor")),
    cast(f32_everywhere,
         comparison<5>("aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor")),
    cast(f32_everywhere,
         comparison<5>("aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor")),
    cast(
        f32_everywhere,
        comparison<5>("aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor")),
    // torch refuses it under autocast on a GPU; it stays in f32 here.
    cast(f32_on_cpu,
         comparison<6>(
             "aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor")),
    cast(
        f32_everywhere,
        comparison<6>("aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? "
                      "pos_weight=None, int reduction=1) -> Tensor")),
};

}  // namespace

std::span<const Row> loss_rows() {
    return rows;
}

}  // namespace joulecast::records
