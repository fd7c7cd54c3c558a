// Recurrent networks: whole layers (lstm, gru, rnn) and single cells.

#include <algorithm>
#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// One call brought to one form. Packed sequences have their steps and batch in one dimension.
struct Recurrence {
    const TensorType& input;
    std::vector<const TensorType*> hidden;
    std::vector<const TensorType*> parameters;
    /// Time steps times batch.
    std::int64_t positions;
    std::int64_t layers;
    std::int64_t directions;
    /// Elements of a cell; what leaves it, projected where there are projections.
    std::int64_t cell;
    std::int64_t out;
    /// Rows of a weight for each element of a cell: 4 lstm, 3 gru, 1 rnn.
    std::int64_t gates;
};

std::int64_t gates(const Operation& operation) {
    if (operation.target.starts_with("aten::lstm")) return 4;
    return operation.target.starts_with("aten::gru") ? 3 : 1;
}

bool is_packed(const Operation& operation) {
    return operation.target.ends_with(".data");
}

std::vector<const TensorType*> hidden_states(const Operation& operation) {
    if (operation.target.starts_with("aten::lstm")) return tensor_list(operation, "hx");
    return {&tensor(operation, "hx")};
}

void check_weights(const Operation& operation, const Recurrence& call, bool biased) {
    const std::int64_t projected = call.out != call.cell ? 1 : 0;
    const std::int64_t per_cell = 2 + (biased ? 2 : 0) + projected;
    const std::int64_t expected = checked(operation, checked(operation, per_cell, call.layers), call.directions);
    if (static_cast<std::int64_t>(call.parameters.size()) != expected) refuse(operation, "the weights do not fit");
    const std::int64_t rows = checked(operation, call.gates, call.cell);
    const Sizes& into = call.parameters[0]->sizes;
    if (into != Sizes{rows, call.input.sizes.back()} || call.parameters[1]->sizes != Sizes{rows, call.out}) {
        refuse(operation, "the weights do not fit");
    }
}

Recurrence read(const Operation& operation) {
    const bool packed = is_packed(operation);
    const TensorType& input = tensor(operation, packed ? "data" : "input");
    if (rank(input) != (packed ? 2U : 3U)) refuse(operation, "the input has a wrong number of dimensions");
    Recurrence call{input, hidden_states(operation), tensor_list(operation, "params"), 0, 0, 0, 0, 0, 0};
    call.positions = product(operation, Sizes(input.sizes.begin(), input.sizes.end() - 1));
    call.layers = integer(operation, "num_layers");
    call.directions = flag(operation, "bidirectional") ? 2 : 1;
    call.gates = gates(operation);
    if (call.layers < 1 || call.layers > 1024 || call.parameters.size() < 2) refuse(operation, "the layers do not fit");
    if (call.hidden.size() != (call.gates == 4 ? 2U : 1U)) refuse(operation, "the hidden states do not fit");
    for (const TensorType* state : call.hidden) {
        if (rank(*state) != 3 || state->sizes[0] != call.layers * call.directions) {
            refuse(operation, "the hidden states do not fit");
        }
    }
    call.out = call.hidden.front()->sizes[2];
    call.cell = call.hidden.back()->sizes[2];
    check_weights(operation, call, flag(operation, "has_biases"));
    return call;
}

/// The last layer's output at every step, then the last hidden state (and cell state) of every layer.
Types outputs(const Operation& operation) {
    const Recurrence call = read(operation);
    Sizes sizes = call.input.sizes;
    sizes.back() = checked(operation, call.out, call.directions);
    Types types{make(call.input.dtype, std::move(sizes))};
    for (const TensorType* state : call.hidden) types.push_back(make(call.input.dtype, state->sizes));
    return types;
}

/// Every weight is applied to every position: 2 per multiply-add, as the counter sees it in the products that the
/// operation consists of.
std::int64_t product_flop(const Operation& operation, const std::vector<const TensorType*>& parameters,
                          std::int64_t positions) {
    std::int64_t weights = 0;
    for (const TensorType* parameter : parameters) {
        if (rank(*parameter) == 2) weights = added(weights, element_count(*parameter));
    }
    return checked(operation, checked(operation, 2, weights), positions);
}

