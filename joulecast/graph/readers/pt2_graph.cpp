#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "joulecast/error.h"
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
};

class Translation {
  public:
    Translation(const Program& program, const std::vector<std::pair<std::string, std::string>>& names,
                const SymbolValues& given)
        : program_(program), symbols_(program, names, given) {}

    Graph graph() {
        graph_.symbols = symbols_.chosen();
        for (const Argument& input : program_.inputs) add_input(input);
        for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
            try {
                add_node(program_.nodes[i]);
            } catch (const FormatError& error) {
                throw FormatError("node " + std::to_string(i) + " (" + program_.nodes[i].target + "): " + error.what());
            }
        }
        for (const Argument& output : program_.outputs)
            for (const std::string& name : tensor_names(output)) graph_.outputs.push_back(reference(name));
        return std::move(graph_);
    }

  private:
    const KnownTensor& tensor(const std::string& name);
    KnownTensor read_tensor(const Tensor& source);
    static std::vector<std::string> tensor_names(const Argument& argument);
    ValueRef reference(const std::string& name) const;

    void add_input(const Argument& input);
    void add_node(const Node& source);
    /// An argument with what hangs on it, until its place in the operation is known.
    struct Draft {
        std::string name;
        Value value;
        /// The tensors it holds, and their symbolic dimensions (index: position in `tensors`) or its own (index 0).
        std::vector<ValueRef> tensors;
        std::vector<SymbolicSize> symbolic;
    };
    std::optional<Draft> draft_of(const Argument& argument);
    TensorType take_tensor(Draft& draft, const std::string& name);
    std::optional<Value> value_of(const Argument& argument, std::vector<SymbolicSize>& symbolic);
    static void assemble(joulecast::Node& node, std::vector<Draft> drafts);
    void add_outputs(joulecast::Node& node, const std::vector<Argument>& outputs);

    const Program& program_;
    Symbols symbols_;
    Graph graph_;
    std::unordered_map<std::string, KnownTensor> tensors_;
    std::unordered_map<std::string, ValueRef> references_;
};

KnownTensor Translation::read_tensor(const Tensor& source) {
    if (source.layout != strided_layout)
        throw FormatError("it is sparse, which joulecast does not know. Export the network with dense tensors");
    if (source.sizes.size() > most_dimensions) throw FormatError("it has more than 64 dimensions");
    KnownTensor known;
    known.type.dtype = required_dtype(source.dtype);
    for (const Integer& size : source.sizes) {
        auto [value, expression] = symbols_.resolve(size);
        if (expression)
            known.symbolic.emplace_back(static_cast<std::int32_t>(known.type.sizes.size()), std::move(*expression));
        known.type.sizes.push_back(value);
    }
    byte_count(known.type);  // throws for negative and overflowing sizes
    if (source.strides) {
        if (source.strides->size() != source.sizes.size()) throw FormatError("it has more or fewer strides than sizes");
        std::vector<std::int64_t> strides;
        for (const Integer& stride : *source.strides) strides.push_back(symbols_.resolve(stride).first);
        known.type.layout = layout_of(known.type.sizes, strides);
    }
    return known;
}

const KnownTensor& Translation::tensor(const std::string& name) {
    const auto known = tensors_.find(name);
    if (known != tensors_.end()) return known->second;
    const auto found = program_.tensors.find(name);
    if (found == program_.tensors.end()) throw FormatError("tensor \"" + name + "\" is not among tensor_values");
    try {
        return tensors_.emplace(name, read_tensor(found->second)).first->second;
    } catch (const FormatError& error) {
        throw FormatError("tensor \"" + name + "\": " + error.what());
    }
}

std::vector<std::string> Translation::tensor_names(const Argument& argument) {
    std::vector<std::string> names;
    if (const auto* one = std::get_if<TensorName>(&argument.value)) {
        if (*one) names.push_back(**one);
    } else if (const auto* list = std::get_if<std::vector<TensorName>>(&argument.value)) {
        for (const TensorName& name : *list)
            if (name) names.push_back(*name);
    }
    return names;
}

ValueRef Translation::reference(const std::string& name) const {
    const auto found = references_.find(name);
    if (found == references_.end()) throw FormatError("tensor \"" + name + "\" is used, but nothing before makes it");
    return found->second;
}

void Translation::add_input(const Argument& input) {
    for (const std::string& name : tensor_names(input)) {
        const KnownTensor& known = tensor(name);
        GraphInput graph_input{name, GraphInput::Kind::user_input, known.type, known.symbolic};
        const auto spec = program_.input_specs.find(name);
        if (spec != program_.input_specs.end()) {
            graph_input.kind = spec->second.kind;
            graph_input.name = spec->second.dotted_name;
        }
        references_[name] = {-1, static_cast<std::int32_t>(graph_.inputs.size())};
        graph_.inputs.push_back(std::move(graph_input));
    }
}

/// The name of what keeps joulecast's record of the operation from costing it: an argument of a kind that no Operation
/// holds, or one that a later torch added to the schema.
std::optional<std::string> unsupported_part(const Node& source, const Record& record) {
    for (const Argument& argument : source.inputs) {
        if (const auto* unknown = std::get_if<Unknown>(&argument.value)) return unknown->variant;
        if (std::ranges::find(record.parameters, argument.name, &Parameter::name) == record.parameters.end())
            return argument.name;
    }
    return std::nullopt;
}

