#include <algorithm>
#include <array>
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

const Parameter* find_parameter(const Record* record, std::string_view name) {
    if (record == nullptr) return nullptr;
    const auto found = std::ranges::find(record->parameters, name, &Parameter::name);
    return found == record->parameters.end() ? nullptr : &*found;
}

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
    void add_argument(joulecast::Node& node, const Argument& argument, const Record* record);
    std::optional<Value> value_of(const Argument& argument, std::vector<SymbolicSize>& symbolic);
    TensorType take_tensor(joulecast::Node& node, const std::string& name);
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

void Translation::add_node(const Node& source) {
    joulecast::Node node;
    node.operation.target = target_of(source.target);
    node.module_path = module_path_of(source.nn_module_stack);
    node.source_line = source_line_of(source.stack_trace);

    const Record* record = find_record(node.operation.target);
    std::vector<const Argument*> arguments;
    for (const Argument& argument : source.inputs) {
        arguments.push_back(&argument);
        // Never costed by a record that has not seen all arguments: the target then names what is missing.
        const auto* unknown = std::get_if<Unknown>(&argument.value);
        if (unknown != nullptr && record != nullptr) {
            node.operation.target = target_of(source.target + ".unsupported_" + unknown->variant);
            record = nullptr;
        }
    }
    const auto rank = [&](const Argument* argument) {
        const Parameter* parameter = find_parameter(record, argument->name);
        return parameter == nullptr ? std::ptrdiff_t{0} : parameter - record->parameters.data();
    };
    if (record != nullptr &&
        std::ranges::all_of(arguments, [&](const Argument* a) { return find_parameter(record, a->name); }))
        std::ranges::stable_sort(arguments, {}, rank);
    for (const Argument* argument : arguments) add_argument(node, *argument, record);
    add_outputs(node, source.outputs);
    graph_.nodes.push_back(std::move(node));
}

TensorType Translation::take_tensor(joulecast::Node& node, const std::string& name) {
    const KnownTensor& known = tensor(name);
    for (const auto& [dimension, expression] : known.symbolic)
        node.symbolic.push_back(
            {SymbolicSize::Place::input_tensor, static_cast<std::int32_t>(node.inputs.size()), dimension, expression});
    node.inputs.push_back(reference(name));
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

void Translation::add_argument(joulecast::Node& node, const Argument& argument, const Record* record) {
    if (argument.name == "pin_memory" || argument.name == "generator") return;  // decide no cost
    std::optional<Value> value;
    std::vector<SymbolicSize> symbolic;
    if (const auto* one = std::get_if<TensorName>(&argument.value)) {
        value = *one ? Value(take_tensor(node, **one)) : Value(None{});
    } else if (const auto* list = std::get_if<std::vector<TensorName>>(&argument.value)) {
        if (list->size() > longest_list) throw FormatError("argument " + argument.name + " has more than 4096 items");
        TensorList tensors;
        for (const TensorName& name : *list)
            tensors.push_back(name ? std::optional(take_tensor(node, *name)) : std::nullopt);
        value = std::move(tensors);
    } else {
        value = value_of(argument, symbolic);
    }
    if (!value) return;
    if (const auto* list = std::get_if<std::vector<std::int64_t>>(&*value);
        list != nullptr && list->size() > longest_list)
        throw FormatError("argument " + argument.name + " has more than 4096 items");
    const Parameter* parameter = find_parameter(record, argument.name);
    if (symbolic.empty() && parameter != nullptr && parameter->default_value &&
        equals_default(*value, *parameter->default_value))
        return;
    for (SymbolicSize& size : symbolic) {
        size.index = static_cast<std::int32_t>(node.operation.arguments.size());
        node.symbolic.push_back(std::move(size));
    }
    node.operation.arguments.push_back({argument.name, std::move(*value)});
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