/// Two biases and a sum, a sigmoid or tanh for each gate; the states are mixed by a few products more.
constexpr std::int64_t elementary_per_gate = 7;

/// Elements of all gates at all steps, layers and directions.
std::int64_t gate_elements(const Operation& operation, const Recurrence& call) {
    return checked(operation, product(operation, {call.positions, call.layers, call.directions}),
                   checked(operation, call.gates, call.cell));
}

/// Outputs of the layers before the last: written, and read by the next.
std::int64_t between_layers(const Operation& operation, const Recurrence& call) {
    const std::int64_t layer = product(operation, {call.positions, call.directions, call.out, call.layers - 1});
    return checked(operation, layer, element_bytes(call.input.dtype));
}

/// The inputs' share of the gates is one product over all steps, written and read again by the steps.
Counts forward(const Operation& operation) {
    const Recurrence call = read(operation);
    const std::int64_t gate_count = gate_elements(operation, call);
    const std::int64_t moved =
        added(checked(operation, gate_count, element_bytes(call.input.dtype)), between_layers(operation, call));
    return {product_flop(operation, call.parameters, call.positions),
            checked(operation, elementary_per_gate, gate_count), added(input_bytes(operation), moved),
            added(bytes(outputs(operation)), moved)};
}

/// Gates, and the states of every step and layer, in the input's dtype.
std::int64_t kept_bytes(const Operation& operation, const Recurrence& call) {
    const std::int64_t states = checked(
        operation, gate_elements(operation, call) / std::max<std::int64_t>(call.gates, 1), call.gates == 4 ? 2 : 1);
    return checked(operation, added(gate_elements(operation, call), states), element_bytes(call.input.dtype));
}

/// What the gradient of the states before the first step takes, where they are given or zeros without one.
std::int64_t first_step_flop(const Operation& operation, const Recurrence& call) {
    std::vector<const TensorType*> within;
    const std::size_t per_direction = call.parameters.size() / static_cast<std::size_t>(call.layers * call.directions);
    for (std::size_t i = 1; i < call.parameters.size(); i += per_direction) within.push_back(call.parameters[i]);
    return product_flop(operation, within, call.hidden.front()->sizes[1]);
}

/// A product each for the gradients of a weight and of what it is applied to.
Counts backward(const Operation& operation) {
    const Recurrence call = read(operation);
    Counts counts;
    const bool weights = std::any_of(call.parameters.begin(), call.parameters.end(),
                                     [](const TensorType* parameter) { return parameter->requires_grad; });
    const std::int64_t work = product_flop(operation, call.parameters, call.positions);
    counts.flop = checked(operation, weights ? 2 : 1, work);
    if (!call.input.requires_grad) {
        // Nobody asks for the gradient of the first layer's input.
        std::vector<const TensorType*> first_layer;
        const std::size_t per_direction =
            call.parameters.size() / static_cast<std::size_t>(call.layers * call.directions);
        for (std::int64_t i = 0; i < call.directions; ++i) {
            first_layer.push_back(call.parameters[static_cast<std::size_t>(i) * per_direction]);
        }
        counts.flop -= product_flop(operation, first_layer, call.positions);
    }
    if (!call.hidden.front()->requires_grad) counts.flop -= first_step_flop(operation, call);
    counts.other_flop = checked(operation, 2 * elementary_per_gate, gate_elements(operation, call));
    counts.bytes_read = added(added(input_bytes(operation), bytes(outputs(operation))), kept_bytes(operation, call));
    counts.bytes_written = added(gradient_bytes(operation), between_layers(operation, call));
    return counts;
}

/// All tensors and the output.
Indices saved(const Operation& operation) {
    Indices kept;
    const auto count = static_cast<std::int32_t>(tensors(operation).size());
    for (std::int32_t i = 0; i <= count; ++i) kept.push_back(i);
    return kept;
}

std::int64_t hidden_bytes(const Operation& operation) {
    return mode(operation) == Mode::training ? kept_bytes(operation, read(operation)) : 0;
}

constexpr Row recurrence(std::string_view schema) {
    return {schema, Family::matmul, &outputs, &forward, &backward, &saved, &hidden_bytes};
}

