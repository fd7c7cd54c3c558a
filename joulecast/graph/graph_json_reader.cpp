#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "joulecast/error.h"
#include "joulecast/graph/graph_json.h"
#include "joulecast/graph/graph_json_words.h"
#include "joulecast/graph/record.h"
#include "joulecast/graph/size_text.h"
#include "joulecast/units/bounded_json.h"

namespace joulecast {
namespace graph_json {
namespace {

constexpr std::array<std::pair<GraphInput::Kind, std::string_view>, 4> kinds{
    {{GraphInput::Kind::user_input, "user_input"},
     {GraphInput::Kind::parameter, "parameter"},
     {GraphInput::Kind::buffer, "buffer"},
     {GraphInput::Kind::constant, "constant"}}};

}  // namespace

std::string_view word(GraphInput::Kind kind) {
    return std::ranges::find(kinds, kind, &std::pair<GraphInput::Kind, std::string_view>::first)->second;
}

std::optional<GraphInput::Kind> parse_kind(std::string_view word) {
    const auto* found = std::ranges::find(kinds, word, &std::pair<GraphInput::Kind, std::string_view>::second);
    if (found == kinds.end()) return std::nullopt;
    return found->first;
}

}  // namespace graph_json

namespace {

// Not the ordered kind: that one looks keys up one by one, which a large object turns into minutes.
using Json = nlohmann::json;

/// Half a million nodes take 400 MB.
constexpr std::size_t most_items = 500'000;
constexpr std::size_t most_depth = 16;
/// Of names, module paths and source lines.
constexpr std::size_t longest_name = 4096;
constexpr std::int64_t most_calls = std::int64_t{1} << 62U;

Json parse_json(std::string_view text) {
    return parse_bounded(text, {.depth = most_depth, .refuses_nul = true});
}

template <class F>
void within(const std::string& place, const F& read) {
    try {
        read();
    } catch (const FormatError& error) {
        throw FormatError(place + ": " + error.what());
    }
}

const Json* field(const Json& object, const char* key) {
    if (!object.is_object()) throw FormatError("expected an object");
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

const Json& required(const Json& object, const char* key) {
    const Json* found = field(object, key);
    if (found == nullptr) throw FormatError(std::string("\"") + key + "\" is missing");
    return *found;
}

const std::string& text(const Json& object, const char* key) {
    const Json& value = required(object, key);
    if (!value.is_string()) throw FormatError(std::string("\"") + key + "\" is not a string");
    return value.get_ref<const std::string&>();
}

/// Empty where the field is missing.
std::string short_text(const Json& object, const char* key) {
    if (field(object, key) == nullptr) return {};
    const std::string& value = text(object, key);
    if (value.size() > longest_name) {
        throw FormatError(std::string("\"") + key + "\" has " + std::to_string(value.size()) +
                          " bytes, more than 4096: \"" + value.substr(0, 40) + "...\"");
    }
    return value;
}

std::int64_t integer(const Json& value, const std::string& what) {
    const bool fits =
        value.is_number_integer() &&
        (!value.is_number_unsigned() || value.get<std::uint64_t>() <= std::numeric_limits<std::int64_t>::max());
    if (!fits) throw FormatError(what + " is not a 64-bit integer");
    return value.get<std::int64_t>();
}

/// The items of a list of texts or objects, each with its place in the message if it fails.
template <class F>
void each(const Json& object, const char* key, const F& read) {
    const Json& list = required(object, key);
    if (!list.is_array()) throw FormatError(std::string("\"") + key + "\" is not a list");
    if (list.size() > most_items) throw FormatError(std::string("\"") + key + "\" has more than 500,000 items");
    for (std::size_t i = 0; i < list.size(); ++i)
        within(std::string(key) + " " + std::to_string(i), [&] { read(list[i]); });
}

const std::string& text_item(const Json& item) {
    if (!item.is_string()) throw FormatError("expected a text");
    return item.get_ref<const std::string&>();
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

std::string text_of(ValueRef ref) {
    return (ref.node < 0 ? "input" : std::to_string(ref.node)) + "." + std::to_string(ref.output);
}

/// First tensor of every argument, counted as tensors(operation) does, by the argument's name.
std::map<std::string_view, std::pair<std::size_t, std::size_t>> tensor_ranges(const Operation& operation) {
    std::map<std::string_view, std::pair<std::size_t, std::size_t>> ranges;
    std::size_t next = 0;
    for (const Argument& argument : operation.arguments) {
        const std::size_t count = tensors(Operation{{}, {argument}}).size();
        ranges[argument.name] = {next, count};
        next += count;
    }
    return ranges;
}

/// The sizes with their places in the canonical form; absent if one stands in an argument that it leaves out.
std::optional<std::vector<SymbolicSize>> moved_sizes(const Node& node, const Operation& canonical,
                                                     const std::vector<std::size_t>& moved) {
    std::vector<SymbolicSize> sizes;
    for (SymbolicSize size : node.symbolic) {
        if (size.place != SymbolicSize::Place::argument) {
            size.index = static_cast<std::int32_t>(moved.at(static_cast<std::size_t>(size.index)));
            sizes.push_back(std::move(size));
            continue;
        }
        const Argument& argument = node.operation.arguments.at(static_cast<std::size_t>(size.index));
        const auto found = std::ranges::find(canonical.arguments, argument.name, &Argument::name);
        if (found == canonical.arguments.end()) return std::nullopt;
        size.index = static_cast<std::int32_t>(found - canonical.arguments.begin());
        // [n] that stands for [n,n].
        const auto* list = std::get_if<Integers>(&found->value);
        const auto* written = std::get_if<Integers>(&argument.value);
        const bool repeated = list != nullptr && written != nullptr && written->size() < list->size();
        for (std::size_t i = 0; i < (repeated ? list->size() : 1); ++i) {
            if (repeated) size.position = static_cast<std::int32_t>(i);
            sizes.push_back(size);
        }
    }
    return sizes;
}

/// Writes the operation in its canonical form, and moves edges and symbolic sizes along with their arguments.
void make_canonical(Node& node) {
    Operation canonical = joulecast::canonical(node.operation);
    if (canonical == node.operation) return;
    const auto before = tensor_ranges(node.operation);
    const auto after = tensor_ranges(canonical);
    std::vector<std::size_t> moved;  // new place of every tensor
    for (const Argument& argument : node.operation.arguments) {
        for (std::size_t i = 0; i < before.at(argument.name).second; ++i)
            moved.push_back(after.at(argument.name).first + i);
    }
    auto sizes = moved_sizes(node, canonical, moved);
    // Equal to its default at this value of the symbol only: the operation stays as it was written.
    if (!sizes) return;
    node.symbolic = *std::move(sizes);
    const std::vector<ValueRef> inputs = node.inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) node.inputs.at(moved.at(i)) = inputs[i];
    node.operation = std::move(canonical);
}

class GraphReader {
  public:
    explicit GraphReader(const Json& json) : json_(json) {}

    Graph graph() {
        const std::string& schema = text(json_, "schema");
        if (schema != graph_json::schema) {
            throw FormatError("\"schema\" is \"" + schema.substr(0, 40) + "\", expected " +
                              std::string(graph_json::schema));
        }
        graph_.name = short_text(json_, "name");
        const Json& edges = required(json_, "has_edges");
        if (!edges.is_boolean()) throw FormatError("\"has_edges\" is neither true nor false");
        graph_.has_edges = edges.get<bool>();
        read_symbols();
        if (graph_.has_edges || field(json_, "inputs") != nullptr)
            each(json_, "inputs", [&](const Json& item) { add_input(item); });
        each(json_, "nodes", [&](const Json& item) { add_node(item); });
        if (graph_.has_edges || field(json_, "outputs") != nullptr)
            each(json_, "outputs", [&](const Json& item) { add_output(item); });
        fix_symbols_without_place();
        read_mode();
        return std::move(graph_);
    }

  private:
    void read_symbols() {
        const Json* symbols = field(json_, "symbols");
        if (symbols == nullptr) return;
        if (!symbols->is_object()) throw FormatError("\"symbols\" is not an object");
        for (const auto& [name, value] : symbols->items()) {
            if (name.size() > longest_name) throw FormatError("the name of a symbol has more than 4096 bytes");
            Symbol& symbol = graph_.symbols[name];
            const Json& given = value;  // a lambda cannot capture a structured binding
            within("symbol " + name, [&] { symbol = parse_symbol(given); });
            values_[name] = symbol.value;
        }
    }

    static Symbol parse_symbol(const Json& json) {
        Symbol symbol{0, 1, std::numeric_limits<std::int64_t>::max()};
        if (!json.is_object()) {
            symbol.value = integer(json, "its value");
            symbol.low = std::min<std::int64_t>(symbol.value, 1);
            return symbol;
        }
        symbol.value = integer(required(json, "value"), "\"value\"");
        if (const Json* low = field(json, "low")) symbol.low = integer(*low, "\"low\"");
        if (const Json* high = field(json, "high")) symbol.high = integer(*high, "\"high\"");
        if (symbol.value < symbol.low || symbol.value > symbol.high)
            throw FormatError("its value " + std::to_string(symbol.value) + " is out of its own range");
        return symbol;
    }

    /// Another value of a symbol that stands in no size would change nothing: it is refused later as out of range.
    void fix_symbols_without_place() {
        for (auto& [name, symbol] : graph_.symbols) {
            if (!used_.contains(name)) symbol.low = symbol.high = symbol.value;
        }
    }

    void note_use(const Expression& expression) { used_.merge(expression.symbols()); }

    ShapedType shaped_type(const std::string& text) {
        ShapedType shaped = parse_type(text, values_);
        for (const auto& [dimension, expression] : shaped.symbolic) note_use(expression);
        for (const Expression& stride : shaped.symbolic_strides) note_use(stride);
        return shaped;
    }

    void add_input(const Json& item) {
        GraphInput input;
        input.name = short_text(item, "name");
        const std::string& kind = text(item, "kind");
        const auto known = graph_json::parse_kind(kind);
        if (!known) throw FormatError("unknown kind \"" + kind.substr(0, 40) + "\"");
        input.kind = *known;
        ShapedType shaped = shaped_type(text(item, "type"));
        input.type = std::move(shaped.type);
        input.symbolic = std::move(shaped.symbolic);
        input.symbolic_strides = std::move(shaped.symbolic_strides);
        graph_.inputs.push_back(std::move(input));
    }

    void add_node(const Json& item) {
        Node node;
        ShapedOperation shaped = parse_operation(text(item, "operation"), values_);
        for (const SymbolicSize& size : shaped.symbolic) note_use(size.expression);
        node.operation = std::move(shaped.operation);
        node.symbolic = std::move(shaped.symbolic);
        if (graph_.has_edges) {
            each(item, "inputs", [&](const Json& ref) { node.inputs.push_back(parse_ref(text_item(ref), graph_)); });
            check_edges(node);
        } else if (field(item, "inputs") != nullptr) {
            throw FormatError("it has \"inputs\", which only a graph with edges has; is \"has_edges\" right?");
        }
        make_canonical(node);
        if (graph_.has_edges || field(item, "outputs") != nullptr)
            each(item, "outputs", [&](const Json& type) { add_node_output(node, text_item(type)); });
        if (!graph_.has_edges) check_arguments(node.operation);
        node.module_path = short_text(item, "module");
        node.source_line = short_text(item, "source");
        read_count(item, node);
        graph_.nodes.push_back(std::move(node));
    }

    void add_node_output(Node& node, const std::string& text) {
        using Place = SymbolicSize::Place;
        const auto index = static_cast<std::int32_t>(node.outputs.size());
        ShapedType shaped = shaped_type(text);
        node.outputs.push_back(std::move(shaped.type));
        for (auto& [dimension, expression] : shaped.symbolic)
            node.symbolic.push_back({Place::output_tensor, index, dimension, std::move(expression)});
        for (std::size_t i = 0; i < shaped.symbolic_strides.size(); ++i)
            node.symbolic.push_back(
                {Place::output_stride, index, static_cast<std::int32_t>(i), std::move(shaped.symbolic_strides[i])});
    }

    /// Written by hand, an operation may be one that cannot be: its record says so.
    static void check_arguments(const Operation& operation) {
        if (const Record* record = find_record(operation.target)) record->outputs(operation);
    }

    void check_edges(const Node& node) const {
        const auto operands = tensors(node.operation);
        if (operands.size() != node.inputs.size())
            throw FormatError("it has " + std::to_string(node.inputs.size()) + " inputs, its operation " +
                              std::to_string(operands.size()) + " tensors");
        for (std::size_t i = 0; i < operands.size(); ++i) {
            const TensorType& source = type_of(graph_, node.inputs[i]);
            if (source.dtype != operands[i]->dtype || source.sizes != operands[i]->sizes)
                throw FormatError("its tensor " + text_with_symbols(*operands[i]) + " is " + text_with_symbols(source) +
                                  " at " + text_of(node.inputs[i]));
        }
    }

    void read_count(const Json& item, Node& node) {
        if (const Json* count = field(item, "count")) node.count = integer(*count, "\"count\"");
        if (graph_.has_edges && node.count != 1)
            throw FormatError("\"count\" is " + std::to_string(node.count) +
                              ", which only a graph without edges may have");
        if (node.count < 1) throw FormatError("\"count\" is " + std::to_string(node.count) + ", expected 1 or more");
        if (node.count > most_calls - calls_) throw FormatError("the counts sum to more than 2^62 calls");
        calls_ += node.count;
    }

    void add_output(const Json& item) {
        if (!graph_.has_edges) throw FormatError("a graph without edges has no outputs");
        graph_.outputs.push_back(parse_ref(text_item(item), graph_));
    }

    void read_mode() {
        const bool marked = std::ranges::any_of(
            graph_.nodes, [](const Node& node) { return joulecast::mode(node.operation) == Mode::training; });
        graph_.mode = marked ? Mode::training : Mode::inference;
        if (field(json_, "mode") == nullptr) return;
        const auto given = parse_mode(text(json_, "mode"));
        if (!given) throw FormatError("\"mode\" is neither inference nor training");
        if (marked && *given == Mode::inference)
            throw FormatError("\"mode\" is inference, but there are tensors with the gradient mark ~");
        graph_.mode = *given;
    }

    const Json& json_;
    Graph graph_;
    SymbolValues values_;
    std::set<std::string> used_;
    std::int64_t calls_ = 0;
};

}  // namespace

Graph graph_from_json(std::string_view json, std::string_view source) {
    Graph graph;
    within("cannot read " + std::string(source), [&] {
        if (json.size() > max_graph_bytes) throw FormatError("it is longer than 32 MB");
        graph = GraphReader(parse_json(json)).graph();
    });
    return graph;
}

}  // namespace joulecast
