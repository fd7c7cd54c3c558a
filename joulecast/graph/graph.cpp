#include "joulecast/graph/graph.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "joulecast/error.h"
#include "joulecast/graph/record.h"
#include "joulecast/graph/symbol_values.h"

namespace joulecast {

namespace {

template <class Items, class Index>
auto& item_at(Items& items, Index index, const char* what) {
    if (index < 0 || static_cast<std::size_t>(index) >= items.size()) {
        throw FormatError(std::string("graph is inconsistent: no ") + what + " number " + std::to_string(index));
    }
    return items[static_cast<std::size_t>(index)];
}

std::int64_t& tensor_size(TensorType& type, std::int32_t dimension) {
    return item_at(type.sizes, dimension, "dimension");
}

void set_argument(Operation& operation, const SymbolicSize& place, const SymbolValues& values) {
    Value& value = item_at(operation.arguments, place.index, "argument").value;
    if (auto* list = std::get_if<Integers>(&value)) {
        item_at(*list, place.position, "list item") = place.expression.evaluate(values);
    } else if (auto* single = std::get_if<std::int64_t>(&value)) {
        *single = place.expression.evaluate(values);
    } else if (auto* real = std::get_if<double>(&value)) {
        *real = place.expression.evaluate_real(values);
    } else if (auto* condition = std::get_if<bool>(&value)) {
        *condition = place.expression.evaluate_real(values) != 0;
    } else {
        throw FormatError("graph is inconsistent: a symbolic size stands in an argument of " + operation.target +
                          " that holds no numbers");
    }
}

std::int64_t evaluated_size(const Expression& expression, const SymbolValues& values) {
    const std::int64_t size = expression.evaluate(values);
    if (size >= 0) return size;
    std::string at;
    for (const std::string& symbol : expression.symbols())
        at += (at.empty() ? "" : ", ") + symbol + "=" + std::to_string(values.at(symbol));
    throw Error("the size " + expression.text() + " is " + std::to_string(size) + " at " + at +
                ": the network cannot have that shape");
}

TensorType& tensor_at(std::span<TensorType* const> inputs, Node& node, const SymbolicSize& place) {
    using Place = SymbolicSize::Place;
    if (place.place == Place::output_tensor || place.place == Place::output_stride) {
        return item_at(node.outputs, place.index, "output");
    }
    if (place.index < 0 || static_cast<std::size_t>(place.index) >= inputs.size()) {
        throw FormatError("graph is inconsistent: " + node.operation.target + " has no tensor number " +
                          std::to_string(place.index));
    }
    return *inputs[static_cast<std::size_t>(place.index)];
}

/// The tensor in canonical form again; strides of other than all dimensions are a fault of the graph.
void lay_out(TensorType& type, const Strides& strides) {
    const bool requires_grad = type.requires_grad;
    type = strided(type.dtype, std::move(type.sizes), strides);
    type.requires_grad = requires_grad;
}

/// A tensor with sizes that change: what it was, and the strides that the symbols give.
struct Reshaped {
    TensorType* type;
    TensorType before;
    Strides strides;

