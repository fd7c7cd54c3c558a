#include "joulecast/graph/readers/onnx_translation.h"

#include <algorithm>

#include "joulecast/error.h"
#include "joulecast/graph/readers/onnx_ops.h"
#include "joulecast/graph/record.h"

namespace joulecast::onnx {

namespace {

/// Nodes after all functions are written out; exported networks have some ten thousand.
constexpr std::size_t most_steps = 250'000;
/// Calls that those become.
constexpr std::size_t most_calls = 500'000;
/// Functions in functions, and branches in them.
constexpr std::size_t deepest_calls = 64;
/// Known numbers that become a tensor because an operation asks for them: how far back the calls are made.
constexpr int deepest_materializing = 64;

/// Throws FormatError for sizes that are negative, overflow, or are too many.
void check_type(const TensorType& type) {
    constexpr std::size_t most_dimensions = 64;
    if (type.sizes.size() > most_dimensions) throw FormatError("it makes a tensor of more than 64 dimensions");
    byte_count(type);
}

std::string label(std::size_t index, const Node& node) {
    constexpr std::size_t longest = 100;
    const std::string& name = node.name.empty() && !node.outputs.empty() ? node.outputs.front() : node.name;
    return "node " + std::to_string(index) + " (" + (node.domain.empty() ? "" : node.domain.substr(0, longest) + ".") +
           node.op_type.substr(0, longest) + " \"" + name.substr(0, longest) + "\"): ";
}

}  // namespace

Translation::Translation(const Model& model, const Symbols& symbols, SymbolValues values)
    : model_(model), symbols_(symbols), values_(std::move(values)) {}

Graph Translation::graph() {
    graph_.symbols = symbols_.chosen(values_, unclaimed_);
    note_version();
    Frame& frame = frames_.emplace_back();
    frame.opsets = &model_.opsets;
    frame.value_infos = &model_.graph.value_infos;
    add_inputs(frame);
    add_initializers(model_.graph, frame);
    run(model_.graph.nodes, frame);
    for (const ValueInfo& output : model_.graph.outputs) {
        const HeldPointer held = find(output.name, &frame);
        if (held == nullptr) throw FormatError("output \"" + output.name + "\" is made by no node");
        Operands operands;
        append_operands(*held, operands);
        for (const auto& tensor : operands) graph_.outputs.push_back(tensor->ref);
    }
    if (!unclaimed_.empty()) symbols_.refuse(*unclaimed_.begin());
    return std::move(graph_);
}

void Translation::note_version() {
    const auto found = model_.opsets.find("");
    if (found == model_.opsets.end()) return;
    const std::int64_t version = found->second;
    if (version >= oldest_tested && version <= newest_tested) return;
    graph_.notes.push_back("The model uses version " + std::to_string(version) +
                           " of ONNX's operator set. joulecast is tested with " + std::to_string(oldest_tested) +
                           " to " + std::to_string(newest_tested) +
                           ": operators that are different in that version are counted wrong.");
}

std::optional<TensorType> Translation::type_of(const ValueInfo& info) const {
    if (!info.dtype || !info.shape) return std::nullopt;
    TensorType type = tensor_type(*info.dtype, {});
    for (const Dimension& dimension : *info.shape) {
        const auto size = Symbols::size_of(dimension, values_);
        if (!size) return std::nullopt;
        type.sizes.push_back(*size);
    }
    byte_count(type);  // throws for negative and overflowing sizes
    return type;
}

std::optional<std::int64_t> Translation::size_of(const Dimension& dimension) const {
    try {
        return Symbols::size_of(dimension, values_);
    } catch (const FormatError&) {
        throw;
    } catch (const Error&) {
        return std::nullopt;  // a symbol without a value
    }
}

std::optional<std::int64_t> Translation::size_at_run_time(const std::string& symbol) {
    const auto found = values_.find(symbol);
    if (found == values_.end()) return std::nullopt;
    unclaimed_.erase(symbol);
    graph_.symbols[symbol].value = found->second;
    return found->second;
}

namespace {

/// Axes, shapes and paddings: integers in a row, or one.
bool may_have_set_numbers(const TensorType& type) {
    constexpr std::int64_t most_numbers = 64;
    return !is_floating(type.dtype) && type.sizes.size() <= 1 && element_count(type) <= most_numbers;
}

std::string name_of_number(const std::string& input, std::int64_t position) {
    return input + "_value_" + std::to_string(position);
}

}  // namespace

std::optional<Constant> Translation::numbers_of_input(const std::string& name, const TensorType& type) {
    if (!may_have_set_numbers(type)) return std::nullopt;
    Constant numbers{type.dtype, type.sizes, {}, {}};
    const std::int64_t count = element_count(type);
    for (std::int64_t i = 0; i < count; ++i) {
        const std::string symbol = name_of_number(name, i);
        const auto number = size_at_run_time(symbol);
        if (number) {
            graph_.symbols[symbol].low = INT64_MIN;
            numbers.integers.push_back(*number);
        } else if (!numbers.integers.empty()) {
            throw FormatError("its number " + std::to_string(i) + " is not set. Give it too: --set " + symbol + "=1");
        }
    }
    if (std::ssize(numbers.integers) < count) return std::nullopt;
    return numbers;
}

std::string Translation::settable_numbers() const {
    constexpr std::int64_t most_shown = 8;
    for (const GraphInput& input : graph_.inputs) {
        if (input.kind != GraphInput::Kind::user_input || !may_have_set_numbers(input.type)) continue;
        const std::int64_t count = element_count(input.type);
        if (count == 0 || graph_.symbols.contains(name_of_number(input.name, 0))) continue;
        std::string options;
        for (std::int64_t i = 0; i < std::min(count, most_shown); ++i)
            options += " --set " + name_of_number(input.name, i) + "=1";
        return "the numbers of input \"" + input.name + "\" can be given:" + options +
               (count > most_shown ? " and so on" : "");
    }
    return {};
}

void Translation::add_inputs(Frame& frame) {
    for (const ValueInfo& input : model_.graph.inputs) {
        try {
            const auto type = type_of(input);
            if (!type) throw FormatError(input.why_no_type());
            auto held = std::make_shared<Held>();
            held->name = input.name;
            held->type = *type;
            held->known = numbers_of_input(input.name, *type);
            held->ref = ValueRef{-1, static_cast<std::int32_t>(graph_.inputs.size())};
            graph_.inputs.push_back({input.name, GraphInput::Kind::user_input, *type, {}});
            if (!frame.values.emplace(input.name, std::move(held)).second)
                throw FormatError("there are two of that name");
        } catch (const FormatError& error) {
            throw FormatError("input \"" + input.name + "\": " + error.what());
        }
    }
}

void Translation::add_initializers(const Body& body, Frame& frame) {
    for (const Tensor& tensor : body.initializers) {
        auto held = std::make_shared<Held>();
        held->name = tensor.name;
        held->type = tensor_type(tensor.dtype, tensor.sizes);
        byte_count(held->type);
        held->known = tensor.values;
        held->is_stored = true;
        // Numbers without dimensions are factors and bounds, whatever wrote them into the file as weights.
        const bool is_weight = is_floating(tensor.dtype) && !tensor.sizes.empty();
        held->kind = is_weight ? GraphInput::Kind::parameter : GraphInput::Kind::constant;
        frame.values[tensor.name] = std::move(held);
    }
}

HeldPointer Translation::find(const std::string& name, Frame* frame) {
    for (; frame != nullptr; frame = frame->parent) {
        const auto found = frame->values.find(name);
        if (found != frame->values.end()) return found->second;
    }
    return nullptr;
}

std::vector<HeldPointer> Translation::inputs_of(const Node& node, Frame& frame) const {
    std::vector<HeldPointer> inputs;
    for (const std::string& name : node.inputs) {
        inputs.push_back(name.empty() ? nullptr : find(name, &frame));
        if (!name.empty() && inputs.back() == nullptr)
            throw FormatError(
                "its input \"" + name +
                "\" is not an input of the network, not a weight, and no earlier node makes it. The nodes of an "
                "ONNX file stand in the order in which they run");
    }
    return inputs;
}

std::vector<HeldPointer> Translation::new_outputs(const Node& node, Frame& frame) {
    std::vector<HeldPointer> outputs;
    for (const std::string& name : node.outputs) {
        if (name.empty()) {
            outputs.push_back(nullptr);
            continue;
        }
        auto held = std::make_shared<Held>();
        held->name = name;
        outputs.push_back(held);
        if (!frame.values.emplace(name, std::move(held)).second)
            throw FormatError("its output \"" + name + "\" is made a second time");
    }
    return outputs;
}

void Translation::run(const std::vector<Node>& nodes, Frame& frame) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        try {
            count_steps(1);
            step(nodes[i], frame);
        } catch (const FormatError& error) {
            throw FormatError(label(i, nodes[i]) + error.what());
        }
    }
}

