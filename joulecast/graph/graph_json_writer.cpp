#include <nlohmann/json.hpp>

#include "joulecast/graph/graph_json.h"
#include "joulecast/graph/graph_json_words.h"
#include "joulecast/graph/size_text.h"

namespace joulecast {
namespace {

using Json = nlohmann::ordered_json;
using SymbolicSizes = std::vector<std::pair<std::int32_t, Expression>>;

/// File names and texts of operations need not be UTF-8.
std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_of(ValueRef ref) {
    return (ref.node < 0 ? "input" : std::to_string(ref.node)) + "." + std::to_string(ref.output);
}

Json references(const std::vector<ValueRef>& refs) {
    Json list = Json::array();
    for (const ValueRef& ref : refs) list.push_back(text_of(ref));
    return list;
}

Json symbols_json(const Graph& graph, GraphText form) {
    Json json = Json::object();
    for (const auto& [name, symbol] : graph.symbols) {
        if (form == GraphText::line) {
            json[name] = symbol.value;
            continue;
        }
        json[name] = {{"value", symbol.value}, {"low", symbol.low}};
        if (symbol.high != INT64_MAX) json[name]["high"] = symbol.high;
    }
    return json;
}

Json json_of(const GraphInput& input, GraphText form) {
    const bool is_file = form == GraphText::file;
    const auto symbolic = is_file ? input.symbolic : SymbolicSizes{};
    const auto strides = is_file ? input.symbolic_strides : std::vector<Expression>{};
    return {{"name", input.name},
            {"kind", graph_json::word(input.kind)},
            {"type", text_with_symbols(input.type, symbolic, strides)}};
}

Json json_of(const Node& node, bool has_edges, GraphText form) {
    const auto symbolic = form == GraphText::file ? node.symbolic : std::vector<SymbolicSize>{};
    Json json{{"operation", text_with_symbols(node.operation, symbolic)}};
    if (has_edges) json["inputs"] = references(node.inputs);
    if (has_edges || !node.outputs.empty()) {
        std::vector<SymbolicSizes> sizes(node.outputs.size());
        std::vector<std::vector<Expression>> strides(node.outputs.size());
        for (const SymbolicSize& size : symbolic) {
            const auto index = static_cast<std::size_t>(size.index);
            if (size.place == SymbolicSize::Place::output_tensor)
                sizes.at(index).emplace_back(size.position, size.expression);
            if (size.place == SymbolicSize::Place::output_stride) strides.at(index).push_back(size.expression);
        }
        json["outputs"] = Json::array();
        for (std::size_t i = 0; i < node.outputs.size(); ++i)
            json["outputs"].push_back(text_with_symbols(node.outputs[i], sizes[i], strides[i]));
    }
    if (!node.module_path.empty()) json["module"] = node.module_path;
    if (!node.source_line.empty()) json["source"] = node.source_line;
    if (node.count != 1) json["count"] = node.count;
    return json;
}

template <class Items, class Write>
std::string list(const Items& items, GraphText form, const Write& write) {
    const std::string_view separator = form == GraphText::file ? ",\n  " : ",";
    std::string text = form == GraphText::file && !items.empty() ? "[\n  " : "[";
    bool first = true;
    for (const auto& item : items) {
        if (!first) text += separator;
        first = false;
        text += text_of(write(item));
    }
    return text + "]";
}

}  // namespace

std::string graph_to_json(const Graph& graph, GraphText form) {
    const std::string_view next = form == GraphText::file ? ",\n \"" : ",\"";
    std::string text = R"({"schema":")" + std::string(graph_json::schema) + "\"";
    const auto add = [&](std::string_view key, const std::string& value) {
        text += next;
        text += key;
        text += "\":" + value;
    };
    add("name", text_of(graph.name));
    add("mode", text_of(name(graph.mode)));
    add("has_edges", graph.has_edges ? "true" : "false");
    add("symbols", text_of(symbols_json(graph, form)));
    add("inputs", list(graph.inputs, form, [&](const GraphInput& input) { return json_of(input, form); }));
    add("nodes", list(graph.nodes, form, [&](const Node& node) { return json_of(node, graph.has_edges, form); }));
    add("outputs", text_of(references(graph.outputs)));
    return text + (form == GraphText::file ? "}\n" : "}");
}

}  // namespace joulecast
