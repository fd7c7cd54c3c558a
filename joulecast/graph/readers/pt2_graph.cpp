#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <unordered_set>

#include "joulecast/error.h"
#include "joulecast/graph/family.h"
#include "joulecast/graph/node_parts.h"
#include "joulecast/graph/readers/pt2_calls.h"
#include "joulecast/graph/readers/pt2_program.h"
#include "joulecast/graph/readers/pt2_symbols.h"
#include "joulecast/graph/readers/pt2_terms.h"
#include "joulecast/graph/record.h"

namespace joulecast::pt2 {
namespace {

constexpr std::size_t most_dimensions = 64;
/// What the text form of an operation accepts.
constexpr std::size_t longest_list = 4096;
constexpr std::int64_t strided_layout = 7;

struct KnownTensor {
    TensorType type;
    std::vector<std::pair<std::int32_t, Expression>> symbolic;
    /// As in GraphInput: of all dimensions, or empty.
    std::vector<Expression> symbolic_strides;

    /// An entry for each symbolic size, then for each stride.
    void add_to(std::vector<SymbolicSize>& places, bool is_input, std::int32_t index) const {
        using Place = SymbolicSize::Place;
        for (const auto& [dimension, expression] : symbolic)
            places.push_back({is_input ? Place::input_tensor : Place::output_tensor, index, dimension, expression});
        for (std::size_t i = 0; i < symbolic_strides.size(); ++i)
            places.push_back({is_input ? Place::input_stride : Place::output_stride, index,
                              static_cast<std::int32_t>(i), symbolic_strides[i]});
    }
};

/// A body under translation: its names are its own.
struct Scope {
    const Body& body;
    /// The module that made the call, for nodes that have no module of their own.
    std::string module_path;
    /// The type of torch.autocast, within one.
    std::optional<Dtype> autocast;
    std::unordered_map<std::string, KnownTensor> tensors;
    std::unordered_map<std::string, ValueRef> references;
};

class Translation {
  public:
    Translation(const Program& program, const Notes& notes, const SymbolValues& given)
        : program_(program), ties_(notes.ties), symbols_(program, notes.symbol_names, given) {}

    Graph graph() {
        graph_.symbols = symbols_.chosen();
        Scope scope{program_.main, {}, {}, {}, {}};
        for (const Argument& input : program_.main.inputs) add_input(input, scope);
        add_nodes(scope);
        for (const TensorName& name : flattened(program_.main.outputs))
            if (name && (!program_.user_outputs || program_.user_outputs->contains(*name)))
                graph_.outputs.push_back(reference(*name, scope));
        return std::move(graph_);
    }

  private:
    const KnownTensor& tensor(const std::string& name, Scope& scope);
    KnownTensor read_tensor(const Tensor& source, const Body& body);
    void read_strides(const std::vector<Integer>& strides, const Body& body, KnownTensor& known);
    static ValueRef reference(const std::string& name, const Scope& scope);

    void add_input(const Argument& input, Scope& scope);
    std::int32_t add_or_tie(GraphInput input);
    void add_nodes(Scope& scope);
    void add_node(const Node& source, Scope& scope);
    void add_inlined(const Node& source, const Body& body, Scope& scope);
    std::optional<NodePart> part_of(const Argument& argument, std::string name, Scope& scope);
    TensorType take_tensor(NodePart& part, const std::string& name, Scope& scope);
    std::optional<Value> value_of(const Argument& argument, NodePart& part, const Scope& scope);
    std::optional<Value> number_of(const NamedNumber& number, NodePart& part, const Body& body);
    std::optional<std::string> unsupported_part(const Node& source, const Record& record, const Body& body);
    void cast_inputs(joulecast::Node& node);
    ValueRef cast(const joulecast::Node& node, std::size_t index, Dtype dtype);

