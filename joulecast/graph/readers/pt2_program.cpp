#include "joulecast/graph/readers/pt2_program.h"

#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "joulecast/error.h"

namespace joulecast::pt2 {
namespace {

namespace dom = simdjson::dom;
using simdjson::error_code;

/// Exporters nest about ten levels; a sub-graph of a higher-order call adds as many.
constexpr std::size_t most_depth = 128;
constexpr std::int64_t schema_major = 8;

template <class T>
T as(dom::element element, const char* kind) {
    T value;
    if (element.get(value) != error_code::SUCCESS) throw FormatError(std::string("expected ") + kind);
    return value;
}

dom::object object_of(dom::element element) {
    return as<dom::object>(element, "an object");
}
dom::array array_of(dom::element element) {
    return as<dom::array>(element, "a list");
}
bool bool_of(dom::element element) {
    return as<bool>(element, "true or false");
}
std::string text_of(dom::element element) {
    return std::string(as<std::string_view>(element, "a text"));
}
std::int64_t int_of(dom::element element) {
    return as<std::int64_t>(element, "an integer of 64 bits");
}

/// A float; the values JSON lacks come as texts.
double float_of(dom::element element) {
    std::string_view text;
    if (element.get(text) == error_code::SUCCESS) {
        if (text == "NaN" || text == "nan") return std::numeric_limits<double>::quiet_NaN();
        if (text == "Infinity" || text == "inf") return std::numeric_limits<double>::infinity();
        if (text == "-Infinity" || text == "-inf") return -std::numeric_limits<double>::infinity();
    }
    return as<double>(element, "a number");
}

/// The field, or absent: null counts as absent, so that files of any minor version read alike.
std::optional<dom::element> field(dom::object object, std::string_view key) {
    dom::element element;
    if (object.at_key(key).get(element) != error_code::SUCCESS || element.is_null()) return std::nullopt;
    return element;
}

/// Runs `read` and says where it was when it fails.
template <class F>
auto within(const std::string& place, const F& read) {
    try {
        return read();
    } catch (const FormatError& error) {
        throw FormatError(place + ": " + error.what());
    }
}

template <class F>
auto required(dom::object object, const char* key, const F& read) {
    const auto element = field(object, key);
    if (!element) throw FormatError(std::string("there is no \"") + key + "\"");
    return within(key, [&] { return read(*element); });
}

template <class F>
auto list_of(dom::element element, const F& read) {
    std::vector<decltype(read(element))> values;
    for (const dom::element item : array_of(element)) values.push_back(read(item));
    return values;
}

/// torch's unions are objects with one key that names the variant.
std::pair<std::string_view, dom::element> union_of(dom::element element) {
    const dom::object object = object_of(element);
    if (object.size() != 1) throw FormatError("expected an object with one key");
    const auto only = *object.begin();
    return {only.key, only.value};
}

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

/// as_sym_bool and as_sym_float hold a literal, or the name of a value that only a run computes.
template <class F>
ArgumentValue literal_or_unknown(std::string_view variant, dom::element element, std::string_view literal,
                                 const F& read) {
    const auto [kind, value] = union_of(element);
    if (kind == literal) return read(value);
    return Unknown{std::string(variant)};
}

struct Variant {
    std::string_view name;
    ArgumentValue (*read)(dom::element);
};

/// The variants of schema.py's Argument that an Operation can hold. The rest (as_graph, as_custom_obj, as_operator,
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
    {"as_sym_bool",
     [](dom::element e) -> ArgumentValue { return literal_or_unknown("as_sym_bool", e, "as_bool", bool_of); }},
    {"as_sym_float",
     [](dom::element e) -> ArgumentValue { return literal_or_unknown("as_sym_float", e, "as_float", float_of); }},
};

Argument argument_of(std::string name, dom::element element) {
    const auto [kind, value] = union_of(element);
    for (const Variant& variant : variants)
        if (variant.name == kind)
            return {std::move(name), within(std::string(kind), [&, v = value] { return variant.read(v); })};
    return {std::move(name), Unknown{std::string(kind)}};
}

Argument nameless_argument_of(dom::element element) {
    return argument_of({}, element);
}

Argument named_argument_of(dom::element element) {
    const dom::object object = object_of(element);
    std::string name = required(object, "name", text_of);
    const std::string place = "argument " + name;
    return within(place, [&] {
        return required(object, "arg", [&](dom::element arg) { return argument_of(std::move(name), arg); });
    });
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

template <class F>
auto map_of(dom::element element, const F& read) {
    std::unordered_map<std::string, decltype(read(element))> values;
    for (const auto [key, value] : object_of(element)) {
        std::string name(key);
        auto entry = within(name, [&, v = value] { return read(v); });
        values.emplace(std::move(name), std::move(entry));
    }
    return values;
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

Range range_of(dom::element element) {
    const dom::object object = object_of(element);
    Range range;
    // A bound beyond 64 bits is no bound.
    std::int64_t bound = 0;
    if (object["min_val"].get(bound) == error_code::SUCCESS) range.low = bound;
    if (object["max_val"].get(bound) == error_code::SUCCESS) range.high = bound;
    return range;
}

void require_schema(dom::object document) {
    const auto version = field(document, "schema_version");
    if (!version) throw FormatError("it has no schema_version, so it is no exported program of torch.export");
    const std::int64_t major = required(object_of(*version), "major", int_of);
    if (major != schema_major)
        throw FormatError("its schema version is " + std::to_string(major) + ", joulecast reads " +
                          std::to_string(schema_major) + ": re-export with torch >= 2.6");
}

/// Python's json module writes bare NaN and Infinity, which are no JSON: they become texts.
std::string quote_bare_numbers(std::string json) {
    if (json.find("NaN") == std::string::npos && json.find("Infinity") == std::string::npos) return json;
    std::string quoted;
    quoted.reserve(json.size() + json.size() / 8);
    bool in_text = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        const std::string_view rest = std::string_view(json).substr(i);
        if (in_text && json[i] == '\\' && i + 1 < json.size()) {
            quoted += json[i++];
        } else if (json[i] == '"') {
            in_text = !in_text;
        } else if (!in_text) {
            std::string_view found;
            for (const std::string_view token : {"NaN", "Infinity", "-Infinity"})
                if (rest.starts_with(token)) found = token;
            if (!found.empty()) {
                quoted.append("\"").append(found).append("\"");
                i += found.size() - 1;
                continue;
            }
        }
        quoted += json[i];
    }
    return quoted;
}

/// Keeps the parser alive as long as its document.
class Document {
  public:
    explicit Document(std::string json) {
        const std::string text = quote_bare_numbers(std::move(json));
        if (const error_code code = parser_.allocate(text.size() + simdjson::SIMDJSON_PADDING, most_depth))
            throw FormatError(simdjson::error_message(code));
        dom::element root;
        if (const error_code code = parser_.parse(text).get(root))
            throw FormatError(std::string("its JSON is damaged (") + simdjson::error_message(code) + ")");
        object_ = object_of(root);
    }
    dom::object root() const { return object_; }

  private:
    dom::parser parser_;
    dom::object object_;
};

}  // namespace

Program parse_program(std::string json) {
    const Document document(std::move(json));
    require_schema(document.root());
    Program program;
    const auto arguments = [](dom::element e) { return list_of(e, nameless_argument_of); };
    required(document.root(), "graph_module", [&](dom::element module_element) {
        const dom::object graph_module = object_of(module_element);
        required(graph_module, "graph", [&](dom::element graph_element) {
            const dom::object graph = object_of(graph_element);
            program.inputs = required(graph, "inputs", arguments);
            program.outputs = required(graph, "outputs", arguments);
            program.nodes = required(graph, "nodes", nodes_of);
            program.tensors = required(graph, "tensor_values", [](dom::element e) { return map_of(e, tensor_of); });
            if (field(graph, "sym_int_values"))
                program.integers =
                    required(graph, "sym_int_values", [](dom::element e) { return map_of(e, integer_of); });
        });
        required(graph_module, "signature", [&](dom::element signature) {
            required(object_of(signature), "input_specs", [&](dom::element specs) {
                for (const dom::element spec : array_of(specs)) add_input_spec(spec, program.input_specs);
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

}  // namespace joulecast::pt2