void Translation::count_steps(std::size_t steps) {
    steps_ += steps;
    if (steps_ > most_steps)
        throw FormatError(
            "it has more than 250 000 nodes once functions and loops are written out, more than any network");
}

void Translation::step(const Node& node, Frame& frame) {
    if (node.domain.empty()) {
        if (node.op_type == "If" && run_branch(node, frame)) return;
        if (node.op_type == "Loop" && run_loop(node, frame)) return;
        if (node.op_type == "Scan" && run_scan(node, frame)) return;
    }
    const std::vector<HeldPointer> inputs = inputs_of(node, frame);
    const Call reading(*this, node, frame, inputs, {});
    if (find_row(node.domain, node.op_type, reading.opset()) == nullptr) {
        const auto function = model_.functions.find({node.domain, node.op_type});
        if (function != model_.functions.end()) return run_function(function->second, node, frame);
    }
    auto numbers = evaluate(reading);
    const std::vector<HeldPointer> outputs = new_outputs(node, frame);
    if (!numbers) return translate(node, frame, outputs);
    for (std::size_t i = 0; i < outputs.size() && i < numbers->size(); ++i) {
        if (outputs[i] == nullptr) continue;
        Held& held = *outputs[i];
        held.known = std::move((*numbers)[i]);
        held.type = tensor_type(held.known->dtype, held.known->sizes);
        check_type(held.type);
        held.producer = &node;
        held.frame = &frame;
    }
}

