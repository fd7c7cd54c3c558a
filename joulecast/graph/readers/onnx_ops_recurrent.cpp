#include <array>

#include "joulecast/graph/readers/onnx_ops.h"

namespace joulecast::onnx {

namespace {

/// The sizes of a recurrent node, from X [steps, batch, input] (batch first where layout is 1) and R [directions,
/// gates x cell, cell].
struct Layer {
    std::int64_t steps = 0;
    std::int64_t batch = 0;
    std::int64_t cell = 0;
    std::int64_t directions = 0;
    bool is_batch_first = false;
};

Layer layer_of(const Call& call, std::int64_t gates) {
    if (call.rank(0) != 3 || call.rank(1) != 3 || call.rank(2) != 3) call.refuse("X, W and R need three dimensions");
    Layer layer;
    layer.is_batch_first = call.integer("layout", 0) != 0;
    const Sizes& sizes = call.type(0).sizes;
    layer.steps = sizes[layer.is_batch_first ? 1 : 0];
    layer.batch = sizes[layer.is_batch_first ? 0 : 1];
    layer.cell = call.type(2).sizes[2];
    layer.directions = call.type(1).sizes[0];
    if (layer.directions != (call.text("direction", "forward") == "bidirectional" ? 2 : 1))
        call.refuse("its weights do not fit its direction");
    if (call.type(2).sizes != Sizes{layer.directions, call.type(1).sizes[1], layer.cell} ||
        __builtin_mul_overflow(gates, layer.cell, &gates) || call.type(1).sizes[1] != gates)
        call.refuse("its weights do not fit its cells");
    return layer;
}

/// torch takes a matrix for each direction, and two biases.
Operands parameters_of(Call& call, const Layer& layer) {
    Operands parameters;
    const auto part = [&](std::size_t input, std::int64_t direction) {
        return call.emit("aten::select.int",
                         {{"self", call.tensor(input)}, {"dim", Value(std::int64_t{0})}, {"index", Value(direction)}});
    };
    for (std::int64_t direction = 0; direction < layer.directions; ++direction) {
        parameters.emplace_back(part(1, direction));
        parameters.emplace_back(part(2, direction));
        if (!call.has(3)) continue;
        const Operand both = part(3, direction);
        const auto halves = call.emit_all(
            "aten::split_with_sizes",
            {{"self", both}, {"split_sizes", Value(Sizes(2, call.type(1).sizes[1]))}, {"dim", Value(std::int64_t{0})}});
        parameters.emplace_back(halves.at(0));
        parameters.emplace_back(halves.at(1));
    }
    return parameters;
}

Operand turned(Call& call, const Operand& state) {
    return call.emit("aten::transpose.int",
                     {{"self", state}, {"dim0", Value(std::int64_t{0})}, {"dim1", Value(std::int64_t{1})}});
}

/// The first state: given, or zeros. torch has directions in front whatever the layout.
Operand initial(Call& call, const Layer& layer, std::size_t input) {
    if (call.has(input)) return layer.is_batch_first ? turned(call, call.tensor(input)) : call.tensor(input);
    return call.emit("aten::zeros", {{"size", Value(Sizes{layer.directions, layer.batch, layer.cell})},
                                     {"dtype", Value(call.type(0).dtype)}});
}

/// The outputs in ONNX' order of dimensions: directions before batch.
void put_outputs(Call& call, const Layer& layer, const std::vector<Operand>& results) {
    if (call.wants(0)) {
        const Sizes apart = layer.is_batch_first ? Sizes{layer.batch, layer.steps, layer.directions, layer.cell}
                                                 : Sizes{layer.steps, layer.batch, layer.directions, layer.cell};
        Operand states = call.emit("aten::view", {{"self", results.at(0)}, {"size", Value(apart)}});
        if (!layer.is_batch_first)
            states = call.emit("aten::permute", {{"self", states}, {"dims", Value(Sizes{0, 2, 1, 3})}});
        call.output(0, states);
    }
    for (std::size_t i = 1; i < results.size(); ++i)
        if (call.wants(i)) call.output(i, layer.is_batch_first ? turned(call, results[i]) : results[i]);
}

/// A network that goes backwards only costs what one that goes forwards does.
template <Target target, std::int64_t gates>
void recurrent(Call& call) {
    const Layer layer = layer_of(call, gates);
    constexpr bool is_lstm = gates == 4;
    if (is_lstm && call.has(7)) call.refuse("peepholes have no counterpart in torch, so their cost is not known");
    const Operand input = call.tensor(0);
    std::string name = target.string();
    const Attribute* activations = call.attribute("activations");
    if (gates == 1 && activations != nullptr && !activations->texts.empty() && activations->texts[0] == "Relu")
        name = "aten::rnn_relu.input";
    std::vector<Given> given{{"input", input}};
    if (is_lstm)
        given.emplace_back("hx", Operands{initial(call, layer, 5), initial(call, layer, 6)});
    else
        given.emplace_back("hx", initial(call, layer, 5));
    given.emplace_back("params", parameters_of(call, layer));
    given.emplace_back("has_biases", Value(call.has(3)));
    given.emplace_back("num_layers", Value(std::int64_t{1}));
    given.emplace_back("dropout", Value(0.0));
    given.emplace_back("train", Value(false));
    given.emplace_back("bidirectional", Value(layer.directions == 2));
    given.emplace_back("batch_first", Value(layer.is_batch_first));
    put_outputs(call, layer, call.emit_all(name, std::move(given)));
}

}  // namespace

std::span<const Row> recurrent_rows() {
    static constexpr std::array rows{
        Row{"LSTM", 1, &recurrent<"aten::lstm.input", 4>},
        Row{"GRU", 1, &recurrent<"aten::gru.input", 3>},
        Row{"RNN", 1, &recurrent<"aten::rnn_tanh.input", 1>},
    };
    return rows;
}

}  // namespace joulecast::onnx
