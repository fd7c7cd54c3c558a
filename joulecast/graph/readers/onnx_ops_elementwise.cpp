#include <array>

#include "joulecast/graph/readers/onnx_ops.h"

namespace joulecast::onnx {

namespace {

/// A known single number, in the form in which ATen takes it, where it broadens no tensor of `rank` dimensions.
std::optional<Value> number(const Call& call, std::size_t input, std::int64_t rank) {
    const auto value = call.scalar(input);
    if (!value || call.rank(input) > rank) return std::nullopt;
    const Constant& constant = *call.known(input);
    if (constant.is_real()) return Value(*value);
    if (constant.dtype == Dtype::boolean) return Value(*value != 0.0);
    return Value(constant.integers[0]);
}

template <Target target>
void unary(Call& call) {
    call.output(0, call.emit(target.string(), {{"self", call.tensor(0)}}));
}

/// self and other, with a number in place of a known single value. `both` holds for those that may be swapped.
Operand pair(Call& call, const std::string& target, bool both) {
    if (const auto second = number(call, 1, call.rank(0)); second && call.scalar(0) == std::nullopt)
        return call.emit(target, {{"self", call.tensor(0)}, {"other", *second}});
    if (const auto first = number(call, 0, call.rank(1)); first && both)
        return call.emit(target, {{"self", call.tensor(1)}, {"other", *first}});
    return call.emit(target, {{"self", call.tensor(0)}, {"other", call.tensor(1)}});
}

template <Target target>
void commutative(Call& call) {
    call.output(0, pair(call, target.string(), true));
}

template <Target target>
void ordered(Call& call) {
    call.output(0, pair(call, target.string(), false));
}

void subtract(Call& call) {
    const auto first = number(call, 0, call.rank(1));
    if (first && !call.scalar(1))
        return call.output(0, call.emit("aten::rsub.Scalar", {{"self", call.tensor(1)}, {"other", *first}}));
    ordered<"aten::sub.Tensor">(call);
}

/// torch writes number / x as reciprocal, then a product; integers are divided towards zero.
void divide(Call& call) {
    if (!is_floating(call.type(0).dtype)) return ordered<"aten::floor_divide">(call);
    const auto first = number(call, 0, call.rank(1));
    if (!first || call.scalar(1)) return ordered<"aten::div.Tensor">(call);
    Operand result = call.emit("aten::reciprocal", {{"self", call.tensor(1)}});
    if (*call.scalar(0) != 1.0) result = call.emit("aten::mul.Tensor", {{"self", result}, {"other", *first}});
    call.output(0, result);
}

void power(Call& call) {
    const auto exponent = number(call, 1, call.rank(0));
    Operand result =
        exponent ? call.emit("aten::pow.Tensor_Scalar", {{"self", call.tensor(0)}, {"exponent", *exponent}})
                 : call.emit("aten::pow.Tensor_Tensor", {{"self", call.tensor(0)}, {"exponent", call.tensor(1)}});
    // In ONNX it has the base's type, in torch the wider one.
    const Dtype dtype = call.type(0).dtype;
    if (result.type.dtype != dtype) result = call.emit("aten::to.dtype", {{"self", result}, {"dtype", Value(dtype)}});
    call.output(0, result);
}

void modulo(Call& call) {
    if (call.integer("fmod", 0) != 0) return ordered<"aten::fmod.Tensor">(call);
    ordered<"aten::remainder.Tensor">(call);
}

void shift(Call& call) {
    if (call.text("direction", "") == "LEFT") return ordered<"aten::__lshift__.Tensor">(call);
    ordered<"aten::__rshift__.Tensor">(call);
}

template <Target target, Target scalar_target>
void comparison(Call& call) {
    if (const auto second = number(call, 1, call.rank(0)); second && !call.scalar(0))
        return call.output(0, call.emit(scalar_target.string(), {{"self", call.tensor(0)}, {"other", *second}}));
    call.output(0, call.emit(target.string(), {{"self", call.tensor(0)}, {"other", call.tensor(1)}}));
}

/// Any number of operands, two at a time.
template <Target target>
Operand chained(Call& call) {
    Operand result = call.tensor(0);
    for (std::size_t i = 1; i < call.input_count(); ++i)
        result = call.emit(target.string(), {{"self", result}, {"other", call.tensor(i)}});
    return result;
}

template <Target target, Target scalar_target, Target bound>
void extremum(Call& call) {
    if (call.input_count() == 1) return call.forward(0, 0);
    const std::size_t other = call.scalar(0) ? 0 : 1;
    const std::size_t self = 1 - other;
    if (call.input_count() == 2 && !call.scalar(self))
        if (const auto second = number(call, other, call.rank(self)))
            return call.output(
                0, call.emit(scalar_target.string(), {{"self", call.tensor(self)}, {bound.string(), *second}}));
    call.output(0, chained<target>(call));
}

void sum(Call& call) {
    if (call.input_count() == 1) return call.forward(0, 0);
    call.output(0, chained<"aten::add.Tensor">(call));
}

void mean(Call& call) {
    if (call.input_count() == 1) return call.forward(0, 0);
    call.output(0, call.emit("aten::div.Tensor", {{"self", chained<"aten::add.Tensor">(call)},
                                                  {"other", Value(static_cast<double>(call.input_count()))}}));
}

void where(Call& call) {
    const Operand condition = call.tensor(0);
    const std::int64_t rank = call.rank(0);
    const auto first = number(call, 1, std::max(rank, call.rank(2)));
    const auto second = number(call, 2, std::max(rank, call.rank(1)));
    // A number has no dtype of its own: only floats are f32 without being asked.
    if (second && call.type(2).dtype == call.type(1).dtype && !first)
        return call.output(0, call.emit("aten::where.ScalarOther",
                                        {{"condition", condition}, {"self", call.tensor(1)}, {"other", *second}}));
    if (first && !second)
        return call.output(0, call.emit("aten::where.ScalarSelf",
                                        {{"condition", condition}, {"self", *first}, {"other", call.tensor(2)}}));
    call.output(0, call.emit("aten::where.self",
                             {{"condition", condition}, {"self", call.tensor(1)}, {"other", call.tensor(2)}}));
}

}  // namespace

std::span<const Row> elementwise_rows() {
    static constexpr std::array rows{
        Row{"Add", 1, &commutative<"aten::add.Tensor">},
        Row{"Sub", 1, &subtract},
        Row{"Mul", 1, &commutative<"aten::mul.Tensor">},
        Row{"Div", 1, &divide},
        Row{"Pow", 1, &power},
        Row{"Mod", 10, &modulo},
        Row{"Sum", 1, &sum},
        Row{"Mean", 1, &mean},
        Row{"Max", 1, &extremum<"aten::maximum", "aten::clamp_min", "min">},
        Row{"Min", 1, &extremum<"aten::minimum", "aten::clamp_max", "max">},
        Row{"Where", 9, &where},
        Row{"Equal", 1, &comparison<"aten::eq.Tensor", "aten::eq.Scalar">},
        Row{"Greater", 1, &comparison<"aten::gt.Tensor", "aten::gt.Scalar">},
        Row{"Less", 1, &comparison<"aten::lt.Tensor", "aten::lt.Scalar">},
        Row{"GreaterOrEqual", 12, &comparison<"aten::ge.Tensor", "aten::ge.Scalar">},
        Row{"LessOrEqual", 12, &comparison<"aten::le.Tensor", "aten::le.Scalar">},
        Row{"And", 1, &ordered<"aten::logical_and">},
        Row{"Or", 1, &ordered<"aten::logical_or">},
        Row{"Xor", 1, &ordered<"aten::logical_xor">},
        Row{"BitwiseAnd", 18, &ordered<"aten::bitwise_and.Tensor">},
        Row{"BitwiseOr", 18, &ordered<"aten::bitwise_or.Tensor">},
        Row{"BitwiseXor", 18, &ordered<"aten::bitwise_xor.Tensor">},
        Row{"BitwiseNot", 18, &unary<"aten::bitwise_not">},
        Row{"Not", 1, &unary<"aten::logical_not">},
        Row{"Neg", 1, &unary<"aten::neg">},
        Row{"Abs", 1, &unary<"aten::abs">},
        Row{"Sqrt", 1, &unary<"aten::sqrt">},
        Row{"Reciprocal", 1, &unary<"aten::reciprocal">},
        Row{"Exp", 1, &unary<"aten::exp">},
        Row{"Log", 1, &unary<"aten::log">},
        Row{"Erf", 9, &unary<"aten::erf">},
        Row{"Sin", 7, &unary<"aten::sin">},
        Row{"Cos", 7, &unary<"aten::cos">},
        Row{"Tan", 7, &unary<"aten::tan">},
        Row{"Asin", 7, &unary<"aten::asin">},
        Row{"Acos", 7, &unary<"aten::acos">},
        Row{"Atan", 7, &unary<"aten::atan">},
        Row{"Sinh", 9, &unary<"aten::sinh">},
        Row{"Cosh", 9, &unary<"aten::cosh">},
        Row{"Asinh", 9, &unary<"aten::asinh">},
        Row{"Acosh", 9, &unary<"aten::acosh">},
        Row{"Atanh", 9, &unary<"aten::atanh">},
        Row{"Det", 11, &unary<"aten::det">},
        Row{"BitShift", 11, &shift},
        Row{"Floor", 1, &unary<"aten::floor">},
        Row{"Ceil", 1, &unary<"aten::ceil">},
        Row{"Round", 11, &unary<"aten::round">},
        Row{"Sign", 9, &unary<"aten::sign">},
        Row{"IsNaN", 9, &unary<"aten::isnan">},
        Row{"IsInf", 10, &unary<"aten::isinf">},
    };
    return rows;
}

}  // namespace joulecast::onnx