void Translation::translate(const Node& node, Frame& frame, const std::vector<HeldPointer>& outputs) {
    Call call(*this, node, frame, inputs_of(node, frame), outputs);
    const Row* row = find_row(node.domain, node.op_type, call.opset());
    if (row == nullptr) {
        call.emit_named();
    } else {
        row->translate(call);
    }
    for (const HeldPointer& held : outputs)
        if (held != nullptr && !held->ref && held->same == nullptr && !held->known && !held->is_stored &&
            !held->elements)
            throw FormatError("joulecast does not know its output \"" + held->name + "\"");
}

void Translation::run_function(const Function& function, const Node& node, Frame& frame) {
    if (std::ranges::find(active_, &function) != active_.end()) throw FormatError("a function calls itself");
    if (active_.size() >= deepest_calls) throw FormatError("functions are nested deeper than 64 levels");
    if (node.inputs.size() > function.inputs.size()) throw FormatError("the function has fewer inputs");
    const std::vector<HeldPointer> inputs = inputs_of(node, frame);
    Frame& inner = frames_.emplace_back();
    inner.opsets = &function.opsets;
    inner.caller = node.module_path.empty() && node.source_line.empty() ? frame.caller : &node;
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i] != nullptr) inner.values[function.inputs[i]] = inputs[i];
    for (const Attribute& attribute : function.defaults) inner.attributes[attribute.name] = &attribute;
    const Call reading(*this, node, frame, inputs, {});
    for (const Attribute& attribute : node.attributes)
        if (const Attribute* bound = reading.attribute(attribute.name)) inner.attributes[attribute.name] = bound;
    active_.push_back(&function);
    run(function.nodes, inner);
    active_.pop_back();
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].empty()) continue;
        if (i >= function.outputs.size()) throw FormatError("the function has fewer outputs");
        const HeldPointer held = find(function.outputs[i], &inner);
        if (held == nullptr) throw FormatError("the function does not make its output \"" + function.outputs[i] + "\"");
        frame.values[node.outputs[i]] = held;
    }
}

namespace {

void collect_captured(const Body& body, std::set<std::string>& inner, std::vector<std::string>& outer) {
    for (const ValueInfo& input : body.inputs) inner.insert(input.name);
    for (const Tensor& tensor : body.initializers) inner.insert(tensor.name);
    for (const Node& node : body.nodes) {
        for (const std::string& name : node.inputs)
            if (!name.empty() && !inner.contains(name)) outer.push_back(name);
        for (const Attribute& attribute : node.attributes)
            if (attribute.body != nullptr) collect_captured(*attribute.body, inner, outer);
        inner.insert(node.outputs.begin(), node.outputs.end());
    }
}

}  // namespace

std::vector<HeldPointer> Translation::captured(const Node& node, Frame& frame) const {
    std::vector<std::string> names;
    for (const Attribute& attribute : node.attributes) {
        std::set<std::string> inner;
        if (attribute.body != nullptr) collect_captured(*attribute.body, inner, names);
    }
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
    std::vector<HeldPointer> values;
    for (const std::string& name : names)
        if (HeldPointer held = find(name, &frame)) values.push_back(std::move(held));
    return values;
}

Operand Translation::add_constant(Held& held) {
    held.ref = ValueRef{-1, static_cast<std::int32_t>(graph_.inputs.size())};
    graph_.inputs.push_back({held.name, held.kind, held.type, {}});
    return {held.type, *held.ref};
}