    const Program& program_;
    const Ties& ties_;
    Symbols symbols_;
    Graph graph_;
    /// The input that stands for all weights of a tie, by what they have in common.
    std::unordered_map<std::string, std::int32_t> input_of_tie_;
    /// Autocast keeps the casts of weights: by output number of a graph input, and type.
    std::map<std::pair<std::int32_t, Dtype>, ValueRef> cast_weights_;
};

KnownTensor Translation::read_tensor(const Tensor& source, const Body& body) {
    if (source.layout != strided_layout)
        throw FormatError("it is sparse, which joulecast does not know. Export the network with dense tensors");
    if (source.sizes.size() > most_dimensions) throw FormatError("it has more than 64 dimensions");
    KnownTensor known;
    known.type.dtype = required_dtype(source.dtype);
    for (const Integer& size : source.sizes) {
        auto [value, expression] = symbols_.resolve(size, body);
        if (expression)
            known.symbolic.emplace_back(static_cast<std::int32_t>(known.type.sizes.size()), std::move(*expression));
        known.type.sizes.push_back(value);
    }
    byte_count(known.type);  // throws for negative and overflowing sizes
    if (source.strides) read_strides(*source.strides, body, known);
    return known;
}

/// True if the tensor is contiguous whatever its symbols are, as far as constants show it: at most the slowest size is
/// symbolic, as a batch is.
bool is_plainly_contiguous(const KnownTensor& known, const Strides& strides, bool has_symbolic_stride) {
    const bool only_slowest = known.symbolic.empty() || (known.symbolic.size() == 1 && known.symbolic[0].first == 0);
    return only_slowest && !has_symbolic_stride && strides == contiguous_strides(known.type.sizes);
}

void Translation::read_strides(const std::vector<Integer>& strides, const Body& body, KnownTensor& known) {
    Strides values;
    bool has_symbolic_stride = false;
    for (const Integer& stride : strides) {
        auto [value, expression] = symbols_.resolve(stride, body);
        has_symbolic_stride = has_symbolic_stride || expression;
        known.symbolic_strides.push_back(expression ? *std::move(expression) : Expression(value));
        values.push_back(value);
    }
    // Throws where there are more or fewer than sizes.
    TensorType type = strided(known.type.dtype, known.type.sizes, values);
    const bool is_fixed = known.symbolic.empty() && !has_symbolic_stride;
    if (is_fixed || is_plainly_contiguous(known, values, has_symbolic_stride)) known.symbolic_strides.clear();
    known.type = std::move(type);
}

const KnownTensor& Translation::tensor(const std::string& name, Scope& scope) {
    const auto known = scope.tensors.find(name);
    if (known != scope.tensors.end()) return known->second;
    const auto found = scope.body.tensors.find(name);
    if (found == scope.body.tensors.end())
        throw FormatError("tensor \"" + shown(name) + "\" is not among tensor_values");
    try {
        return scope.tensors.emplace(name, read_tensor(found->second, scope.body)).first->second;
    } catch (const FormatError& error) {
        throw FormatError("tensor \"" + shown(name) + "\": " + error.what());
    }
}

ValueRef Translation::reference(const std::string& name, const Scope& scope) {
    const auto found = scope.references.find(name);
    if (found == scope.references.end())
        throw FormatError("tensor \"" + shown(name) + "\" is used, but nothing before makes it");
    return found->second;
}

void Translation::add_input(const Argument& input, Scope& scope) {
    for (const TensorName& name : flattened({input})) {
        if (!name) continue;
        const KnownTensor& known = tensor(*name, scope);
        GraphInput graph_input{*name, GraphInput::Kind::user_input, known.type, known.symbolic, known.symbolic_strides};
        const auto spec = program_.input_specs.find(*name);
        if (spec != program_.input_specs.end()) {
            graph_input.kind = spec->second.kind;
            graph_input.name = spec->second.dotted_name;
        }
        scope.references[*name] = {-1, add_or_tie(std::move(graph_input))};
    }
}

/// The place of the input, or of one before that is the same tensor.
std::int32_t Translation::add_or_tie(GraphInput input) {
    const auto place = static_cast<std::int32_t>(graph_.inputs.size());
    if (const auto tie = ties_.find(input.name); tie != ties_.end()) {
        const auto [first, is_first] = input_of_tie_.try_emplace(tie->second, place);
        if (!is_first) {
            const GraphInput& earlier = graph_.inputs[static_cast<std::size_t>(first->second)];
            if (earlier.type == input.type && earlier.kind == input.kind) return first->second;
        }
    }
    graph_.inputs.push_back(std::move(input));
    return place;
}

void Translation::add_nodes(Scope& scope) {
    for (std::size_t i = 0; i < scope.body.nodes.size(); ++i) {
        const Node& node = scope.body.nodes[i];
        try {
            if (const Body* body = inlined_body(node))
                add_inlined(node, *body, scope);
            else
                add_node(node, scope);
        } catch (const FormatError& error) {
            throw FormatError("node " + std::to_string(i) + " (" + shown(node.target) + "): " + error.what());
        }
    }
}

/// The nodes of the sub-graph in place of the call; its inputs and outputs are the call's.
void Translation::add_inlined(const Node& source, const Body& body, Scope& scope) {
    Scope inner{body, module_path_of(source.nn_module_stack), scope.autocast, {}, {}};
    if (inner.module_path.empty()) inner.module_path = scope.module_path;
    if (sets_autocast(source)) inner.autocast = autocast_dtype(source);
    const std::vector<TensorName> operands = operands_of(source);
    const std::vector<TensorName> inputs = flattened(body.inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i]) continue;
        if (!operands[i]) throw FormatError("the sub-graph's input \"" + shown(*inputs[i]) + "\" is given no tensor");
        inner.references[*inputs[i]] = reference(*operands[i], scope);
    }
    add_nodes(inner);
    const std::vector<TensorName> made = flattened(body.outputs);
    const std::vector<TensorName> outputs = flattened(source.outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (outputs[i] && made[i]) scope.references[*outputs[i]] = reference(*made[i], inner);
}

/// The name of what keeps joulecast's record of the operation from costing it: an argument of a kind that no Operation
/// holds, or one that a later torch added to the schema.
std::optional<std::string> Translation::unsupported_part(const Node& source, const Record& record, const Body& body) {
    // What computes sizes costs nothing, whatever it is given.
    if (record.family == Family::symbolic) return std::nullopt;
    for (const Argument& argument : source.inputs) {
        if (const auto* unknown = std::get_if<Unknown>(&argument.value)) return unknown->variant;
        if (std::holds_alternative<Subgraph>(argument.value)) return "as_graph";
        // A condition on data has no value: the record would take the schema's default for it.
        const auto* number = std::get_if<NamedNumber>(&argument.value);
        if (number != nullptr && number->kind == NamedNumber::Kind::condition && !symbols_.resolve(*number, body))
            return "as_sym_bool";
        if (std::ranges::find(record.parameters, argument.name, &Parameter::name) == record.parameters.end())
            return argument.name;
    }
    return std::nullopt;
}

void Translation::add_node(const Node& source, Scope& scope) {
    joulecast::Node node;
    node.operation.target = target_of(source.target);
    node.module_path = module_path_of(source.nn_module_stack);
    if (node.module_path.empty()) node.module_path = scope.module_path;
    node.source_line = source_line_of(source.stack_trace);
    // A record must not cost what it has not seen whole: such a node gets a target without a record, which says why.
    const Record* record = find_record(node.operation.target);
    if (record != nullptr)
        if (const auto part = unsupported_part(source, *record, scope.body))
            node.operation.target = target_of(source.target + ".unsupported_" + *part);
    if (source.inputs.size() > longest_list) throw FormatError("it has more than 4096 arguments");
    std::vector<NodePart> parts;
    std::unordered_set<std::string> names;
    for (std::size_t i = 0; i < source.inputs.size(); ++i) {
        std::string name = argument_name(source, i);
        if (!names.insert(name).second) throw FormatError("argument " + shown(name) + " is given twice");
        if (auto part = part_of(source.inputs[i], std::move(name), scope)) parts.push_back(*std::move(part));
    }
    assemble(node, std::move(parts));
    for (const TensorName& name : flattened(source.outputs)) {
        if (!name) continue;
        const KnownTensor& known = tensor(*name, scope);
        const auto index = static_cast<std::int32_t>(node.outputs.size());
        known.add_to(node.symbolic, false, index);
        node.outputs.push_back(known.type);
    }
    if (scope.autocast) cast_inputs(node);
    std::int32_t output = 0;
    for (const TensorName& name : flattened(source.outputs))
        if (name) scope.references[*name] = {static_cast<std::int32_t>(graph_.nodes.size()), output++};
    graph_.nodes.push_back(std::move(node));
}

bool is_cast_by_autocast(Dtype dtype) {
    return dtype == Dtype::f32 || dtype == Dtype::f16 || dtype == Dtype::bf16;
}

/// Within torch.autocast the file shows what a call returns, not the casts before it: they are where the call, on the
/// types it is given, would return another type, and before every matrix product whose inputs differ from its result.
void Translation::cast_inputs(joulecast::Node& node) {
    const Record* record = find_record(node.operation.target);
    if (record == nullptr || node.outputs.empty() || !is_cast_by_autocast(node.outputs[0].dtype)) return;
    if (record->family == Family::copy || record->family == Family::view || record->family == Family::creation) return;
    const Dtype wanted = node.outputs[0].dtype;
    if (!multiplies_matrices(record->family)) {
        const std::vector<TensorType> outputs = record->outputs(node.operation);
        if (outputs.empty() || outputs[0].dtype == wanted) return;
    }
    const auto types = tensors(node.operation);
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (!is_cast_by_autocast(types[i]->dtype) || types[i]->dtype == wanted) continue;
        node.inputs[i] = cast(node, i, wanted);
        const bool keeps_strides = is_dense(*types[i]);
        *types[i] = type_of(graph_, node.inputs[i]);
        if (keeps_strides) continue;
        std::erase_if(node.symbolic, [&](const SymbolicSize& size) {
            return size.place == SymbolicSize::Place::input_stride && size.index == static_cast<std::int32_t>(i);
        });
    }
}

