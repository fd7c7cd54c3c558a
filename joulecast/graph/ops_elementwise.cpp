#include <algorithm>
#include <array>

#include "joulecast/graph/pointwise.h"

namespace joulecast::records {

namespace {

Types where_outputs(const Operation& operation) {
    return {iterated(operation, promoted(operation, {"self", "other"}), broadcast_of_all(operation))};
}

/// masked_fill clones what it fills, and asks for a contiguous clone.
Types masked_outputs(const Operation& operation) {
    return {make(first(operation).dtype, broadcast_of_all(operation))};
}

/// dtype of the first tensor, all tensors broadcast: addcmul, lerp.
Types broadcast_as_first(const Operation& operation) {
    return {iterated(operation, first(operation).dtype, broadcast_of_all(operation))};
}

/// Sums that fold the output's gradient into a smaller operand. Without broadcasting the gradient is handed on as it
/// is.
template <auto Outputs>
Counts addition_backward(const Operation& operation) {
    const Types output = Outputs(operation);
    Counts counts;
    for (const TensorType* operand : tensors(operation)) {
        if (!operand->requires_grad || operand->sizes == output.front().sizes) continue;
        counts.other_flop += elements(output);
        // One pass over the output's gradient feeds all sums.
        counts.bytes_read = element_count(output.front()) * element_bytes(operand->dtype);
        counts.bytes_written += byte_count(*operand);
    }
    return counts;
}

/// The mask or condition of masked_fill and where: a tensor of booleans.
Indices saves_condition(const Operation& operation) {
    const auto operands = tensors(operation);
    Indices kept;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (operands[i]->dtype == Dtype::boolean) kept.push_back(static_cast<std::int32_t>(i));
    }
    return kept;
}

/// Each gradient multiplies the output's by something kept: the other operand, or the mask.
template <auto Outputs, std::int64_t per_element, auto Saved>
Counts product_backward(const Operation& operation) {
    const Types output = Outputs(operation);
    Counts counts;
    counts.bytes_read = byte_count(output.front());
    const auto operands = tensors(operation);
    for (const std::int32_t kept : Saved(operation)) {
        counts.bytes_read = added(counts.bytes_read, distinct_bytes(*operands[static_cast<std::size_t>(kept)]));
    }
    counts.bytes_written = gradient_bytes(operation);
    for (const TensorType* operand : operands) {
        if (operand->requires_grad) counts.other_flop += per_element * elements(output);
    }
    return counts;
}

/// train=false or p=0 hands the input on.
bool drops(const Operation& operation) {
    return flag(operation, "train") && argument_or_default<double>(operation, "p") > 0.0;
}

Types contiguous_as_first(const Operation& operation) {
    const TensorType& self = first(operation);
    return {make(self.dtype, self.sizes)};
}

Types dropout_outputs(const Operation& operation) {
    return drops(operation) ? same_as_first(operation) : first_itself(operation);
}

/// What decides which elements stay is no output, but is written and kept. dropout's fused kernels have a mask of a
/// byte per element (the CPU: factors of the input's dtype); everything else multiplies by factors, feature_dropout by
/// one for each channel.
std::int64_t mask_bytes(const Operation& operation) {
    if (!drops(operation)) return 0;
    const TensorType& self = first(operation);
    if (operation.target == "aten::dropout") return element_count(self);
    if (!operation.target.starts_with("aten::feature_")) return byte_count(self);
    if (rank(self) < 2) refuse(operation, "there are no channels");
    return checked(operation, checked(operation, self.sizes[0], self.sizes[1]), element_bytes(self.dtype));
}

Counts dropout_forward(const Operation& operation) {
    if (!drops(operation)) return {};
    const TensorType& self = first(operation);
    return {0, 3 * element_count(self), input_bytes(operation), byte_count(self) + mask_bytes(operation)};
}

Counts dropout_backward(const Operation& operation) {
    if (!drops(operation)) return {};
    const TensorType& self = first(operation);
    return {0, 2 * element_count(self), byte_count(self) + mask_bytes(operation), gradient_bytes(operation)};
}

/// The gated half: a * sigmoid(b) over the halves of a dimension.
Types glu_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    Sizes sizes = self.sizes;
    std::int64_t& halved = sizes[dimension_argument(operation, self)];
    if (halved % 2 != 0) refuse(operation, "the halved size is odd");
    halved /= 2;
    return {like(strided(self.dtype, std::move(sizes), strides_of(self)))};
}