Operand Translation::transposed(Held& held, const Node& node, const Frame& frame) {
    if (held.same != nullptr) return transposed(*held.same, node, frame);
    if (held.type.sizes.size() != 2) throw FormatError("its weight has not two dimensions");
    if (!held.transposed) {
        if (held.is_stored && !held.ref) {
            held.transposed = ValueRef{-1, static_cast<std::int32_t>(graph_.inputs.size())};
            const TensorType turned = tensor_type(held.type.dtype, {held.type.sizes[1], held.type.sizes[0]});
            graph_.inputs.push_back({held.name, held.kind, turned, {}});
        } else {
            held.transposed = emit(node, frame, "aten::t", {{"self", operand(held)}}, nullptr).at(0).ref;
        }
    }
    return {joulecast::type_of(graph_, *held.transposed), *held.transposed};
}

void Translation::append_operands(Held& held, Operands& operands) {
    if (!held.elements) return operands.push_back(operand(held));
    for (const HeldPointer& element : *held.elements) append_operands(*element, operands);
}

Operand Translation::operand(Held& held) {
    if (held.elements) throw FormatError("\"" + held.name + "\" is a sequence where a tensor is needed");
    if (held.same != nullptr) return operand(*held.same);
    if (held.ref) return {held.type, *held.ref};
    if (held.transposed) {
        const Operand turned{joulecast::type_of(graph_, *held.transposed), *held.transposed};
        static const Node no_node;
        const Operand back = emit(no_node, frames_.front(), "aten::t", {{"self", turned}}, nullptr).at(0);
        held.ref = back.ref;
        held.type = back.type;
        return back;
    }
    const bool is_sequence = held.known && held.known->count() > 1;
    if (held.producer == nullptr || !is_sequence || materializing_ >= deepest_materializing) return add_constant(held);
    // Positions, masks: the calls that were left out as long as only sizes were worked out from them.
    const Node& node = *held.producer;
    Frame& frame = *held.frame;
    if (find_row(node.domain, node.op_type, Call(*this, node, frame, {}, {}).opset()) == nullptr)
        return add_constant(held);
    std::vector<HeldPointer> outputs;
    for (const std::string& name : node.outputs) outputs.push_back(name.empty() ? nullptr : find(name, &frame));
    ++materializing_;
    translate(node, frame, outputs);
    --materializing_;
    if (held.same != nullptr) return operand(*held.same);
    return held.ref ? Operand{held.type, *held.ref} : add_constant(held);
}

std::vector<Operand> Translation::emit(const Node& node, const Frame& frame, const std::string& target,
                                       std::vector<Given> given, const std::vector<TensorType>* outputs) {
    if (graph_.nodes.size() >= most_calls)
        throw FormatError("it becomes more than 500 000 calls, more than any network");
    joulecast::Node result;
    result.operation.target = target;
    const Node* origin =
        node.module_path.empty() && node.source_line.empty() && frame.caller != nullptr ? frame.caller : &node;
    result.module_path = origin->module_path;
    result.source_line = origin->source_line;
    std::map<std::string, std::vector<ValueRef>> edges;
    for (Given& item : given) {
        Value value;
        if (const auto* single = std::get_if<Operand>(&item.item)) {
            edges[item.name].push_back(single->ref);
            value = single->type;
        } else if (const auto* several = std::get_if<Operands>(&item.item)) {
            TensorList list;
            for (const auto& entry : *several) {
                list.push_back(entry ? std::optional(entry->type) : std::nullopt);
                if (entry) edges[item.name].push_back(entry->ref);
            }
            value = std::move(list);
        } else {
            value = std::get<Value>(std::move(item.item));
        }
        result.operation.arguments.push_back({item.name, std::move(value)});
    }
    const Record* record = find_record(target);
    if (record != nullptr) result.operation = canonical(std::move(result.operation));
    for (const Argument& argument : result.operation.arguments)
        if (const auto found = edges.find(argument.name); found != edges.end())
            result.inputs.insert(result.inputs.end(), found->second.begin(), found->second.end());
    if (record == nullptr && outputs == nullptr) throw FormatError("joulecast has no record of " + target);
    result.outputs = outputs != nullptr ? *outputs : record->outputs(result.operation);
    if (record != nullptr) forward_counts(result.operation);  // throws for what cannot be right
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < result.outputs.size(); ++i) {
        check_type(result.outputs[i]);
        operands.push_back(
            {result.outputs[i], {static_cast<std::int32_t>(graph_.nodes.size()), static_cast<std::int32_t>(i)}});
    }
    graph_.nodes.push_back(std::move(result));
    return operands;
}

}  // namespace joulecast::onnx