/// A node in front of `node` that casts its tensor number `index`.
ValueRef Translation::cast(const joulecast::Node& node, std::size_t index, Dtype dtype) {
    const ValueRef source = node.inputs[index];
    const bool is_weight =
        source.node == -1 && graph_.inputs[static_cast<std::size_t>(source.output)].kind == GraphInput::Kind::parameter;
    if (is_weight)
        if (const auto known = cast_weights_.find({source.output, dtype}); known != cast_weights_.end())
            return known->second;
    const TensorType& type = *tensors(node.operation)[index];
    joulecast::Node made;
    made.operation = {"aten::to.dtype", {{"self", type}, {"dtype", dtype}}};
    made.inputs = {source};
    made.outputs = find_record(made.operation.target)->outputs(made.operation);
    made.module_path = node.module_path;
    made.source_line = node.source_line;
    for (const SymbolicSize& size : node.symbolic) {
        using Place = SymbolicSize::Place;
        const bool is_size = size.place == Place::input_tensor;
        if (size.index != static_cast<std::int32_t>(index) || (!is_size && size.place != Place::input_stride)) continue;
        made.symbolic.push_back({size.place, 0, size.position, size.expression});
        if (is_size) made.symbolic.push_back({Place::output_tensor, 0, size.position, size.expression});
        if (!is_size && is_dense(type))
            made.symbolic.push_back({Place::output_stride, 0, size.position, size.expression});
    }
    const ValueRef result{static_cast<std::int32_t>(graph_.nodes.size()), 0};
    graph_.nodes.push_back(std::move(made));
    if (is_weight) cast_weights_[{source.output, dtype}] = result;
    return result;
}