    void finish() {
        if (!strides.empty()) return lay_out(*type, strides);
        if (is_contiguous(before)) return;
        if (!is_dense(before)) {
            throw FormatError("graph is inconsistent: a tensor of symbolic sizes has gaps, but no symbolic strides");
        }
        lay_out(*type, strides_in_order_of(before, type->sizes));
    }
};

Reshaped& known(std::vector<Reshaped>& reshaped, TensorType& type) {
    const auto found =
        std::find_if(reshaped.begin(), reshaped.end(), [&](const Reshaped& known) { return known.type == &type; });
    return found == reshaped.end() ? reshaped.emplace_back(Reshaped{&type, type, {}}) : *found;
}

void reshape(Node& node, const SymbolValues& values) {
    if (node.symbolic.empty()) return;
    using Place = SymbolicSize::Place;
    const auto inputs = tensors(node.operation);
    std::vector<Reshaped> reshaped;
    for (const SymbolicSize& place : node.symbolic) {
        if (place.place == Place::argument) {
            set_argument(node.operation, place, values);
            continue;
        }
        const std::int64_t size = evaluated_size(place.expression, values);
        Reshaped& tensor = known(reshaped, tensor_at(inputs, node, place));
        if (place.place == Place::input_tensor || place.place == Place::output_tensor) {
            tensor_size(*tensor.type, place.position) = size;
            continue;
        }
        tensor.strides.resize(tensor.type->sizes.size());
        item_at(tensor.strides, place.position, "stride") = size;
    }
    for (Reshaped& tensor : reshaped) tensor.finish();
}

void reshape(GraphInput& input, const SymbolValues& values) {
    if (input.symbolic.empty() && input.symbolic_strides.empty()) return;
    Reshaped tensor{&input.type, input.type, {}};
    for (const auto& [dimension, expression] : input.symbolic) {
        tensor_size(input.type, dimension) = evaluated_size(expression, values);
    }
    for (const Expression& stride : input.symbolic_strides) tensor.strides.push_back(evaluated_size(stride, values));
    tensor.finish();
}

std::string range_text(const Symbol& symbol) {
    const bool bounded = symbol.high != INT64_MAX;
    return std::to_string(symbol.low) + (bounded ? " to " + std::to_string(symbol.high) : " on");
}

/// "it has batch (also s77; dimension 0 of input image; 1 to 64), sequence (...)".
std::string symbol_list(const Graph& graph) {
    std::string names;
    for (const auto& [name, symbol] : graph.symbols) {
        names += (names.empty() ? "" : ", ") + name + " (";
        if (!symbol.alias.empty()) names += "also " + symbol.alias + "; ";
        if (!symbol.place.empty()) names += symbol.place + "; ";
        names += range_text(symbol) + ")";
    }
    return names.empty() ? "it has none" : "it has " + names;
}

/// The symbol of that name or alias, checked to allow the value.
Symbol& symbol_for(Graph& graph, const std::string& symbol, std::int64_t value) {
    auto found = graph.symbols.find(symbol);
    if (found == graph.symbols.end()) {
        found = std::ranges::find_if(
            graph.symbols, [&](const auto& entry) { return !symbol.empty() && entry.second.alias == symbol; });
    }
    if (found == graph.symbols.end()) {
        throw Error("graph " + graph.name + " has no symbol " + symbol + "; " + symbol_list(graph));
    }
    if (value < found->second.low || value > found->second.high) {
        throw Error("graph " + graph.name + " allows " + found->first + " from " + range_text(found->second) +
                    ", not " + std::to_string(value));
    }
    return found->second;
}

}  // namespace

const TensorType& type_of(const Graph& graph, ValueRef ref) {
    const auto outside = [&] {
        return FormatError("graph " + graph.name + " is inconsistent: there is no value " + std::to_string(ref.node) +
                           ":" + std::to_string(ref.output));
    };
    if (ref.output < 0 || ref.node < -1) throw outside();
    const auto output = static_cast<std::size_t>(ref.output);
    if (ref.node == -1) {
        if (output >= graph.inputs.size()) throw outside();
        return graph.inputs[output].type;
    }
    const auto node = static_cast<std::size_t>(ref.node);
    if (node >= graph.nodes.size() || output >= graph.nodes[node].outputs.size()) throw outside();
    return graph.nodes[node].outputs[output];
}

Graph with_symbols(Graph graph, const SymbolValues& chosen) {
    if (chosen.empty()) return graph;
    for (const auto& [symbol, value] : chosen) symbol_for(graph, symbol, value).value = value;
    const SymbolValues values = symbol_values(graph);
    if (graph.shape_anew != nullptr) return (*graph.shape_anew)(values);
    for (GraphInput& input : graph.inputs) reshape(input, values);
    for (Node& node : graph.nodes) reshape(node, values);
    return graph;
}

Graph with_symbol(const Graph& graph, const std::string& symbol, std::int64_t value) {
    return with_symbols(graph, {{symbol, value}});
}

namespace {

/// What is done to a graph is done to it again once it has other sizes.
template <class Change>
void change_anew(Graph& graph, Change change) {
    if (graph.shape_anew == nullptr) return;
    graph.shape_anew = std::make_shared<const ShapeAnew>(
        [before = graph.shape_anew, change](const SymbolValues& values) { return change((*before)(values)); });
}

/// A boolean argument that exporters write explicitly; nothing happens where the operation has none of that name.
void switch_on(Operation& operation, std::string_view argument) {
    for (Argument& candidate : operation.arguments) {
        if (candidate.name == argument && std::holds_alternative<bool>(candidate.value)) candidate.value = true;
    }
}

void switch_to_training(Operation& operation) {
    if (operation.target == "aten::batch_norm") switch_on(operation, "training");
    if (operation.target == "aten::dropout" || operation.target == "aten::dropout_") switch_on(operation, "train");
}

/// True when a gradient can come back through the operation; one without a record is taken to be differentiable.
bool passes_gradients(const Operation& operation) {
    const Record* record = find_record(operation.target);
    return record == nullptr || record->backward != nullptr;
}

/// Marks the tensors of a node from the values they come from, and its outputs from its tensors.
void mark(const Graph& graph, Node& node) {
    const bool passes = passes_gradients(node.operation);
    const auto inputs = tensors(node.operation);
    if (graph.has_edges && node.inputs.size() != inputs.size()) {
        throw FormatError("graph " + graph.name + " is inconsistent: " + node.operation.target + " has " +
                          std::to_string(inputs.size()) + " tensors and " + std::to_string(node.inputs.size()) +
                          " edges");
    }
    bool any = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        // A bag of operations does not tell parameters from inputs: all may have a gradient then.
        const bool arrives = graph.has_edges ? type_of(graph, node.inputs[i]).requires_grad : true;
        inputs[i]->requires_grad = passes && arrives && is_floating(inputs[i]->dtype);
        any = any || inputs[i]->requires_grad;
    }
    for (TensorType& output : node.outputs) output.requires_grad = any && is_floating(output.dtype);
}

}  // namespace

