#include <array>

#include "joulecast/graph/readers/onnx_ops.h"

namespace joulecast::onnx {

namespace {

template <Target target>
void unary(Call& call) {
    call.output(0, call.emit(target.string(), {{"self", call.tensor(0)}}));
}

void leaky_relu(Call& call) {
    call.output(0, call.emit("aten::leaky_relu",
                             {{"self", call.tensor(0)}, {"negative_slope", Value(call.real("alpha", 0.01))}}));
}

void elu(Call& call) {
    call.output(0, call.emit("aten::elu", {{"self", call.tensor(0)}, {"alpha", Value(call.real("alpha", 1.0))}}));
}

/// celu(x) is elu with its input scaled.
void celu(Call& call) {
    const double alpha = call.real("alpha", 1.0);
    call.output(0, call.emit("aten::elu", {{"self", call.tensor(0)},
                                           {"alpha", Value(alpha)},
                                           {"input_scale", Value(alpha == 0.0 ? 1.0 : 1.0 / alpha)}}));
}

void thresholded_relu(Call& call) {
    call.output(
        0, call.emit("aten::threshold",
                     {{"self", call.tensor(0)}, {"threshold", Value(call.real("alpha", 1.0))}, {"value", Value(0.0)}}));
}

/// x moved towards zero by `bias` beyond the threshold.
void shrink(Call& call) {
    const std::string target = call.real("bias", 0.0) == 0.0 ? "aten::hardshrink" : "aten::softshrink";
    call.output(0, call.emit(target, {{"self", call.tensor(0)}, {"lambd", Value(call.real("lambd", 0.5))}}));
}

void prelu(Call& call) {
    call.output(0, call.emit("aten::prelu", {{"self", call.tensor(0)}, {"weight", call.tensor(1)}}));
}

void gelu(Call& call) {
    call.output(0, call.emit("aten::gelu",
                             {{"self", call.tensor(0)}, {"approximate", Value(call.text("approximate", "none"))}}));
}

/// x / (1 + |x|)
void softsign(Call& call) {
    const Operand x = call.tensor(0);
    const Operand one_more =
        call.emit("aten::add.Tensor", {{"self", call.emit("aten::abs", {{"self", x}})}, {"other", Value(1.0)}});
    call.output(0, call.emit("aten::div.Tensor", {{"self", x}, {"other", one_more}}));
}

/// Bounds: attributes until operator set 10, inputs since; a bound computed by the network is a tensor.
void clip(Call& call) {
    const Operand x = call.tensor(0);
    const bool is_integer = !is_floating(x.type.dtype);
    const auto bound = [&](std::size_t input, const char* name) -> std::optional<double> {
        if (call.has(input)) return call.scalar(input);
        const Attribute* attribute = call.attribute(name);
        return attribute == nullptr ? std::nullopt : attribute->real;
    };
    const auto number = [&](double bounded) {
        return is_integer ? Value(static_cast<std::int64_t>(bounded)) : Value(bounded);
    };
    const auto low = bound(1, "min");
    const auto high = bound(2, "max");
    if ((call.has(1) && !low) || (call.has(2) && !high)) {
        Operand result = x;
        if (call.has(1)) result = call.emit("aten::maximum", {{"self", result}, {"other", call.tensor(1)}});
        if (call.has(2)) result = call.emit("aten::minimum", {{"self", result}, {"other", call.tensor(2)}});
        return call.output(0, result);
    }
    if (!low && !high) return call.forward(0, 0);
    if (low && high && *low == 0.0 && *high == 6.0)  // nn.ReLU6
        return call.output(
            0, call.emit("aten::hardtanh", {{"self", x}, {"min_val", number(0.0)}, {"max_val", number(6.0)}}));
    call.output(0, call.emit("aten::clamp", {{"self", x},
                                             {"min", low ? number(*low) : Value(None{})},
                                             {"max", high ? number(*high) : Value(None{})}}));
}

/// Until operator set 12 over everything from `axis` (1) on, taken as one dimension; since then over one axis (-1).
template <Target target>
void softmax_flattened(Call& call) {
    const Operand x = call.tensor(0);
    const auto rank = call.rank(0);
    const std::int64_t axis = rank == 0 ? 0 : call.axis(call.integer("axis", 1), rank);
    if (axis + 1 >= rank) return call.output(0, call.emit(target.string(), {{"self", x}, {"dim", Value(axis)}}));
    Sizes flat{1, 1};
    for (std::int64_t d = 0; d < rank; ++d) flat[d < axis ? 0 : 1] *= x.type.sizes[static_cast<std::size_t>(d)];
    const Operand rows = call.emit("aten::reshape", {{"self", x}, {"shape", Value(flat)}});
    const Operand result = call.emit(target.string(), {{"self", rows}, {"dim", Value(std::int64_t{1})}});
    call.output(0, call.emit("aten::reshape", {{"self", result}, {"shape", Value(x.type.sizes)}}));
}

template <Target target>
void softmax(Call& call) {
    const std::int64_t rank = call.rank(0);
    const std::int64_t axis = rank == 0 ? 0 : call.axis(call.integer("axis", -1), rank);
    call.output(0, call.emit(target.string(), {{"self", call.tensor(0)}, {"dim", Value(axis)}}));
}

}  // namespace

std::span<const Row> activation_rows() {
    static constexpr std::array rows{
        Row{"Relu", 1, &unary<"aten::relu">},
        Row{"Sigmoid", 1, &unary<"aten::sigmoid">},
        Row{"Tanh", 1, &unary<"aten::tanh">},
        Row{"Softplus", 1, &unary<"aten::softplus">},
        Row{"Softsign", 1, &softsign},
        Row{"Selu", 1, &unary<"aten::selu">},
        Row{"Elu", 1, &elu},
        Row{"Celu", 12, &celu},
        Row{"LeakyRelu", 1, &leaky_relu},
        Row{"ThresholdedRelu", 10, &thresholded_relu},
        Row{"PRelu", 1, &prelu},
        // Its slope (0.2 in Keras, 1/6 in torch) changes no cost.
        Row{"HardSigmoid", 1, &unary<"aten::hardsigmoid">},
        Row{"HardSwish", 14, &unary<"aten::hardswish">},
        Row{"Mish", 18, &unary<"aten::mish">},
        Row{"Gelu", 20, &gelu},
        Row{"Shrink", 9, &shrink},
        Row{"Clip", 1, &clip},
        Row{"Softmax", 1, &softmax_flattened<"aten::softmax.int">},
        Row{"Softmax", 13, &softmax<"aten::softmax.int">},
        Row{"LogSoftmax", 1, &softmax_flattened<"aten::log_softmax.int">},
        Row{"LogSoftmax", 13, &softmax<"aten::log_softmax.int">},
    };
    return rows;
}

}  // namespace joulecast::onnx
