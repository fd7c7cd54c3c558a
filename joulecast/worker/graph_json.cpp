#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "joulecast/error.h"
#include "joulecast/worker/protocol.h"

namespace joulecast::protocol {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "joulecast.graph/1";
constexpr std::size_t most_items = 1'000'000;

constexpr std::array<std::pair<GraphInput::Kind, const char*>, 4> kinds{{{GraphInput::Kind::user_input, "user_input"},
                                                                         {GraphInput::Kind::parameter, "parameter"},
                                                                         {GraphInput::Kind::buffer, "buffer"},
                                                                         {GraphInput::Kind::constant, "constant"}}};

/// A tensor's text form stands only inside of an operation's, so it is written and read as one with a single argument.
constexpr std::string_view around_type = "tensor(t=";

std::string text_of(const TensorType& type) {
    const std::string text = signature({"tensor", {{"t", type}}});
    return text.substr(around_type.size(), text.size() - around_type.size() - 1);
}

TensorType parse_type(const std::string& text) {
    const Operation operation = parse_operation(std::string(around_type) + text + ")");
    const auto* type =
        operation.arguments.size() == 1 ? std::get_if<TensorType>(&operation.arguments[0].value) : nullptr;
    if (type == nullptr) throw FormatError("\"" + text.substr(0, 80) + "\" is no tensor type such as f32[8,64]");
    byte_count(*type);  // throws for sizes that no memory holds
    return *type;
}

std::string text_of(ValueRef ref) {
    return (ref.node < 0 ? "input" : std::to_string(ref.node)) + "." + std::to_string(ref.output);
}

/// A reference to something that stands before: nothing can depend on itself.
ValueRef parse_ref(const std::string& text, const Graph& before) {
    const auto fail = [&](const char* what) { throw FormatError("reference \"" + text.substr(0, 40) + "\" " + what); };
    const auto number = [&](std::string_view digits) {
        std::int32_t value = -1;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || value < 0)
            fail("is neither \"input.0\" nor \"3.0\"");
        return value;
    };
    const std::size_t dot = text.find('.');
    if (dot == std::string::npos) fail("is neither \"input.0\" nor \"3.0\"");
    const std::string_view place = std::string_view(text).substr(0, dot);
    const ValueRef ref{place == "input" ? -1 : number(place), number(std::string_view(text).substr(dot + 1))};
    const auto output = static_cast<std::size_t>(ref.output);
    if (ref.node < 0) {
        if (output >= before.inputs.size()) fail("names an input that the graph does not have");
    } else if (static_cast<std::size_t>(ref.node) >= before.nodes.size()) {
        fail("does not point to an earlier node");
    } else if (output >= before.nodes[static_cast<std::size_t>(ref.node)].outputs.size()) {
        fail("names an output that its node does not have");
    }
    return ref;
}

const Json* field(const Json& object, const char* key) {
    if (!object.is_object()) throw FormatError("expected an object");
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

template <class F>
void within(const std::string& place, const F& read) {
    try {
        read();
    } catch (const FormatError& error) {
        throw FormatError(place + ": " + error.what());
    }
}

const Json& required(const Json& object, const char* key) {
    const Json* found = field(object, key);
    if (found == nullptr) throw FormatError(std::string("\"") + key + "\" is missing");
    return *found;
}

std::string text(const Json& object, const char* key) {
    const Json& value = required(object, key);
    if (!value.is_string()) throw FormatError(std::string("\"") + key + "\" is no text");
    return value.get<std::string>();
}

std::int64_t integer(const Json& value, const std::string& what) {
    const bool fits =
        value.is_number_integer() &&
        (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max());
    if (!fits) throw FormatError(what + " is no integer of 64 bits");
    return value.get<std::int64_t>();
}

/// The items of a list of texts or objects, each with its place in the message if it fails.
template <class F>
void each(const Json& object, const char* key, const F& read) {
    const Json& list = required(object, key);
    if (!list.is_array()) throw FormatError(std::string("\"") + key + "\" is no list");
    if (list.size() > most_items) throw FormatError(std::string("\"") + key + "\" has more than a million items");
    for (std::size_t i = 0; i < list.size(); ++i)
        within(std::string(key) + " " + std::to_string(i), [&] { read(list[i]); });
}

const std::string& text_item(const Json& item) {
    if (!item.is_string()) throw FormatError("expected a text");
    return item.get_ref<const std::string&>();
}

GraphInput parse_input(const Json& item) {
    GraphInput input;
    input.name = text(item, "name");
    const std::string kind = text(item, "kind");
    const auto* found = std::ranges::find(kinds, kind, &std::pair<GraphInput::Kind, const char*>::second);
    if (found == kinds.end()) throw FormatError("unknown kind \"" + kind.substr(0, 40) + "\"");
    input.kind = found->first;
    input.type = parse_type(text(item, "type"));
    return input;
}

void check_edges(const Graph& graph, const Node& node) {
    const auto operands = tensors(node.operation);
    if (operands.size() != node.inputs.size())
        throw FormatError("it has " + std::to_string(node.inputs.size()) + " inputs, its operation " +
                          std::to_string(operands.size()) + " tensors");
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const TensorType& source = type_of(graph, node.inputs[i]);
        if (source.dtype != operands[i]->dtype || source.sizes != operands[i]->sizes)
            throw FormatError("its tensor " + text_of(*operands[i]) + " is " + text_of(source) + " at " +
                              text_of(node.inputs[i]));
    }
}