TensorType Translation::take_tensor(NodePart& part, const std::string& name, Scope& scope) {
    const KnownTensor& known = tensor(name, scope);
    known.add_to(part.symbolic, true, static_cast<std::int32_t>(part.edges.size()));
    part.edges.push_back(reference(name, scope));
    return known.type;
}

/// A condition that depends on data is left out; such a real number is not a number: it decides no cost.
std::optional<Value> Translation::number_of(const NamedNumber& number, NodePart& part, const Body& body) {
    const bool is_condition = number.kind == NamedNumber::Kind::condition;
    auto resolved = symbols_.resolve(number, body);
    if (!resolved) return is_condition ? std::nullopt : std::optional<Value>(std::nan(""));
    auto& [value, expression] = *resolved;
    if (expression) part.symbolic.push_back({SymbolicSize::Place::argument, 0, 0, std::move(*expression)});
    return is_condition ? Value(value != 0) : Value(value);
}

/// The value of an argument that holds no tensor; absent for those that decide no cost or cannot be held.
std::optional<Value> Translation::value_of(const Argument& argument, NodePart& part, const Scope& scope) {
    if (const auto* integer = std::get_if<Integer>(&argument.value)) {
        auto [value, expression] = symbols_.resolve(*integer, scope.body);
        if (expression) part.symbolic.push_back({SymbolicSize::Place::argument, 0, 0, std::move(*expression)});
        return Value(value);
    }
    if (const auto* list = std::get_if<std::vector<Integer>>(&argument.value)) {
        Integers values;
        for (const Integer& integer : *list) {
            auto [value, expression] = symbols_.resolve(integer, scope.body);
            if (expression)
                part.symbolic.push_back({SymbolicSize::Place::argument, 0, static_cast<std::int32_t>(values.size()),
                                         std::move(*expression)});
            values.push_back(value);
        }
        return Value(std::move(values));
    }
    if (const auto* type = std::get_if<ScalarType>(&argument.value)) return Value(required_dtype(type->code));
    if (const auto* format = std::get_if<MemoryFormat>(&argument.value)) {
        static constexpr std::array names = {"contiguous_format", "channels_last", "channels_last_3d"};
        if (format->code >= 1 && format->code <= std::ssize(names))
            return Value(std::string(names[static_cast<std::size_t>(format->code - 1)]));
        return std::nullopt;  // 4, preserve_format: as without the argument
    }
    if (const auto* number = std::get_if<NamedNumber>(&argument.value)) return number_of(*number, part, scope.body);
    if (const auto* subgraph = std::get_if<Subgraph>(&argument.value)) return Value(description(*subgraph));
    if (std::holds_alternative<None>(argument.value)) return Value(None{});
    if (const auto* flag = std::get_if<bool>(&argument.value)) return Value(*flag);
    if (const auto* number = std::get_if<double>(&argument.value)) return Value(*number);
    if (const auto* text = std::get_if<std::string>(&argument.value)) return Value(*text);
    if (const auto* flags = std::get_if<std::vector<bool>>(&argument.value)) return Value(*flags);
    if (const auto* numbers = std::get_if<std::vector<double>>(&argument.value)) return Value(*numbers);
    return std::nullopt;
}