template <auto Outputs>
constexpr Row additive(std::string_view schema) {
    return {schema, Family::elementwise, Outputs, &streamed<Outputs, 1>, &addition_backward<Outputs>};
}
template <auto Outputs, std::int64_t cost = 1>
constexpr Row multiplicative(std::string_view schema) {
    return {schema,
            Family::elementwise,
            Outputs,
            &streamed<Outputs, cost>,
            &product_backward<Outputs, cost, &saves_other_operand>,
            &saves_other_operand};
}
template <auto Outputs>
constexpr Row chosen(std::string_view schema) {
    return {schema,
            Family::elementwise,
            Outputs,
            &streamed<Outputs, 1>,
            &product_backward<Outputs, 1, &saves_condition>,
            &saves_condition};
}
/// Factors of the input's type in place of a mask of bytes.
std::optional<KeptTensors> factors_on_cpu(const Operation& operation) {
    if (!drops(operation)) return std::nullopt;
    return KeptTensors{{}, static_cast<double>(byte_count(first(operation)))};
}

template <auto Outputs>
constexpr Row dropout(std::string_view schema) {
    return {schema, Family::elementwise, Outputs, &dropout_forward, &dropout_backward, nullptr, &mask_bytes};
}

constexpr Row with_factors_on_cpu(Row row) {
    row.kept_on_cpu = &factors_on_cpu;
    return row;
}