namespace {

Graph in_training(Graph graph) {
    // A bag's marks are its writer's knowledge of what is trained; there are no edges to find them by.
    if (!graph.has_edges && graph.mode == Mode::training) return graph;
    change_anew(graph, [](const Graph& shaped) { return to_training(shaped); });
    graph.mode = Mode::training;
    for (GraphInput& input : graph.inputs) {
        input.type.requires_grad = input.kind == GraphInput::Kind::parameter && is_floating(input.type.dtype);
    }
    for (Node& node : graph.nodes) {
        switch_to_training(node.operation);
        mark(graph, node);
    }
    return graph;
}

}  // namespace

Graph to_training(const Graph& graph) {
    return in_training(graph);
}

Graph in_mode(Graph graph, Mode mode) {
    if (mode == Mode::training) return in_training(std::move(graph));
    if (graph.mode == Mode::training) {
        throw Error("graph " + graph.name + " was written in training mode and cannot be turned back: ask for it " +
                    "with --mode training, or write it again in inference mode");
    }
    return graph;
}

Graph without_edges(const Graph& graph) {
    Graph bag;
    bag.name = graph.name;
    bag.symbols = graph.symbols;
    bag.mode = graph.mode;
    bag.has_edges = false;
    std::unordered_map<std::string, std::size_t> position;
    for (const Node& node : graph.nodes) {
        Node described;
        described.operation = node.operation;
        described.count = node.count;
        std::string key = signature(node.operation);
        for (const SymbolicSize& size : node.symbolic) {
            if (size.place == SymbolicSize::Place::output_tensor) continue;
            // Equal at these values of the symbols is not equal at others.
            key += '\n' + std::to_string(static_cast<int>(size.place)) + ' ' + std::to_string(size.index) + ' ' +
                   std::to_string(size.position) + ' ' + size.expression.text();
            described.symbolic.push_back(size);
        }
        const auto [found, is_new] = position.try_emplace(std::move(key), bag.nodes.size());
        if (is_new) {
            bag.nodes.push_back(std::move(described));
        } else {
            bag.nodes[found->second].count += node.count;
        }
    }
    return bag;
}

namespace {

Dtype cast(Dtype from, Dtype to) {
    const bool complex = from == Dtype::c64 || from == Dtype::c128;
    return is_floating(from) && !complex ? to : from;
}

}  // namespace

Graph with_dtype(const Graph& graph, Dtype dtype) {
    if (!is_floating(dtype)) {
        throw Error("a graph cannot be cast to " + std::string(name(dtype)) + "; take f32, f16, bf16 or f64");
    }
    Graph result = graph;
    change_anew(result, [dtype](const Graph& shaped) { return with_dtype(shaped, dtype); });
    for (GraphInput& input : result.inputs) input.type.dtype = cast(input.type.dtype, dtype);
    for (Node& node : result.nodes) {
        for (TensorType* tensor : tensors(node.operation)) tensor->dtype = cast(tensor->dtype, dtype);
        for (TensorType& output : node.outputs) output.dtype = cast(output.dtype, dtype);
        for (Argument& argument : node.operation.arguments) {
            if (auto* argument_dtype = std::get_if<Dtype>(&argument.value)) {
                *argument_dtype = cast(*argument_dtype, dtype);
            }
        }
    }
    return result;
}

std::vector<CountedOperation> count_operations(const Graph& graph) {
    std::vector<CountedOperation> counted;
    std::unordered_map<std::string, std::size_t> position;
    for (const Node& node : graph.nodes) {
        const auto [found, is_new] = position.try_emplace(signature(node.operation), counted.size());
        if (is_new) counted.push_back({node.operation, 0});
        counted[found->second].count += node.count;
    }
    return counted;
}

}  // namespace joulecast