Node parse_node(const Json& item, const Graph& before) {
    Node node;
    node.operation = parse_operation(text(item, "operation"));
    for (const TensorType* type : tensors(node.operation)) byte_count(*type);
    if (before.has_edges)
        each(item, "inputs", [&](const Json& ref) { node.inputs.push_back(parse_ref(text_item(ref), before)); });
    each(item, "outputs", [&](const Json& type) { node.outputs.push_back(parse_type(text_item(type))); });
    if (field(item, "module") != nullptr) node.module_path = text(item, "module");
    if (field(item, "source") != nullptr) node.source_line = text(item, "source");
    if (const Json* count = field(item, "count")) node.count = integer(*count, "\"count\"");
    if (node.count < 1 || (before.has_edges && node.count != 1))
        throw FormatError("\"count\" is " + std::to_string(node.count) + ", which only a graph without edges may have");
    if (before.has_edges) check_edges(before, node);
    return node;
}

Json json_of(const Node& node, bool has_edges) {
    Json json{{"operation", signature(node.operation)}};
    if (has_edges) {
        json["inputs"] = Json::array();
        for (const ValueRef& ref : node.inputs) json["inputs"].push_back(text_of(ref));
    }
    json["outputs"] = Json::array();
    for (const TensorType& type : node.outputs) json["outputs"].push_back(text_of(type));
    if (!node.module_path.empty()) json["module"] = node.module_path;
    if (!node.source_line.empty()) json["source"] = node.source_line;
    if (node.count != 1) json["count"] = node.count;
    return json;
}

Graph parse_graph(const Json& json) {
    if (text(json, "schema") != schema)
        throw FormatError("\"schema\" is \"" + text(json, "schema").substr(0, 40) + "\", expected " + schema);
    Graph graph;
    graph.name = text(json, "name");
    const auto graph_mode = parse_mode(text(json, "mode"));
    if (!graph_mode) throw FormatError("\"mode\" is neither inference nor training");
    graph.mode = *graph_mode;
    const Json& edges = required(json, "has_edges");
    if (!edges.is_boolean()) throw FormatError("\"has_edges\" is neither true nor false");
    graph.has_edges = edges.get<bool>();
    const Json& symbols = required(json, "symbols");
    if (!symbols.is_object()) throw FormatError("\"symbols\" is no object");
    for (const auto& [symbol, value] : symbols.items()) {
        // The sizes are fixed: another value would be out of range.
        const std::int64_t fixed = integer(value, "symbol " + symbol);
        graph.symbols[symbol] = {fixed, fixed, fixed};
    }
    each(json, "inputs", [&](const Json& item) { graph.inputs.push_back(parse_input(item)); });
    each(json, "nodes", [&](const Json& item) { graph.nodes.push_back(parse_node(item, graph)); });
    each(json, "outputs", [&](const Json& item) { graph.outputs.push_back(parse_ref(text_item(item), graph)); });
    return graph;
}

}  // namespace

std::string graph_to_json(const Graph& graph) {
    Json json{{"schema", schema}, {"name", graph.name}, {"mode", name(graph.mode)}, {"has_edges", graph.has_edges}};
    json["symbols"] = Json::object();
    for (const auto& [symbol, value] : graph.symbols) json["symbols"][symbol] = value.value;
    json["inputs"] = Json::array();
    for (const GraphInput& input : graph.inputs) {
        const auto* kind = std::ranges::find(kinds, input.kind, &std::pair<GraphInput::Kind, const char*>::first);
        json["inputs"].push_back({{"name", input.name}, {"kind", kind->second}, {"type", text_of(input.type)}});
    }
    json["nodes"] = Json::array();
    for (const Node& node : graph.nodes) json["nodes"].push_back(json_of(node, graph.has_edges));
    json["outputs"] = Json::array();
    for (const ValueRef& ref : graph.outputs) json["outputs"].push_back(text_of(ref));
    // File names and texts of operations need not be UTF-8.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Graph graph_from_json(std::string_view json) {
    if (json.size() > max_line_bytes) throw FormatError("cannot read graph: it is longer than 64 MB");
    const Json parsed = Json::parse(json, nullptr, false);
    if (parsed.is_discarded()) throw FormatError("cannot read graph: its JSON is damaged");
    Graph graph;
    within("cannot read graph", [&] { graph = parse_graph(parsed); });
    return graph;
}

}  // namespace joulecast::protocol