constexpr std::array rows{
    // Activations.
    same<1, Keeps::output>("aten::relu(Tensor self) -> Tensor"),
    overwriting<1, Keeps::output>("aten::relu_(Tensor(a!) self) -> Tensor(a!)"),
    same<2, Keeps::input>("aten::relu6(Tensor self) -> Tensor"),
    same<2, Keeps::input>("aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor"),
    same<2, Keeps::input>("aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor"),
    same<2, Keeps::input>("aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor"),
    same<2, Keeps::input>("aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor"),
    overwriting<2, Keeps::output>("aten::leaky_relu_(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)"),
    copying<2>("aten::threshold_(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)"),
    copying<2>("aten::relu6_(Tensor(a!) self) -> Tensor(a!)"),
    copying<2>("aten::hardtanh_(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)"),
    copying<2>("aten::clamp_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)"),
    same<1, Keeps::input>("aten::clamp_min(Tensor self, Scalar min) -> Tensor"),
    same<1, Keeps::input>("aten::clamp_max(Tensor self, Scalar max) -> Tensor"),
    copying<1>("aten::clamp_min_(Tensor(a!) self, Scalar min) -> Tensor(a!)"),
    copying<1>("aten::clamp_max_(Tensor(a!) self, Scalar max) -> Tensor(a!)"),
    same<5, Keeps::input>("aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor"),
    same<5, Keeps::input>("aten::silu(Tensor self) -> Tensor"),
    same<5, Keeps::input>("aten::hardswish(Tensor self) -> Tensor"),
    copying<5>("aten::gelu_(Tensor(a!) self, *, str approximate=\"none\") -> Tensor(a!)"),
    copying<5>("aten::silu_(Tensor(a!) self) -> Tensor(a!)"),
    copying<5>("aten::hardswish_(Tensor(a!) self) -> Tensor(a!)"),
    same<4, Keeps::input>("aten::hardsigmoid(Tensor self) -> Tensor"),
    same<4, Keeps::input>("aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor"),
    same<4, Keeps::input>("aten::selu(Tensor self) -> Tensor"),
    cast(f32_on_gpu,
         same<4, Keeps::input>("aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor")),
    same<4, Keeps::input>("aten::log_sigmoid(Tensor self) -> Tensor"),
    copying<4>("aten::hardsigmoid_(Tensor(a!) self) -> Tensor(a!)"),
    overwriting<4, Keeps::output>(
        "aten::elu_(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor(a!)"),
    overwriting<4, Keeps::output>("aten::selu_(Tensor(a!) self) -> Tensor(a!)"),
    same<7, Keeps::input>("aten::mish(Tensor self) -> Tensor"),
    copying<7>("aten::mish_(Tensor(a!) self) -> Tensor(a!)"),
    floating<4, Keeps::output>("aten::sigmoid(Tensor self) -> Tensor"),
    overwriting<4, Keeps::output>("aten::sigmoid_(Tensor(a!) self) -> Tensor(a!)"),
    floating<1, Keeps::output>("aten::tanh(Tensor self) -> Tensor"),
    overwriting<1, Keeps::output>("aten::tanh_(Tensor(a!) self) -> Tensor(a!)"),
    cast(lowered, keeping<&same_as_first, 2>("aten::prelu(Tensor self, Tensor weight) -> Tensor")),
    mapped<&glu_outputs, 5, Keeps::input>("aten::glu(Tensor self, int dim=-1) -> Tensor"),
    // Functions of one tensor.
    cast(f32_on_gpu, floating<1, Keeps::output>("aten::exp(Tensor self) -> Tensor")),
    floating<1, Keeps::output>("aten::sqrt(Tensor self) -> Tensor"),
    cast(f32_on_gpu, floating<1, Keeps::output>("aten::rsqrt(Tensor self) -> Tensor")),
    cast(f32_on_gpu, floating<1, Keeps::output>("aten::reciprocal(Tensor self) -> Tensor")),
    overwriting<1, Keeps::output>("aten::exp_(Tensor(a!) self) -> Tensor(a!)"),
    overwriting<1, Keeps::output>("aten::sqrt_(Tensor(a!) self) -> Tensor(a!)"),
    overwriting<1, Keeps::output>("aten::rsqrt_(Tensor(a!) self) -> Tensor(a!)"),
    overwriting<1, Keeps::output>("aten::reciprocal_(Tensor(a!) self) -> Tensor(a!)"),
    cast(f32_on_gpu, floating<1, Keeps::input>("aten::log(Tensor self) -> Tensor")),
    cast(f32_on_gpu, floating<1, Keeps::input>("aten::log2(Tensor self) -> Tensor")),
    cast(f32_on_gpu, floating<1, Keeps::input>("aten::log10(Tensor self) -> Tensor")),
    floating<1, Keeps::input>("aten::sin(Tensor self) -> Tensor"),
    floating<1, Keeps::input>("aten::cos(Tensor self) -> Tensor"),
    floating<1, Keeps::input>("aten::erf(Tensor self) -> Tensor"),
    cast(f32_on_gpu, floating<2, Keeps::input>("aten::log1p(Tensor self) -> Tensor")),
    cast(f32_on_gpu, floating<2, Keeps::input>("aten::expm1(Tensor self) -> Tensor")),
    same<1, Keeps::nothing>("aten::neg(Tensor self) -> Tensor"),
    overwriting<1, Keeps::nothing>("aten::neg_(Tensor(a!) self) -> Tensor(a!)"),
    same<1, Keeps::input>("aten::abs(Tensor self) -> Tensor"),
    same<1, Keeps::input>("aten::square(Tensor self) -> Tensor"),
    copying<1>("aten::abs_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::square_(Tensor(a!) self) -> Tensor(a!)"),
    mapped<&contiguous_as_first, 1, Keeps::nothing>("aten::tril(Tensor self, SymInt diagonal=0) -> Tensor"),
    mapped<&contiguous_as_first, 1, Keeps::nothing>("aten::triu(Tensor self, SymInt diagonal=0) -> Tensor"),
    constant<&same_as_first>("aten::floor(Tensor self) -> Tensor"),
    constant<&same_as_first>("aten::ceil(Tensor self) -> Tensor"),
    constant<&same_as_first>("aten::round(Tensor self) -> Tensor"),
    constant<&same_as_first>("aten::trunc(Tensor self) -> Tensor"),
    constant<&same_as_first>("aten::sign(Tensor self) -> Tensor"),
    constant<&same_as_first>("aten::bitwise_not(Tensor self) -> Tensor"),
    constant<&boolean_as_first>("aten::logical_not(Tensor self) -> Tensor"),
    constant<&boolean_as_first>("aten::isnan(Tensor self) -> Tensor"),
    constant<&boolean_as_first>("aten::isinf(Tensor self) -> Tensor"),
    constant<&boolean_as_first>("aten::isfinite(Tensor self) -> Tensor"),
    // Two operands.
    additive<&pair_outputs>("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"),
    additive<&pair_outputs>("aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"),
    additive<&pair_outputs>("aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"),
    additive<&pair_outputs>("aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"),
    additive<&pair_outputs>("aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"),
    additive<&pair_outputs>("aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"),
    additive<&first_itself>("aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"),
    additive<&first_itself>("aten::add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)"),
    additive<&first_itself>("aten::sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"),
    additive<&first_itself>("aten::sub_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)"),
    multiplicative<&pair_outputs>("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor"),
    multiplicative<&pair_outputs>("aten::mul.Scalar(Tensor self, Scalar other) -> Tensor"),
    multiplicative<&first_itself>("aten::mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    multiplicative<&first_itself>("aten::mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    multiplicative<&floating_pair_outputs>("aten::div.Tensor(Tensor self, Tensor other) -> Tensor"),
    multiplicative<&floating_pair_outputs>("aten::div.Scalar(Tensor self, Scalar other) -> Tensor"),
    multiplicative<&first_itself>("aten::div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    multiplicative<&first_itself>("aten::div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    keeping<&pair_outputs, 1>("aten::maximum(Tensor self, Tensor other) -> Tensor"),
    keeping<&pair_outputs, 1>("aten::minimum(Tensor self, Tensor other) -> Tensor"),
    cast(f32_on_gpu, keeping<&pair_outputs, 2>("aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor")),
    cast(f32_on_gpu, keeping<&pair_outputs, 2>("aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor")),
    copying<2>("aten::pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)"),
    cast(promoted_on_gpu,
         keeping<&broadcast_as_first, 3>(
             "aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor")),
    cast(promoted_on_gpu,
         keeping<&broadcast_as_first, 3>(
             "aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor")),
    keeping<&broadcast_as_first, 3>("aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor"),
    keeping<&broadcast_as_first, 3>("aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor"),
    keeping<&first_itself, 3>(
        "aten::addcmul_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)"),
    keeping<&first_itself, 3>(
        "aten::addcdiv_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)"),
    keeping<&first_itself, 3>("aten::lerp_.Tensor(Tensor(a!) self, Tensor end, Tensor weight) -> Tensor(a!)"),
    keeping<&first_itself, 3>("aten::lerp_.Scalar(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!)"),
    constant<&pair_outputs>("aten::floor_divide(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&pair_outputs>("aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&pair_outputs>("aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&pair_outputs>("aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::__or__.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::__xor__.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::eq.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::ne.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::lt.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::le.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::gt.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::ge.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::eq.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::ne.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::lt.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::le.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::gt.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::ge.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::logical_and(Tensor self, Tensor other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::logical_or(Tensor self, Tensor other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::logical_xor(Tensor self, Tensor other) -> Tensor"),
    // Choices.
    chosen<&where_outputs>("aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor"),
    chosen<&where_outputs>("aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor"),
    chosen<&where_outputs>("aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor"),
    chosen<&masked_outputs>("aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor"),
    chosen<&masked_outputs>("aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor"),
    chosen<&first_itself>("aten::masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)"),
    chosen<&first_itself>("aten::masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)"),
    with_factors_on_cpu(dropout<&dropout_outputs>("aten::dropout(Tensor input, float p, bool train) -> Tensor")),
    dropout<&dropout_outputs>("aten::feature_dropout(Tensor input, float p, bool train) -> Tensor"),
    dropout<&dropout_outputs>("aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor"),
    dropout<&first_itself>("aten::dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)"),
    dropout<&first_itself>("aten::feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)"),
    dropout<&same_as_first>("aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor"),
    dropout<&first_itself>("aten::alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)"),
    dropout<&first_itself>("aten::feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)"),
};

}  // namespace

std::span<const Row> elementwise_rows() {
    return rows;
}

}  // namespace joulecast::records