/// One step of one layer: input [batch, in] and states [batch, cell] to the new states.
Types cell_outputs(const Operation& operation) {
    const TensorType& input = tensor(operation, "input");
    const TensorType& into = tensor(operation, "w_ih");
    const std::vector<const TensorType*> states = hidden_states(operation);
    if (rank(input) != 2 || rank(into) != 2 || states.empty() || into.sizes[1] != input.sizes[1]) {
        refuse(operation, "input and weights do not fit");
    }
    const std::int64_t cell = states.front()->sizes.empty() ? 0 : states.front()->sizes.back();
    const Sizes state{input.sizes[0], cell};
    const std::int64_t rows = checked(operation, gates(operation), cell);
    if (into.sizes[0] != rows || tensor(operation, "w_hh").sizes != Sizes{rows, cell}) {
        refuse(operation, "states and weights do not fit");
    }
    Types types;
    for (const TensorType* old : states) {
        if (old->sizes != state) refuse(operation, "the states do not fit");
        types.push_back(make(input.dtype, state));
    }
    return types;
}

std::int64_t cell_gate_elements(const Operation& operation) {
    const Types states = cell_outputs(operation);
    return checked(operation, gates(operation), element_count(states.front()));
}

Counts cell_forward(const Operation& operation) {
    const Types states = cell_outputs(operation);
    return {product_flop(operation, {&tensor(operation, "w_ih"), &tensor(operation, "w_hh")}, states[0].sizes[0]),
            checked(operation, elementary_per_gate, cell_gate_elements(operation)), input_bytes(operation),
            bytes(states)};
}

std::int64_t cell_kept_bytes(const Operation& operation) {
    return checked(operation, cell_gate_elements(operation), element_bytes(first(operation).dtype));
}

Counts cell_backward(const Operation& operation) {
    const Types states = cell_outputs(operation);
    const std::int64_t batch = states[0].sizes[0];
    const TensorType& into = tensor(operation, "w_ih");
    const TensorType& within = tensor(operation, "w_hh");
    Counts counts;
    for (const TensorType* weight : {&into, &within}) {
        const bool passes_on =
            weight == &into ? first(operation).requires_grad : hidden_states(operation).front()->requires_grad;
        const std::int64_t products = (passes_on ? 1 : 0) + (weight->requires_grad ? 1 : 0);
        counts.flop = added(counts.flop, checked(operation, products, product_flop(operation, {weight}, batch)));
    }
    counts.other_flop = checked(operation, 2 * elementary_per_gate, cell_gate_elements(operation));
    counts.bytes_read = added(added(input_bytes(operation), bytes(states)), cell_kept_bytes(operation));
    counts.bytes_written = gradient_bytes(operation);
    return counts;
}

std::int64_t cell_hidden_bytes(const Operation& operation) {
    return mode(operation) == Mode::training ? cell_kept_bytes(operation) : 0;
}

constexpr Row cell(std::string_view schema) {
    return {schema, Family::matmul, &cell_outputs, &cell_forward, &cell_backward, &saved, &cell_hidden_bytes};
}

constexpr std::array rows{
    cast(lowered,
         recurrence(
             "aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float "
             "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)")),
    recurrence("aten::lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int "
               "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)"),
    cast(lowered,
         recurrence("aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
                    "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)")),
    recurrence("aten::gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int "
               "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)"),
    cast(lowered,
         recurrence(
             "aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
             "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)")),
    recurrence("aten::rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int "
               "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)"),
    cast(lowered,
         recurrence(
             "aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
             "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)")),
    recurrence("aten::rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int "
               "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)"),
    cast(lowered_on_gpu, cell("aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
                              "Tensor? b_hh=None) "
                              "-> (Tensor, Tensor)")),
    cast(lowered_on_gpu, cell("aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
                              "Tensor? b_hh=None) -> "
                              "Tensor")),
    cast(lowered_on_gpu, cell("aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? "
                              "b_ih=None, Tensor? b_hh=None) "
                              "-> Tensor")),
    cast(lowered_on_gpu, cell("aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? "
                              "b_ih=None, Tensor? b_hh=None) "
                              "-> Tensor")),
};

}  // namespace

std::span<const Row> recurrent_rows() {
    return rows;
}

}  // namespace joulecast::records