void Translation::add_node(const Node& source) {
    joulecast::Node node;
    node.operation.target = target_of(source.target);
    node.module_path = module_path_of(source.nn_module_stack);
    node.source_line = source_line_of(source.stack_trace);
    // A record must not cost what it has not seen whole: such a node gets a target without a record, which says why.
    if (const Record* record = find_record(node.operation.target))
        if (const auto part = unsupported_part(source, *record))
            node.operation.target = target_of(source.target + ".unsupported_" + *part);
    if (source.inputs.size() > longest_list) throw FormatError("it has more than 4096 arguments");
    std::vector<Draft> drafts;
    std::set<std::string> names;
    for (const Argument& argument : source.inputs) {
        if (!names.insert(argument.name).second) throw FormatError("argument " + argument.name + " is given twice");
        if (auto draft = draft_of(argument)) drafts.push_back(*std::move(draft));
    }
    assemble(node, std::move(drafts));
    add_outputs(node, source.outputs);
    graph_.nodes.push_back(std::move(node));
}

/// Puts the arguments into the operation in canonical form, then edges and symbolic sizes at the places that they got.
void Translation::assemble(joulecast::Node& node, std::vector<Draft> drafts) {
    for (const Draft& draft : drafts) node.operation.arguments.push_back({draft.name, draft.value});
    Operation brief = canonical(node.operation);
    // A symbolic size that happens to equal the default at export must stay.
    const bool keeps_symbols = std::ranges::all_of(drafts, [&](const Draft& draft) {
        return draft.symbolic.empty() || find_argument(brief, draft.name) != nullptr;
    });
    if (keeps_symbols) node.operation = std::move(brief);
    for (std::size_t i = 0; i < node.operation.arguments.size(); ++i) {
        Draft& draft = *std::ranges::find(drafts, node.operation.arguments[i].name, &Draft::name);
        for (SymbolicSize& size : draft.symbolic) {
            const bool is_tensor = size.place == SymbolicSize::Place::input_tensor;
            size.index =
                static_cast<std::int32_t>(is_tensor ? node.inputs.size() + static_cast<std::size_t>(size.index) : i);
            node.symbolic.push_back(std::move(size));
        }
        node.inputs.insert(node.inputs.end(), draft.tensors.begin(), draft.tensors.end());
    }
}

TensorType Translation::take_tensor(Draft& draft, const std::string& name) {
    const KnownTensor& known = tensor(name);
    for (const auto& [dimension, expression] : known.symbolic)
        draft.symbolic.push_back({SymbolicSize::Place::input_tensor, static_cast<std::int32_t>(draft.tensors.size()),
                                  dimension, expression});
    draft.tensors.push_back(reference(name));
    return known.type;
}

/// The value of an argument that holds no tensor; absent for those that decide no cost or cannot be held.
std::optional<Value> Translation::value_of(const Argument& argument, std::vector<SymbolicSize>& symbolic) {
    if (const auto* integer = std::get_if<Integer>(&argument.value)) {
        auto [value, expression] = symbols_.resolve(*integer);
        if (expression) symbolic.push_back({SymbolicSize::Place::argument, 0, 0, std::move(*expression)});
        return Value(value);
    }
    if (const auto* list = std::get_if<std::vector<Integer>>(&argument.value)) {
        std::vector<std::int64_t> values;
        for (const Integer& integer : *list) {
            auto [value, expression] = symbols_.resolve(integer);
            if (expression)
                symbolic.push_back({SymbolicSize::Place::argument, 0, static_cast<std::int32_t>(values.size()),
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
    if (std::holds_alternative<None>(argument.value)) return Value(None{});
    if (const auto* flag = std::get_if<bool>(&argument.value)) return Value(*flag);
    if (const auto* number = std::get_if<double>(&argument.value)) return Value(*number);
    if (const auto* text = std::get_if<std::string>(&argument.value)) return Value(*text);
    if (const auto* flags = std::get_if<std::vector<bool>>(&argument.value)) return Value(*flags);
    if (const auto* numbers = std::get_if<std::vector<double>>(&argument.value)) return Value(*numbers);
    return std::nullopt;
}

/// Absent for arguments that decide no cost.
std::optional<Translation::Draft> Translation::draft_of(const Argument& argument) {
    Draft draft{argument.name, {}, {}, {}};
    if (argument.name == "cudnn_enabled" || argument.name == "cudnn_enable") {
        // torch.export traces with cuDNN switched off; a network that runs has torch.backends.cudnn.enabled = True.
        draft.value = true;
    } else if (const auto* one = std::get_if<TensorName>(&argument.value)) {
        draft.value = *one ? Value(take_tensor(draft, **one)) : Value(None{});
    } else if (const auto* list = std::get_if<std::vector<TensorName>>(&argument.value)) {
        TensorList tensors;
        for (const TensorName& name : *list)
            tensors.push_back(name ? std::optional(take_tensor(draft, *name)) : std::nullopt);
        draft.value = std::move(tensors);
    } else if (auto value = value_of(argument, draft.symbolic)) {
        draft.value = *std::move(value);
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
        draft.value);
    if (length > longest_list) throw FormatError("argument " + argument.name + " has more than 4096 items");
    return draft;
}

void Translation::add_outputs(joulecast::Node& node, const std::vector<Argument>& outputs) {
    for (const Argument& output : outputs) {
        for (const std::string& name : tensor_names(output)) {
            const KnownTensor& known = tensor(name);
            const auto index = static_cast<std::int32_t>(node.outputs.size());
            for (const auto& [dimension, expression] : known.symbolic)
                node.symbolic.push_back({SymbolicSize::Place::output_tensor, index, dimension, expression});
            references_[name] = {static_cast<std::int32_t>(graph_.nodes.size()), index};
            node.outputs.push_back(known.type);
        }
    }
}

}  // namespace

Graph to_graph(const Program& program, const std::vector<std::pair<std::string, std::string>>& names,
               const SymbolValues& values) {
    return Translation(program, names, values).graph();
}

}  // namespace joulecast::pt2
