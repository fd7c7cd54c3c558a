// ai.onnx.preview.training: steps of optimizers. Inputs: learning rate, steps before, then a list each of weights,
// gradients and what the optimizer keeps; outputs the new weights and what is kept.
#include <array>

#include "joulecast/graph/readers/onnx_ops.h"

namespace joulecast::onnx {

namespace {

constexpr std::string_view domain = "ai.onnx.preview.training";

/// How many weights there are, where each comes with `lists - 1` others.
std::size_t weights_of(const Call& call, std::size_t lists) {
    const std::size_t count = call.input_count() < 2 ? 0 : (call.input_count() - 2) / lists;
    if (count == 0 || call.input_count() != 2 + count * lists) call.refuse("its lists of tensors differ in length");
    return count;
}

Operand scaled(Call& call, const Operand& x, double factor) {
    return call.emit("aten::mul.Tensor", {{"self", x}, {"other", Value(factor)}});
}

Operand of_both(Call& call, const char* target, const Operand& a, const Operand& b) {
    return call.emit(target, {{"self", a}, {"other", b}});
}

/// The gradient with that of the weight's norm.
Operand regularized(Call& call, const Operand& weight, const Operand& gradient) {
    return of_both(call, "aten::add.Tensor", scaled(call, weight, call.real("norm_coefficient", 0.0)), gradient);
}

Operand stepped(Call& call, const Operand& weight, const Operand& direction) {
    const Operand rate = call.tensor(0);
    return of_both(call, "aten::sub.Tensor", weight, of_both(call, "aten::mul.Tensor", direction, rate));
}

void momentum(Call& call) {
    const std::size_t count = weights_of(call, 3);
    for (std::size_t i = 0; i < count; ++i) {
        const Operand weight = call.tensor(2 + i);
        const Operand gradient = regularized(call, weight, call.tensor(2 + count + i));
        const Operand velocity =
            of_both(call, "aten::add.Tensor", scaled(call, call.tensor(2 + 2 * count + i), call.real("alpha", 0.0)),
                    scaled(call, gradient, call.real("beta", 1.0)));
        const bool looks_ahead = call.text("mode", "standard") == "nesterov";
        const Operand direction =
            looks_ahead ? of_both(call, "aten::add.Tensor", gradient, scaled(call, velocity, call.real("alpha", 0.0)))
                        : velocity;
        call.output(i, stepped(call, weight, direction));
        call.output(count + i, velocity);
    }
}

/// The gradient over the root of what has been added up of its squares.
Operand over_root(Call& call, const Operand& gradient, const Operand& squares) {
    const Operand root = call.emit("aten::sqrt", {{"self", squares}});
    const Operand above = call.emit("aten::add.Tensor", {{"self", root}, {"other", Value(call.real("epsilon", 1e-6))}});
    return of_both(call, "aten::div.Tensor", gradient, above);
}

void adagrad(Call& call) {
    const std::size_t count = weights_of(call, 3);
    for (std::size_t i = 0; i < count; ++i) {
        const Operand weight = call.tensor(2 + i);
        const Operand gradient = regularized(call, weight, call.tensor(2 + count + i));
        const Operand squares = of_both(call, "aten::add.Tensor", call.tensor(2 + 2 * count + i),
                                        call.emit("aten::square", {{"self", gradient}}));
        call.output(i, stepped(call, weight, over_root(call, gradient, squares)));
        call.output(count + i, squares);
    }
}

void adam(Call& call) {
    const std::size_t count = weights_of(call, 4);
    const auto average = [&](const Operand& old, const Operand& latest, double kept) {
        return of_both(call, "aten::add.Tensor", scaled(call, old, kept), scaled(call, latest, 1.0 - kept));
    };
    for (std::size_t i = 0; i < count; ++i) {
        const Operand weight = call.tensor(2 + i);
        const Operand gradient = regularized(call, weight, call.tensor(2 + count + i));
        const Operand mean = average(call.tensor(2 + 2 * count + i), gradient, call.real("alpha", 0.9));
        const Operand squares = average(call.tensor(2 + 3 * count + i), call.emit("aten::square", {{"self", gradient}}),
                                        call.real("beta", 0.999));
        call.output(i, stepped(call, weight, over_root(call, mean, squares)));
        call.output(count + i, mean);
        call.output(2 * count + i, squares);
    }
}

/// The backward pass of the graph itself.
void gradient(Call& call) {
    call.refuse("joulecast works out the backward pass itself. Take the network without it, and --mode training");
}

}  // namespace

std::span<const Row> training_rows() {
    static constexpr std::array rows{
        Row{"Momentum", 1, &momentum, domain},
        Row{"Adagrad", 1, &adagrad, domain},
        Row{"Adam", 1, &adam, domain},
        Row{"Gradient", 1, &gradient, domain},
    };
    return rows;
}

}  // namespace joulecast::onnx