/// Absent for arguments that decide no cost.
std::optional<NodePart> Translation::part_of(const Argument& argument, std::string name, Scope& scope) {
    NodePart part{std::move(name), {}, {}, {}};
    if (argument.name == "cudnn_enabled" || argument.name == "cudnn_enable") {
        // torch.export traces with cuDNN switched off; a network that runs has torch.backends.cudnn.enabled = True.
        part.value = true;
    } else if (const auto* single = std::get_if<TensorName>(&argument.value)) {
        part.value = *single ? Value(take_tensor(part, **single, scope)) : Value(None{});
    } else if (const auto* list = std::get_if<std::vector<TensorName>>(&argument.value)) {
        TensorList tensors;
        for (const TensorName& item : *list)
            tensors.push_back(item ? std::optional(take_tensor(part, *item, scope)) : std::nullopt);
        part.value = std::move(tensors);
    } else if (auto value = value_of(argument, part, scope)) {
        part.value = *std::move(value);
    } else {
        return std::nullopt;
    }
    const auto length = std::visit(
        [](const auto& value) {
            if constexpr (requires { value.begin(); })
                return value.size();
            else
                return std::size_t{0};
        },
        part.value);
    if (length > longest_list) throw FormatError("argument " + shown(argument.name) + " has more than 4096 items");
    return part;
}

}  // namespace

Graph to_graph(const Program& program, const Notes& notes, const SymbolValues& values) {
    return Translation(program, notes, values).graph();
}

}  // namespace joulecast::pt2
