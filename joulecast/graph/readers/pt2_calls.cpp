#include "joulecast/graph/readers/pt2_calls.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "joulecast/graph/readers/pt2_terms.h"

namespace joulecast::pt2 {
namespace {

constexpr std::string_view prefix = "torch.ops.higher_order.";

struct Call {
    std::string_view name;
    /// The graph runs once, and what follows it in the arguments is what it is given.
    bool is_transparent = false;
    std::array<std::string_view, 9> arguments;
};

// torch/_higher_order_ops/*.py: the parameters of each __call__.
constexpr Call calls[] = {
    {"wrap_with_set_grad_enabled", true, {"enabled", "graph"}},
    {"wrap_with_autocast", true, {"device_type", "dtype", "enabled", "cache_enabled", "graph"}},
    {"hints_wrapper", true, {"graph", "operands", "keyword_operands"}},
    {"run_const_graph", true, {"graph", "operands"}},
    {"strict_mode", true, {"graph", "operands"}},
    {"tag_activation_checkpoint", true, {"graph"}},
    {"wrap_activation_checkpoint", true, {"graph"}},
    {"wrap", true, {"graph"}},
    {"invoke_subgraph", true, {"graph", "identifier"}},
    {"cond", false, {"pred", "true_graph", "false_graph", "operands"}},
    {"while_loop", false, {"cond_graph", "body_graph", "carried", "additional"}},
    {"scan", false, {"combine_graph", "init", "xs", "additional"}},
    {"associative_scan", false, {"combine_graph", "xs", "additional"}},
    {"map_impl", false, {"body_graph", "xs", "operands"}},
    {"flex_attention",
     false,
     {"query", "key", "value", "score_graph", "block_mask", "scale", "kernel_options", "score_operands",
      "mask_operands"}},
    {"call_torchbind", false, {"object", "method"}},
};

const Call* find_call(const Node& node) {
    if (!is_higher_order(node)) return nullptr;
    const std::string_view name = std::string_view(node.target).substr(prefix.size());
    const auto* const found = std::ranges::find(calls, name, &Call::name);
    return found == std::end(calls) ? nullptr : found;
}

void flatten(const Argument& argument, std::vector<TensorName>& names) {
    if (const auto* single = std::get_if<TensorName>(&argument.value)) {
        names.push_back(*single);
    } else if (const auto* list = std::get_if<std::vector<TensorName>>(&argument.value)) {
        names.insert(names.end(), list->begin(), list->end());
    } else if (const auto* integers = std::get_if<std::vector<Integer>>(&argument.value)) {
        names.resize(names.size() + integers->size());
    } else {
        names.emplace_back();
    }
}

/// FNV-1a.
class Fingerprint {
  public:
    void add(std::string_view text) {
        for (const char c : text) add_byte(static_cast<unsigned char>(c));
        add_byte(0xFF);  // "ab","c" differs from "a","bc"
    }
    std::string text() const {
        constexpr std::string_view digits = "0123456789abcdef";
        std::string result;
        for (int shift = 60; shift >= 0; shift -= 4) result += digits[(hash_ >> static_cast<unsigned>(shift)) & 15U];
        return result;
    }

