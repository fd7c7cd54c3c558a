#include "joulecast/graph/readers/pt2_program.h"

#include <algorithm>
#include <string_view>

#include "joulecast/graph/readers/pt2_json.h"

namespace joulecast::pt2 {
namespace {

constexpr std::int64_t schema_major = 8;

Integer expression_of(dom::element element) {
    const dom::object object = object_of(element);
    Integer integer{Integer::Form::expression, std::nullopt, required(object, "expr_str", text_of)};
    if (const auto hint = field(object, "hint")) {
        const auto [kind, value] = union_of(*hint);
        if (kind == "as_int") integer.value = int_of(value);
    }
    return integer;
}

/// SymInt or SymIntArgument.
Integer integer_of(dom::element element) {
    const auto [kind, value] = union_of(element);
    if (kind == "as_int") return {Integer::Form::number, int_of(value), {}};
    if (kind == "as_name") return {Integer::Form::name, std::nullopt, text_of(value)};
    if (kind == "as_expr") return expression_of(value);
    throw FormatError("a size of unknown kind \"" + std::string(kind) + "\"");
}

Integer number_of(dom::element element) {
    return {Integer::Form::number, int_of(element), {}};
}

TensorName tensor_name_of(dom::element element) {
    return required(object_of(element), "name", text_of);
}

TensorName optional_tensor_name_of(dom::element element) {
    const auto [kind, value] = union_of(element);
    if (kind == "as_none") return std::nullopt;
    if (kind == "as_tensor") return tensor_name_of(value);
    throw FormatError("an optional tensor of unknown kind \"" + std::string(kind) + "\"");
}

using ArgumentValue = decltype(Argument::value);

/// as_sym_bool and as_sym_float hold a literal, or the name of a value that is a function of sizes or of data.
ArgumentValue condition_of(dom::element element) {
    const auto [kind, value] = union_of(element);
    if (kind == "as_bool") return bool_of(value);
    if (kind == "as_name") return NamedNumber{NamedNumber::Kind::condition, text_of(value)};
    return Unknown{"as_sym_bool"};
}

ArgumentValue real_of(dom::element element) {
    const auto [kind, value] = union_of(element);
    if (kind == "as_float") return float_of(value);
    if (kind == "as_name") return NamedNumber{NamedNumber::Kind::real, text_of(value)};
    return Unknown{"as_sym_float"};
}

/// SymBool or SymFloat: what stands behind a NamedNumber.
Number number_value_of(dom::element element) {
    const auto [kind, value] = union_of(element);
    if (kind == "as_bool") return {bool_of(value) ? 1.0 : 0.0, {}};
    if (kind == "as_float") return {float_of(value), {}};
    if (kind == "as_expr") return {std::nullopt, expression_of(value).text};
    return {};
}

Body body_of(dom::element element);

/// as_graph: the sub-graph of a higher-order call. The depth of the document bounds the recursion.
ArgumentValue subgraph_of(dom::element element) {
    const dom::object object = object_of(element);
    std::string name = required(object, "name", text_of);
    const auto graph = field(object, "graph");
    if (!graph) throw FormatError("there is no \"graph\"");
    auto body = within(name, [&] { return std::make_shared<const Body>(body_of(*graph)); });
    return Subgraph{std::move(name), std::move(body)};
}

struct Variant {
    std::string_view name;
    ArgumentValue (*read)(dom::element);
};

/// The variants of schema.py's Argument that an Operation can hold. The rest (as_custom_obj, as_operator,
/// as_strings, as_complex, nested lists, and what later versions add) makes its node unsupported.
constexpr Variant variants[] = {
    {"as_none", [](dom::element) -> ArgumentValue { return None{}; }},
    {"as_tensor", [](dom::element e) -> ArgumentValue { return tensor_name_of(e); }},
    {"as_optional_tensor", [](dom::element e) -> ArgumentValue { return optional_tensor_name_of(e); }},
    {"as_tensors", [](dom::element e) -> ArgumentValue { return list_of(e, tensor_name_of); }},
    {"as_optional_tensors", [](dom::element e) -> ArgumentValue { return list_of(e, optional_tensor_name_of); }},
    {"as_int", [](dom::element e) -> ArgumentValue { return number_of(e); }},
    {"as_ints", [](dom::element e) -> ArgumentValue { return list_of(e, number_of); }},
    {"as_sym_int", [](dom::element e) -> ArgumentValue { return integer_of(e); }},
    {"as_sym_ints", [](dom::element e) -> ArgumentValue { return list_of(e, integer_of); }},
    {"as_float", [](dom::element e) -> ArgumentValue { return float_of(e); }},
    {"as_floats", [](dom::element e) -> ArgumentValue { return list_of(e, float_of); }},
    {"as_bool", [](dom::element e) -> ArgumentValue { return bool_of(e); }},
    {"as_bools", [](dom::element e) -> ArgumentValue { return list_of(e, bool_of); }},
    {"as_string", [](dom::element e) -> ArgumentValue { return text_of(e); }},
    {"as_scalar_type", [](dom::element e) -> ArgumentValue { return ScalarType{int_of(e)}; }},
    {"as_memory_format", [](dom::element e) -> ArgumentValue { return MemoryFormat{int_of(e)}; }},
    {"as_device", [](dom::element) -> ArgumentValue { return Placement{}; }},
    {"as_layout", [](dom::element) -> ArgumentValue { return Placement{}; }},
    {"as_sym_bool", condition_of},
    {"as_sym_float", real_of},
    {"as_graph", subgraph_of},
};

Argument argument_of(std::string name, dom::element element) {
    const auto [kind, value] = union_of(element);
    for (const Variant& variant : variants)
        if (variant.name == kind) return {std::move(name), within(kind, [&, v = value] { return variant.read(v); })};
    return {std::move(name), Unknown{std::string(kind)}};
}

Argument nameless_argument_of(dom::element element) {
    return argument_of({}, element);
}

Argument named_argument_of(dom::element element) {
    const dom::object object = object_of(element);
    std::string name = required(object, "name", text_of);
    const auto arg = field(object, "arg");
    if (!arg) throw FormatError("argument " + shown(name) + ": there is no \"arg\"");
    try {
        return argument_of(name, *arg);
    } catch (const FormatError& error) {
        throw FormatError("argument " + shown(name) + ": " + error.what());
    }
}

Node node_of(dom::object object) {
    Node node;
    node.target = required(object, "target", text_of);
    within(node.target, [&] {
        node.inputs = required(object, "inputs", [](dom::element e) { return list_of(e, named_argument_of); });
        node.outputs = required(object, "outputs", [](dom::element e) { return list_of(e, nameless_argument_of); });
        if (const auto metadata = field(object, "metadata")) {
            const dom::object texts = object_of(*metadata);
            if (const auto stack = field(texts, "nn_module_stack")) node.nn_module_stack = text_of(*stack);
            if (const auto trace = field(texts, "stack_trace")) node.stack_trace = text_of(*trace);
        }
    });
    return node;
}

std::vector<Node> nodes_of(dom::element element) {
    std::vector<Node> nodes;
    for (const dom::element item : array_of(element))
        nodes.push_back(within(std::to_string(nodes.size()), [&] { return node_of(object_of(item)); }));
    return nodes;
}

Tensor tensor_of(dom::element element) {
    const dom::object object = object_of(element);
    const auto integers = [](dom::element e) { return list_of(e, integer_of); };
    Tensor tensor;
    tensor.dtype = required(object, "dtype", int_of);
    tensor.sizes = required(object, "sizes", integers);
    if (field(object, "strides")) tensor.strides = required(object, "strides", integers);
    if (const auto layout = field(object, "layout")) tensor.layout = int_of(*layout);
    return tensor;
}

Body body_of(dom::element element) {
    const auto arguments = [](dom::element e) { return list_of(e, nameless_argument_of); };
    const dom::object graph = object_of(element);
    Body body;
    body.inputs = required(graph, "inputs", arguments);
    body.outputs = required(graph, "outputs", arguments);
    body.nodes = required(graph, "nodes", nodes_of);
    body.tensors = required(graph, "tensor_values", [](dom::element e) { return map_of(e, tensor_of); });
    if (field(graph, "sym_int_values"))
        body.integers = required(graph, "sym_int_values", [](dom::element e) { return map_of(e, integer_of); });
    for (const char* key : {"sym_bool_values", "sym_float_values"})
        if (field(graph, key))
            body.numbers.merge(required(graph, key, [](dom::element e) { return map_of(e, number_value_of); }));
    return body;
}

/// Adds what a signature's input_specs say of one input of the graph.
void add_input_spec(dom::element element, std::unordered_map<std::string, InputSpec>& specs) {
    using Kind = GraphInput::Kind;
    struct Held {
        std::string_view variant;
        Kind kind;
        const char* dotted_name;
    };
    static constexpr Held helds[] = {{"parameter", Kind::parameter, "parameter_name"},
                                     {"buffer", Kind::buffer, "buffer_name"},
                                     {"tensor_constant", Kind::constant, "tensor_constant_name"}};
    const auto [kind, value] = union_of(element);
    const auto* held = std::ranges::find(helds, kind, &Held::variant);
    if (held == std::end(helds)) return;  // user inputs, and inputs that are no tensors
    const dom::object spec = object_of(value);
    const TensorName name = required(spec, "arg", tensor_name_of);
    specs[*name] = {held->kind, required(spec, held->dotted_name, text_of)};
}

/// The tensors that the network returns; the other outputs (mutated buffers of a functional graph, tokens) are how the
/// file writes what happens in place.
void add_user_output(dom::element element, std::unordered_set<std::string>& names) {
    const auto [kind, value] = union_of(element);
    if (kind != "user_output" && kind != "loss_output") return;
    const dom::object spec = object_of(value);
    const auto argument = field(spec, "arg");
    if (!argument) return;
    std::string_view name;
    if ((*argument)["as_tensor"]["name"].get(name) == error_code::SUCCESS ||
        (*argument)["name"].get(name) == error_code::SUCCESS)
        names.emplace(name);
}

Range range_of(dom::element element) {
    const dom::object object = object_of(element);
    Range range;
    // A bound beyond 64 bits is no bound.
    std::int64_t bound = 0;
    if (object["min_val"].get(bound) == error_code::SUCCESS) range.low = bound;
    if (object["max_val"].get(bound) == error_code::SUCCESS) range.high = bound;
    return range;
}

/// On the device meta: torch gives all weights of such a program one empty file.
bool is_without_storage(dom::object tensor) {
    const auto device = field(tensor, "device");
    if (!device) return false;
    const auto type = field(object_of(*device), "type");
    return type && text_of(*type) == "meta";
}

void require_schema(dom::object document) {
    const auto version = field(document, "schema_version");
    if (!version) throw FormatError("it has no schema_version, so it is not an exported program of torch.export");
    const std::int64_t major = required(object_of(*version), "major", int_of);
    if (major != schema_major)
        throw FormatError("its schema version is " + std::to_string(major) + ", joulecast reads " +
                          std::to_string(schema_major) + ": re-export with torch >= 2.6" +
                          (major > schema_major ? ", or take a joulecast that knows this version" : ""));
}

}  // namespace

Program parse_program(std::string json) {
    const Document document(std::move(json));
    require_schema(document.root());
    Program program;
    required(document.root(), "graph_module", [&](dom::element module_element) {
        const dom::object graph_module = object_of(module_element);
        program.main = required(graph_module, "graph", body_of);
        required(graph_module, "signature", [&](dom::element signature_element) {
            const dom::object signature = object_of(signature_element);
            required(signature, "input_specs", [&](dom::element specs) {
                for (const dom::element spec : array_of(specs)) add_input_spec(spec, program.input_specs);
            });
            if (!field(signature, "output_specs")) return;
            program.user_outputs.emplace();
            required(signature, "output_specs", [&](dom::element specs) {
                for (const dom::element spec : array_of(specs)) add_user_output(spec, *program.user_outputs);
            });
        });
    });
    if (const auto ranges = field(document.root(), "range_constraints"))
        for (const auto [symbol, range] : object_of(*ranges)) program.ranges[std::string(symbol)] = range_of(range);
    return program;
}

std::vector<std::pair<std::string, std::string>> parse_symbol_names(std::string json) {
    const Document document(std::move(json));
    std::vector<std::pair<std::string, std::string>> names;
    if (const auto symbols = field(document.root(), "symbols"))
        for (const auto [name, symbol] : object_of(*symbols)) names.emplace_back(text_of(symbol), std::string(name));
    return names;
}

Ties parse_stored_ties(std::string json) {
    const Document document(std::move(json));
    Ties ties;
    const auto config = field(document.root(), "config");
    if (!config) return ties;
    for (const auto [name, weight] : object_of(*config)) {
        const dom::object described = object_of(weight);
        const auto file = field(described, "path_name");
        const auto meta = field(described, "tensor_meta");
        if (!file || !meta || is_without_storage(object_of(*meta))) continue;
        std::int64_t offset = 0;
        if (const auto stored = field(object_of(*meta), "storage_offset"))
            if (const auto known = field(object_of(*stored), "as_int")) offset = int_of(*known);
        ties[std::string(name)] = text_of(*file) + "@" + std::to_string(offset);
    }
    return ties;
}

Ties parse_noted_ties(std::string json) {
    const Document document(std::move(json));
    Ties ties;
    const auto tied = field(document.root(), "tied");
    if (!tied) return ties;
    std::size_t number = 0;
    for (const dom::element group : array_of(*tied)) {
        const std::string key = std::to_string(number++);
        for (const dom::element name : array_of(group)) ties[text_of(name)] = key;
    }
    return ties;
}

}  // namespace joulecast::pt2
