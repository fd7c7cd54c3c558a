// Operations of two or three tensors beside the common ones in ops_elementwise.cpp.

#include <array>

#include "joulecast/graph/pointwise.h"

namespace joulecast::records {

namespace {

/// Division with a rounding mode keeps integers; true division makes them floats.
Types rounded_division_outputs(const Operation& operation) {
    const Value mode = argument_or_default<Value>(operation, "rounding_mode");
    return std::holds_alternative<None>(mode) ? floating_pair_outputs(operation) : pair_outputs(operation);
}

/// float_power computes in f64 (c128).
Types double_outputs(const Operation& operation) {
    Types types = pair_outputs(operation);
    Dtype& dtype = types.front().dtype;
    dtype = dtype == Dtype::c64 || dtype == Dtype::c128 ? Dtype::c128 : Dtype::f64;
    return types;
}

/// self between the tensors min and max; either may be none, not both.
Types clamp_outputs(const Operation& operation) {
    const auto parameters = find_record(operation.target)->parameters;
    if (parameters.size() == 2) return pair_outputs(operation);
    if (optional_tensor(operation, "min") == nullptr && optional_tensor(operation, "max") == nullptr) {
        refuse(operation, "neither min nor max is given");
    }
    return {iterated(operation, promoted(operation, {"self", "min", "max"}), broadcast_of_all(operation))};
}

/// Two real tensors make a complex one.
Types complex_outputs(const Operation& operation) {
    Types types = pair_outputs(operation);
    Dtype& dtype = types.front().dtype;
    if (dtype != Dtype::f32 && dtype != Dtype::f64) refuse(operation, "complex numbers are made of f32 or f64");
    dtype = dtype == Dtype::f32 ? Dtype::c64 : Dtype::c128;
    return types;
}

/// A plain choice between two numbers or a tensor and a number; the condition is no operand.
Types scalar_choice_outputs(const Operation& operation) {
    return {iterated(operation, promoted(operation, {"self", "other"}), broadcast_of_all(operation))};
}

Types in_test_outputs(const Operation& operation) {
    const Value value = argument_or_default<Value>(operation, find_record(operation.target)->parameters[0].name);
    const auto* elements = std::get_if<TensorType>(&value);
    return {make(Dtype::boolean, elements == nullptr ? Sizes{} : elements->sizes)};
}

Types true_or_false(const Operation& /*operation*/) {
    return {};
}

constexpr std::array rows{
    sum_of<&pair_outputs>("aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"),
    sum_of<&pair_outputs>("aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"),
    sum_of<&first_itself>("aten::subtract_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"),
    sum_of<&first_itself>("aten::subtract_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)"),
    product_of<&pair_outputs>("aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor"),
    product_of<&pair_outputs>("aten::multiply.Scalar(Tensor self, Scalar other) -> Tensor"),
    product_of<&first_itself>("aten::multiply_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    product_of<&first_itself>("aten::multiply_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    product_of<&first_itself>("aten::true_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    product_of<&first_itself>("aten::true_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    product_of<&first_itself>("aten::divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    product_of<&first_itself>("aten::divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    product_of<&floating_pair_outputs>("aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor"),
    product_of<&floating_pair_outputs>("aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor"),
    product_of<&floating_pair_outputs>("aten::divide.Tensor(Tensor self, Tensor other) -> Tensor"),
    product_of<&floating_pair_outputs>("aten::divide.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&rounded_division_outputs>(
        "aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor"),
    constant<&rounded_division_outputs>(
        "aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor"),
    constant<&rounded_division_outputs>(
        "aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor"),
    constant<&rounded_division_outputs>(
        "aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor"),
    constant<&first_itself>(
        "aten::div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)"),
    constant<&first_itself>(
        "aten::div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> Tensor(a!)"),
    constant<&first_itself>("aten::floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::floor_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::fmod_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::fmod_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::remainder_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::remainder_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&pair_outputs>("aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"),
    cast(promoted_on_gpu, keeping<&floating_pair_outputs, 2>("aten::atan2(Tensor self, Tensor other) -> Tensor")),
    keeping<&floating_pair_outputs, 2>("aten::arctan2(Tensor self, Tensor other) -> Tensor"),
    keeping<&floating_pair_outputs, 2>("aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor"),
    keeping<&floating_pair_outputs, 2>("aten::xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor"),
    keeping<&floating_pair_outputs, 2>("aten::xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor"),
    keeping<&floating_pair_outputs, 2>("aten::special_xlogy(Tensor self, Tensor other) -> Tensor"),
    keeping<&floating_pair_outputs, 2>("aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor"),
    keeping<&floating_pair_outputs, 2>("aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor"),
    keeping<&floating_pair_outputs, 2>("aten::special_xlog1py(Tensor self, Tensor other) -> Tensor"),
    keeping<&floating_pair_outputs, 2>("aten::special_xlog1py.self_scalar(Scalar self, Tensor other) -> Tensor"),
    keeping<&floating_pair_outputs, 2>("aten::special_xlog1py.other_scalar(Tensor self, Scalar other) -> Tensor"),
    keeping<&pair_outputs, 2>("aten::logaddexp(Tensor self, Tensor other) -> Tensor"),
    keeping<&pair_outputs, 2>("aten::logaddexp2(Tensor self, Tensor other) -> Tensor"),
    keeping<&pair_outputs, 3>("aten::hypot(Tensor self, Tensor other) -> Tensor"),
    keeping<&floating_pair_outputs, 1>("aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor"),
    keeping<&floating_pair_outputs, 1>("aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor"),
    keeping<&pair_outputs, 1>("aten::fmax(Tensor self, Tensor other) -> Tensor"),
    keeping<&pair_outputs, 1>("aten::fmin(Tensor self, Tensor other) -> Tensor"),
    keeping<&pair_outputs, 1>("aten::max.other(Tensor self, Tensor other) -> Tensor"),
    keeping<&pair_outputs, 1>("aten::min.other(Tensor self, Tensor other) -> Tensor"),
    cast(f32_on_gpu, keeping<&pair_outputs, 2>("aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor")),
    keeping<&double_outputs, 2>("aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor"),
    keeping<&double_outputs, 2>("aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor"),
    keeping<&double_outputs, 2>("aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor"),
    copying<2>("aten::pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)"),
    copying<2>("aten::atan2_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    copying<2>("aten::arctan2_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    copying<2>("aten::xlogy_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    copying<2>("aten::xlogy_.Scalar_Other(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    copying<2>("aten::float_power_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)"),
    copying<2>("aten::float_power_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)"),
    copying<3>("aten::hypot_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    copying<1>("aten::copysign_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    copying<1>("aten::copysign_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&pair_outputs>("aten::nextafter(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::heaviside(Tensor self, Tensor values) -> Tensor"),
    constant<&pair_outputs>("aten::gcd(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::lcm(Tensor self, Tensor other) -> Tensor"),
    constant<&first_itself>("aten::nextafter_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::heaviside_(Tensor(a!) self, Tensor values) -> Tensor(a!)"),
    constant<&first_itself>("aten::gcd_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::lcm_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    keeping<&floating_pair_outputs, 10>("aten::igamma(Tensor self, Tensor other) -> Tensor"),
    keeping<&floating_pair_outputs, 10>("aten::igammac(Tensor self, Tensor other) -> Tensor"),
    keeping<&floating_pair_outputs, 10>("aten::special_zeta(Tensor self, Tensor other) -> Tensor"),
    keeping<&floating_pair_outputs, 10>("aten::polygamma(int n, Tensor self) -> Tensor"),
    product_of<&floating_pair_outputs, 2>("aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor"),
    keeping<&clamp_outputs, 2>("aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"),
    keeping<&clamp_outputs, 2>("aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"),
    keeping<&clamp_outputs, 1>("aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor"),
    keeping<&clamp_outputs, 1>("aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor"),
    copying<2>("aten::clamp_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)"),
    copying<2>("aten::clip_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)"),
    copying<1>("aten::clamp_min_.Tensor(Tensor(a!) self, Tensor min) -> Tensor(a!)"),
    copying<1>("aten::clamp_max_.Tensor(Tensor(a!) self, Tensor max) -> Tensor(a!)"),
    constant<&boolean_pair_outputs>("aten::not_equal.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::not_equal.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::less.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::less.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::less_equal.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::less_equal.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::greater.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::greater.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::greater_equal.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::greater_equal.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&boolean_pair_outputs>("aten::isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float "
                                    "atol=1e-08, bool equal_nan=False) -> Tensor"),
    constant<&first_itself>("aten::eq_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::eq_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::ne_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::ne_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::lt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::lt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::le_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::le_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::gt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::gt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::ge_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::ge_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::logical_and_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::logical_or_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::logical_xor_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&pair_outputs>("aten::bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::__and__.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&pair_outputs>("aten::__or__.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&pair_outputs>("aten::__xor__.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&pair_outputs>("aten::__lshift__.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::__lshift__.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&pair_outputs>("aten::__rshift__.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::__rshift__.Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor"),
    constant<&pair_outputs>("aten::bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor"),
    constant<&first_itself>("aten::bitwise_and_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::bitwise_and_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::bitwise_or_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::bitwise_or_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::bitwise_xor_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::bitwise_xor_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::bitwise_left_shift_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::bitwise_left_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::bitwise_right_shift_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::bitwise_right_shift_.Tensor_Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::__ior__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::__ior__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::__ixor__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::__ixor__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::__ilshift__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::__ilshift__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    constant<&first_itself>("aten::__irshift__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    constant<&first_itself>("aten::__irshift__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    product_of<&complex_outputs, 1>("aten::complex(Tensor real, Tensor imag) -> Tensor"),
    cast(f32_on_cpu, keeping<&complex_outputs, 3>("aten::polar(Tensor abs, Tensor angle) -> Tensor")),
    constant<&scalar_choice_outputs>("aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor"),
    constant<&in_test_outputs>("aten::isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool "
                               "assume_unique=False, bool invert=False) -> Tensor"),
    constant<&in_test_outputs>("aten::isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool "
                               "assume_unique=False, bool invert=False) -> Tensor"),
    constant<&in_test_outputs>("aten::isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool "
                               "assume_unique=False, bool invert=False) -> Tensor"),
    waiting(constant<&true_or_false>("aten::equal(Tensor self, Tensor other) -> bool")),
    waiting(
        constant<&true_or_false>("aten::allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float "
                                 "atol=1e-08, bool equal_nan=False) -> bool")),
    product_of<&floating_pair_outputs>("aten::div.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)"),
};

}  // namespace

std::span<const Row> arithmetic_rows() {
    return rows;
}

}  // namespace joulecast::records