  private:
    void add_byte(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001B3U; }
    std::uint64_t hash_ = 0xCBF29CE484222325U;
};

void add(Fingerprint& print, const Integer& integer) {
    print.add(integer.form == Integer::Form::number ? std::to_string(*integer.value) : integer.text);
}

void add(Fingerprint& print, const Body& body, const TensorName& name) {
    const auto tensor = name ? body.tensors.find(*name) : body.tensors.end();
    if (tensor == body.tensors.end()) return print.add("none");
    print.add(std::to_string(tensor->second.dtype));
    for (const Integer& size : tensor->second.sizes) add(print, size);
}

void add(Fingerprint& print, const Body& body);

void add(Fingerprint& print, const Body& body, const Argument& argument) {
    print.add(argument.name);
    print.add(std::to_string(argument.value.index()));
    const auto& value = argument.value;
    if (const auto* subgraph = std::get_if<Subgraph>(&value)) add(print, *subgraph->body);
    if (const auto* tensor = std::get_if<TensorName>(&value)) add(print, body, *tensor);
    if (const auto* list = std::get_if<std::vector<TensorName>>(&value))
        for (const TensorName& name : *list) add(print, body, name);
    if (const auto* integer = std::get_if<Integer>(&value)) add(print, *integer);
    if (const auto* integers = std::get_if<std::vector<Integer>>(&value))
        for (const Integer& integer : *integers) add(print, integer);
    if (const auto* text = std::get_if<std::string>(&value)) print.add(*text);
    if (const auto* number = std::get_if<double>(&value)) print.add(std::to_string(*number));
    if (const auto* flag = std::get_if<bool>(&value)) print.add(*flag ? "true" : "false");
    if (const auto* type = std::get_if<ScalarType>(&value)) print.add(std::to_string(type->code));
}

void add(Fingerprint& print, const Body& body) {
    for (const Node& node : body.nodes) {
        print.add(node.target);
        for (const Argument& input : node.inputs) add(print, body, input);
    }
}

}  // namespace

bool is_higher_order(const Node& node) {
    return node.target.starts_with(prefix);
}

const Body* inlined_body(const Node& node) {
    const Call* call = find_call(node);
    if (call == nullptr || !call->is_transparent) return nullptr;
    const Body* body = nullptr;
    for (const Argument& argument : node.inputs) {
        const auto* subgraph = std::get_if<Subgraph>(&argument.value);
        if (subgraph == nullptr) continue;
        if (body != nullptr) return nullptr;
        body = subgraph->body.get();
    }
    if (body == nullptr) return nullptr;
    const bool matches = operands_of(node).size() == flattened(body->inputs).size() &&
                         flattened(node.outputs).size() == flattened(body->outputs).size();
    return matches ? body : nullptr;
}

std::vector<TensorName> operands_of(const Node& node) {
    std::vector<TensorName> names;
    bool after_graph = false;
    for (const Argument& argument : node.inputs) {
        const bool is_keyword = !argument.name.empty();
        const bool is_setting = std::holds_alternative<std::string>(argument.value) ||
                                std::holds_alternative<Unknown>(argument.value) ||
                                std::holds_alternative<bool>(argument.value);
        if (after_graph && !is_keyword && !is_setting) flatten(argument, names);
        after_graph = after_graph || std::holds_alternative<Subgraph>(argument.value);
    }
    return names;
}

std::vector<TensorName> flattened(const std::vector<Argument>& arguments) {
    std::vector<TensorName> names;
    for (const Argument& argument : arguments) flatten(argument, names);
    return names;
}

bool sets_autocast(const Node& node) {
    const Call* call = find_call(node);
    return call != nullptr && call->name == "wrap_with_autocast";
}

std::optional<Dtype> autocast_dtype(const Node& node) {
    if (!sets_autocast(node) || node.inputs.size() < 3) return std::nullopt;
    const auto* enabled = std::get_if<bool>(&node.inputs[2].value);
    if (enabled == nullptr || !*enabled) return std::nullopt;
    if (const auto* type = std::get_if<ScalarType>(&node.inputs[1].value)) return required_dtype(type->code);
    // Without a type torch.autocast takes bfloat16 on a CPU, float16 elsewhere.
    const auto* device = std::get_if<std::string>(&node.inputs[0].value);
    return device != nullptr && *device == "cpu" ? Dtype::bf16 : Dtype::f16;
}

std::string argument_name(const Node& node, std::size_t index) {
    if (const std::string& name = node.inputs.at(index).name; !name.empty()) return name;
    const Call* call = find_call(node);
    if (call != nullptr && index < call->arguments.size() && !call->arguments[index].empty())
        return std::string(call->arguments[index]);
    return "arg" + std::to_string(index);
}

std::string description(const Subgraph& subgraph) {
    constexpr std::size_t most_named = 8;
    std::vector<std::string> targets;
    for (const Node& node : subgraph.body->nodes) {
        std::string target = target_of(node.target);
        if (std::ranges::find(targets, target) != targets.end()) continue;
        if (targets.size() == most_named) {
            targets.emplace_back("...");
            break;
        }
        targets.push_back(std::move(target));
    }
    std::string text = shown(subgraph.name) + ":";
    for (const std::string& target : targets) text += (text.back() == ':' ? " " : ", ") + target;
    Fingerprint print;
    add(print, *subgraph.body);
    return text + " #" + print.text();
}

}  // namespace joulecast::pt2
