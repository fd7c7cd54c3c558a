// Functions of one tensor beside the common ones in ops_elementwise.cpp.

#include <array>

#include "joulecast/graph/pointwise.h"

namespace joulecast::records {

namespace {

/// rrelu in training draws a slope for each negative element and keeps all of them, as factors of the input's dtype.
Counts noisy_forward(const Operation& operation) {
    Counts counts = streamed<&first_itself, 3>(operation);
    if (flag(operation, "training")) counts.bytes_written = added(counts.bytes_written, byte_count(first(operation)));
    return counts;
}

std::int64_t noise_bytes(const Operation& operation) {
    return flag(operation, "training") ? gradient_bytes(&first(operation)) : 0;
}

template <auto Outputs>
constexpr Row randomly_leaky(std::string_view schema) {
    return {schema,       Family::elementwise, Outputs, &noisy_forward, &gradient_with_saved<Outputs, 2>,
            &saves_first, &noise_bytes};
}

TensorType unmarked(TensorType type) {
    type.requires_grad = false;
    return type;
}

/// The same with the noise as a tensor: written where it comes in, or handed out as a second output.
Types with_noise_outputs(const Operation& operation) {
    Types types = same_as_first(operation);
    if (operation.target.ends_with("_functional")) types.push_back(unmarked(tensor(operation, "noise")));
    return types;
}

constexpr Row with_noise(std::string_view schema) {
    return {schema,
            Family::elementwise,
            &with_noise_outputs,
            &noisy_forward,
            &gradient_with_saved<&with_noise_outputs, 2>,
            &saves_all_operands};
}

/// log_sigmoid keeps exp(-|x|).
Types log_sigmoid_outputs(const Operation& operation) {
    const Types types = same_as_first(operation);
    return {types.front(), types.front()};
}

/// The integer's digits are lost: only floats have a fraction and an exponent.
Types mantissa_and_exponent(const Operation& operation) {
    const Types types = same_as_first(operation);
    TensorType exponent = types.front();
    exponent.dtype = Dtype::i32;
    return {types.front(), exponent};
}

/// Angle of a complex number, or of a real one: 0 or pi.
Types angle_outputs(const Operation& operation) {
    Types types = floating_as_first(operation);
    if (types.front().dtype == Dtype::c64) types.front().dtype = Dtype::f32;
    if (types.front().dtype == Dtype::c128) types.front().dtype = Dtype::f64;
    return types;
}

constexpr std::array rows{
    cast(f32_on_gpu, floating<1, Keeps::input>("aten::acos(Tensor self) -> Tensor")),
    floating<1, Keeps::input>("aten::acosh(Tensor self) -> Tensor"),
    cast(f32_on_gpu, floating<1, Keeps::input>("aten::asin(Tensor self) -> Tensor")),
    floating<1, Keeps::input>("aten::asinh(Tensor self) -> Tensor"),
    floating<1, Keeps::input>("aten::atan(Tensor self) -> Tensor"),
    floating<1, Keeps::input>("aten::atanh(Tensor self) -> Tensor"),
    floating<1, Keeps::input>("aten::arccos(Tensor self) -> Tensor"),
    floating<1, Keeps::input>("aten::arccosh(Tensor self) -> Tensor"),
    floating<1, Keeps::input>("aten::arcsin(Tensor self) -> Tensor"),
    floating<1, Keeps::input>("aten::arcsinh(Tensor self) -> Tensor"),
    floating<1, Keeps::input>("aten::arctan(Tensor self) -> Tensor"),
    floating<1, Keeps::input>("aten::arctanh(Tensor self) -> Tensor"),
    cast(f32_on_gpu, floating<1, Keeps::input>("aten::cosh(Tensor self) -> Tensor")),
    cast(f32_on_gpu, floating<1, Keeps::input>("aten::sinh(Tensor self) -> Tensor")),
    floating<1, Keeps::input>("aten::erfc(Tensor self) -> Tensor"),
    floating<1, Keeps::input>("aten::special_erf(Tensor self) -> Tensor"),
    floating<1, Keeps::input>("aten::special_erfc(Tensor self) -> Tensor"),
    floating<1, Keeps::output>("aten::exp2(Tensor self) -> Tensor"),
    floating<1, Keeps::output>("aten::special_exp2(Tensor self) -> Tensor"),
    cast(f32_on_gpu, floating<1, Keeps::output>("aten::tan(Tensor self) -> Tensor")),
    floating<1, Keeps::output>("aten::special_expit(Tensor self) -> Tensor"),
    cast(f32_on_gpu, floating<1, Keeps::output>("aten::erfinv(Tensor self) -> Tensor")),
    floating<1, Keeps::output>("aten::special_erfinv(Tensor self) -> Tensor"),
    floating<2, Keeps::output>("aten::special_expm1(Tensor self) -> Tensor"),
    floating<2, Keeps::input>("aten::special_log1p(Tensor self) -> Tensor"),
    floating<2, Keeps::input>("aten::sinc(Tensor self) -> Tensor"),
    floating<2, Keeps::input>("aten::special_sinc(Tensor self) -> Tensor"),
    floating<2, Keeps::input>("aten::special_entr(Tensor self) -> Tensor"),
    floating<2, Keeps::input>("aten::special_ndtr(Tensor self) -> Tensor"),
    floating<2, Keeps::input>("aten::special_ndtri(Tensor self) -> Tensor"),
    floating<2, Keeps::input>("aten::special_log_ndtr(Tensor self) -> Tensor"),
    floating<2, Keeps::input>("aten::special_erfcx(Tensor self) -> Tensor"),
    floating<10, Keeps::input>("aten::digamma(Tensor self) -> Tensor"),
    floating<10, Keeps::input>("aten::special_digamma(Tensor self) -> Tensor"),
    floating<10, Keeps::input>("aten::special_psi(Tensor self) -> Tensor"),
    floating<10, Keeps::input>("aten::lgamma(Tensor self) -> Tensor"),
    floating<10, Keeps::input>("aten::special_gammaln(Tensor self) -> Tensor"),
    floating<10, Keeps::input>("aten::i0(Tensor self) -> Tensor"),
    floating<10, Keeps::input>("aten::special_i0(Tensor self) -> Tensor"),
    floating<10, Keeps::input>("aten::special_i0e(Tensor self) -> Tensor"),
    floating<10, Keeps::input>("aten::special_i1(Tensor self) -> Tensor"),
    floating<10, Keeps::input>("aten::special_i1e(Tensor self) -> Tensor"),
    floating<10, Keeps::input>("aten::special_bessel_j0(Tensor self) -> Tensor"),
    floating<10, Keeps::input>("aten::special_bessel_j1(Tensor self) -> Tensor"),
    floating<3, Keeps::input>("aten::logit(Tensor self, float? eps=None) -> Tensor"),
    floating<3, Keeps::input>("aten::special_logit(Tensor self, float? eps=None) -> Tensor"),
    floating<1, Keeps::nothing>("aten::deg2rad(Tensor self) -> Tensor"),
    floating<1, Keeps::nothing>("aten::rad2deg(Tensor self) -> Tensor"),
    mapped<&angle_outputs, 2, Keeps::input>("aten::angle(Tensor self) -> Tensor"),
    copying<1>("aten::acos_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::acosh_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::asin_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::asinh_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::atan_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::atanh_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::arccos_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::arccosh_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::arcsin_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::arcsinh_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::arctan_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::arctanh_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::cos_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::sin_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::cosh_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::sinh_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::erf_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::erfc_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::log_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::log2_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>("aten::log10_(Tensor(a!) self) -> Tensor(a!)"),
    overwriting<1, Keeps::output>("aten::exp2_(Tensor(a!) self) -> Tensor(a!)"),
    overwriting<1, Keeps::output>("aten::tan_(Tensor(a!) self) -> Tensor(a!)"),
    overwriting<1, Keeps::output>("aten::erfinv_(Tensor(a!) self) -> Tensor(a!)"),
    overwriting<2, Keeps::output>("aten::expm1_(Tensor(a!) self) -> Tensor(a!)"),
    copying<2>("aten::log1p_(Tensor(a!) self) -> Tensor(a!)"),
    copying<2>("aten::sinc_(Tensor(a!) self) -> Tensor(a!)"),
    copying<10>("aten::digamma_(Tensor(a!) self) -> Tensor(a!)"),
    copying<10>("aten::lgamma_(Tensor(a!) self) -> Tensor(a!)"),
    copying<10>("aten::i0_(Tensor(a!) self) -> Tensor(a!)"),
    copying<3>("aten::logit_(Tensor(a!) self, float? eps=None) -> Tensor(a!)"),
    overwriting<1, Keeps::nothing>("aten::deg2rad_(Tensor(a!) self) -> Tensor(a!)"),
    overwriting<1, Keeps::nothing>("aten::rad2deg_(Tensor(a!) self) -> Tensor(a!)"),
    overwriting<1, Keeps::nothing>("aten::negative_(Tensor(a!) self) -> Tensor(a!)"),
    overwriting<1, Keeps::nothing>("aten::frac_(Tensor(a!) self) -> Tensor(a!)"),
    overwriting<1, Keeps::nothing>("aten::tril_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)"),
    overwriting<1, Keeps::nothing>("aten::triu_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)"),
    overwriting<1, Keeps::nothing>("aten::conj_physical_(Tensor(a!) self) -> Tensor(a!)"),
    same<1, Keeps::nothing>("aten::negative(Tensor self) -> Tensor"),
    same<1, Keeps::nothing>("aten::frac(Tensor self) -> Tensor"),
    same<1, Keeps::nothing>("aten::conj_physical(Tensor self) -> Tensor"),
    same<1, Keeps::input>("aten::absolute(Tensor self) -> Tensor"),
    same<1, Keeps::input>(
        "aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor"),
    copying<1>("aten::absolute_(Tensor(a!) self) -> Tensor(a!)"),
    copying<1>(
        "aten::nan_to_num_(Tensor(a!) self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor(a!)"),
    same<2, Keeps::input>("aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor"),
    same<2, Keeps::input>("aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor"),
    same<2, Keeps::input>("aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor"),
    copying<2>("aten::clip_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)"),
    same<4, Keeps::input>("aten::celu(Tensor self, Scalar alpha=1.) -> Tensor"),
    overwriting<4, Keeps::output>("aten::celu_(Tensor(a!) self, Scalar alpha=1.) -> Tensor(a!)"),
    randomly_leaky<&same_as_first>("aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, "
                                   "bool training=False, Generator? generator=None) -> Tensor"),
    randomly_leaky<&first_itself>("aten::rrelu_(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.33333333333333331, "
                                  "bool training=False, Generator? generator=None) -> Tensor(a!)"),
    with_noise("aten::rrelu_with_noise(Tensor self, Tensor(b!) noise, Scalar lower=0.125, Scalar "
               "upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor"),
    with_noise(
        "aten::rrelu_with_noise_functional(Tensor self, Tensor noise, Scalar lower=0.125, Scalar "
        "upper=0.33333333333333331, bool training=False, Generator? generator=None) -> (Tensor, Tensor noise_out)"),
    mapped<&log_sigmoid_outputs, 4, Keeps::input>(
        "aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)"),
    constant<&same_as_first>("aten::fix(Tensor self) -> Tensor"),
    constant<&same_as_first>("aten::sgn(Tensor self) -> Tensor"),
    constant<&same_as_first>("aten::round.decimals(Tensor self, *, int decimals) -> Tensor"),
    constant<&same_as_first>("aten::special_round(Tensor self, *, int decimals=0) -> Tensor"),
    constant<&first_itself>("aten::floor_(Tensor(a!) self) -> Tensor(a!)"),
    constant<&first_itself>("aten::ceil_(Tensor(a!) self) -> Tensor(a!)"),
    constant<&first_itself>("aten::round_(Tensor(a!) self) -> Tensor(a!)"),
    constant<&first_itself>("aten::round_.decimals(Tensor(a!) self, *, int decimals) -> Tensor(a!)"),
    constant<&first_itself>("aten::trunc_(Tensor(a!) self) -> Tensor(a!)"),
    constant<&first_itself>("aten::fix_(Tensor(a!) self) -> Tensor(a!)"),
    constant<&first_itself>("aten::sign_(Tensor(a!) self) -> Tensor(a!)"),
    constant<&first_itself>("aten::sgn_(Tensor(a!) self) -> Tensor(a!)"),
    constant<&first_itself>("aten::logical_not_(Tensor(a!) self) -> Tensor(a!)"),
    constant<&first_itself>("aten::bitwise_not_(Tensor(a!) self) -> Tensor(a!)"),
    constant<&boolean_as_first>("aten::isneginf(Tensor self) -> Tensor"),
    constant<&boolean_as_first>("aten::isposinf(Tensor self) -> Tensor"),
    constant<&boolean_as_first>("aten::isreal(Tensor self) -> Tensor"),
    constant<&boolean_as_first>("aten::signbit(Tensor self) -> Tensor"),
    mapped<&mantissa_and_exponent, 1, Keeps::nothing>(
        "aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)"),
};

}  // namespace

std::span<const Row> functions_rows() {
    return rows;
}

}  // namespace joulecast::records
