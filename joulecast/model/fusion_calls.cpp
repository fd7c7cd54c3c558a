#include "joulecast/model/fusion_calls.h"

#include <algorithm>
#include <array>
#include <set>

#include "joulecast/units/one_of.h"

namespace joulecast {
namespace {

/// With its operand contiguous, which all tensors are to an engine without strides, the result is contiguous, too.
bool keeps_order(const Operation& operation, std::string_view name) {
    constexpr std::array<std::string_view, 4> turning{"roll", "flip", "fft_fftshift", "fft_ifftshift"};
    const Record* record = find_record(operation.target);
    if (record == nullptr || is_one_of(name, turning)) return false;
    Operation plain = operation;
    for (TensorType* tensor : tensors(plain)) tensor->strides = {};
    const std::vector<TensorType> results = record->outputs(plain);
    return std::ranges::all_of(results, &is_contiguous);
}

bool writes(std::string_view name) {
    constexpr std::array<std::string_view, 3> writing{"copy", "fill", "zero"};
    return is_one_of(name, writing);
}

/// Their values depend on no value of their operands.
bool is_made_of_sizes(std::string_view name) {
    constexpr std::array<std::string_view, 12> making{"arange",     "zeros",     "ones",      "full",
                                                      "empty",      "new_zeros", "new_ones",  "new_full",
                                                      "zeros_like", "ones_like", "full_like", "empty_like"};
    return is_one_of(name, making);
}

std::string_view kind_of(Family family, std::string_view name) {
    if (writes(name)) return "write";
    if (name == "batch_norm") return "scaling";
    return family == Family::view || family == Family::copy ? "move" : joulecast::name(family);
}

/// The signature without its tensors: what differs between two views of tensors of the same sizes.
std::string settings_of(const Operation& operation) {
    Operation bare{operation.target, {}};
    for (const Argument& argument : operation.arguments) {
        const bool is_tensor =
            std::holds_alternative<TensorType>(argument.value) || std::holds_alternative<TensorList>(argument.value);
        if (!is_tensor) bare.arguments.push_back(argument);
    }
    return signature(bare).substr(operation.target.size());
}

std::vector<std::string> names_of_readers(const Graph& graph, const std::vector<FusionCall>& calls) {
    std::vector<std::set<std::string_view>> names(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (calls[i].is_arithmetic) continue;
        for (const ValueRef& input : graph.nodes[i].inputs)
            if (input.node >= 0) names[static_cast<std::size_t>(input.node)].insert(calls[i].name);
    }
    std::vector<std::string> joined(names.size());
    for (std::size_t i = 0; i < names.size(); ++i)
        for (const std::string_view name : names[i]) (joined[i] += joined[i].empty() ? "" : "+") += name;
    return joined;
}

bool is_constant(const Graph& graph, const std::vector<FusionCall>& calls, const ValueRef& value) {
    if (value.node >= 0) return calls[static_cast<std::size_t>(value.node)].is_constant;
    return graph.inputs[static_cast<std::size_t>(value.output)].kind != GraphInput::Kind::user_input;
}

FusionCall call_of(const Graph& graph, const std::vector<FusionCall>& before, const Node& node) {
    FusionCall call;
    call.name = plain_name(node.operation);
    call.family = family(node.operation);
    call.kind = kind_of(call.family, call.name);
    call.is_arithmetic = is_arithmetic_on_sizes(node.operation);
    call.is_constant = is_made_of_sizes(call.name) || std::ranges::all_of(node.inputs, [&](const ValueRef& value) {
                           return is_constant(graph, before, value);
                       });
    call.is_unary = node.inputs.size() == 1 && call.family == Family::elementwise;
    if (call.kind == "move") call.moved = moved(graph, node);
    if (call.family == Family::view) call.settings = settings_of(node.operation);
    if (node.outputs.empty()) return call;
    call.rank = node.outputs.front().sizes.size();
    if (node.inputs.empty() || node.outputs.size() > 1) return call;
    const TensorType& from = type_of(graph, node.inputs.front());
    call.is_same = from.dtype == node.outputs.front().dtype && from.sizes == node.outputs.front().sizes;
    return call;
}

}  // namespace

std::string_view name_of(Moved moved) {
    switch (moved) {
        case Moved::no:
            break;
        case Moved::same:
            return "same";
        case Moved::kept:
            return "kept";
        case Moved::permuted:
            return "permuted";
        case Moved::part:
            return "part";
        case Moved::more:
            return "more";
    }
    return "";
}

Moved moved(const Graph& graph, const Node& node) {
    if (node.inputs.empty() || node.outputs.empty()) return Moved::no;
    const TensorType& from = type_of(graph, node.inputs.front());
    const TensorType& to = node.outputs.front();
    const std::int64_t before = element_count(from), after = element_count(to);
    if (after < before) return Moved::part;
    if (after > before || node.inputs.size() > 1 || node.outputs.size() > 1) return Moved::more;
    if (!keeps_order(node.operation, plain_name(node.operation))) return Moved::permuted;
    return from.sizes == to.sizes && from.dtype == to.dtype ? Moved::same : Moved::kept;
}

std::vector<FusionCall> fusion_calls(const Graph& graph) {
    std::vector<FusionCall> calls;
    for (const Node& node : graph.nodes) calls.push_back(call_of(graph, calls, node));
    std::vector<std::string> readers = names_of_readers(graph, calls);
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i].readers = std::move(readers[i]);
    return calls;
}

ReadCounts read_counts(const Graph& graph) {
    ReadCounts counts;
    for (const Node& node : graph.nodes) {
        if (is_arithmetic_on_sizes(node.operation)) continue;
        for (const ValueRef& input : node.inputs) ++counts[{input.node, input.output}];
    }
    for (const ValueRef& output : graph.outputs) ++counts[{output.node, output.output}];
    return counts;
}

bool is_arithmetic_on_sizes(const Operation& operation) {
    const Record* record = find_record(operation.target);
    return record != nullptr && record->family == Family::symbolic;
}

std::string plain_name(const Operation& operation) {
    std::string_view name = operation.target;
    if (const auto colons = name.find("::"); colons != std::string_view::npos) name.remove_prefix(colons + 2);
    name = name.substr(0, name.find('.'));
    while (name.ends_with('_')) name.remove_suffix(1);
    return std::string(name);
}

}  // namespace joulecast
