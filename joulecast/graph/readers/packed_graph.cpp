#include "joulecast/graph/readers/packed_graph.h"

#include <bit>
#include <cstring>
#include <fstream>
#include <system_error>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "joulecast/error.h"

namespace joulecast {
namespace {

constexpr std::string_view magic = "joulecast graph 1\n";
/// The zoo's largest networks have a tenth of that.
constexpr std::size_t largest_file = std::size_t{4} << 20U;

/// Numbers in groups of seven bits, the lowest first; signed ones with their sign in the lowest bit.
class PackedWriter {
  public:
    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7U) bytes_ += static_cast<char>((value & 0x7FU) | 0x80U);
        bytes_ += static_cast<char>(value);
    }
    void number(std::int64_t value) {
        number(static_cast<std::uint64_t>(value) << 1U ^ static_cast<std::uint64_t>(value >> 63));
    }
    void real(double value) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        for (unsigned byte = 0; byte < 8; ++byte) bytes_ += static_cast<char>(bits >> (8 * byte) & 0xFFU);
    }
    void text(std::string_view value) {
        number(std::uint64_t{value.size()});
        bytes_ += value;
    }
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

class PackedReader {
  public:
    PackedReader(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

    std::uint64_t number() {
        if (bytes_.empty() || static_cast<unsigned char>(bytes_.front()) >= 0x80) return long_number();
        const auto byte = static_cast<unsigned char>(bytes_.front());  // as most are
        bytes_.remove_prefix(1);
        return byte;
    }
    std::int64_t signed_number() {
        const std::uint64_t value = number();
        return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
    }
    double real() {
        const std::string_view from = raw(8);
        std::uint64_t bits = 0;
        for (unsigned byte = 0; byte < 8; ++byte)
            bits |= std::uint64_t{static_cast<unsigned char>(from[byte])} << (8 * byte);
        return std::bit_cast<double>(bits);
    }
    std::string_view text() { return raw(number()); }
    /// Of items that have a byte each at least.
    std::size_t count() {
        const std::uint64_t items = number();
        if (items > bytes_.size()) fail("it announces more items than it has bytes for");
        return static_cast<std::size_t>(items);
    }
    template <class Item>
    const Item& item(const std::vector<Item>& items) {
        const std::uint64_t place = number();
        if (place >= items.size()) fail("it names an item that is not there");
        return items[static_cast<std::size_t>(place)];
    }
    bool at_end() const { return bytes_.empty(); }
    [[noreturn]] void fail(const std::string& why) const {
        throw FormatError("the packed graph " + name_ + " is damaged: " + why + ". Build or install joulecast again");
    }

  private:
    std::uint64_t long_number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            if (bytes_.empty()) fail("it ends too early");
            const auto byte = static_cast<unsigned char>(bytes_.front());
            bytes_.remove_prefix(1);
            if (shift == 63 && byte > 1) break;
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80) return value;
        }
        fail("a number is too long");
    }
    std::string_view raw(std::uint64_t size) {
        if (size > bytes_.size()) fail("it ends too early");
        const std::string_view taken = bytes_.substr(0, static_cast<std::size_t>(size));
        bytes_.remove_prefix(static_cast<std::size_t>(size));
        return taken;
    }

    std::string_view bytes_;
    std::string name_;
};

/// Texts in the order of their first use, each once.
class Texts {
  public:
    std::uint64_t place(const std::string& text) {
        const auto [found, is_new] = places_.try_emplace(text, all_.size());
        if (is_new) all_.push_back(text);
        return found->second;
    }
    const std::vector<std::string>& all() const { return all_; }

  private:
    std::vector<std::string> all_;
    std::unordered_map<std::string, std::uint64_t> places_;
};

class GraphPacker {
  public:
    std::string packed(const Graph& graph) {
        if (graph.shape_anew != nullptr) throw Error("graph " + graph.name + " cannot be packed: it is made anew");
        put_head(graph);
        put_all(graph.inputs, [&](const GraphInput& input) { put(input); });
        put_all(graph.nodes, [&](const Node& node) { put(node); });
        put_all(graph.outputs, [&](const ValueRef& ref) { put(ref); });
        PackedWriter whole;
        for (const Texts* table : {&texts_, &expressions_}) {
            whole.number(std::uint64_t{table->all().size()});
            for (const std::string& text : table->all()) whole.text(text);
        }
        return whole.bytes() + out_.bytes();
    }

  private:
    template <class Items, class Put>
    void put_all(const Items& items, Put put_one) {
        out_.number(std::uint64_t{items.size()});
        for (const auto& item : items) put_one(item);
    }
    void put(const std::string& text) { out_.number(texts_.place(text)); }
    void put(const Expression& expression) { out_.number(expressions_.place(expression.text())); }
    void put_number(std::int64_t number) { out_.number(number); }
    void put_flag(bool flag) { out_.number(std::uint64_t{flag}); }
    void put_numbers(const Integers& numbers) {
        put_all(numbers, [&](std::int64_t number) { put_number(number); });
    }

    void put_head(const Graph& graph) {
        put(graph.name);
        out_.number(static_cast<std::uint64_t>(graph.mode));
        put_flag(graph.has_edges);
        put_all(graph.symbols, [&](const auto& entry) {
            const auto& [name, symbol] = entry;
            put(name);
            for (const std::int64_t number : {symbol.value, symbol.low, symbol.high}) put_number(number);
            put(symbol.alias);
            put(symbol.place);
        });
    }
    void put(const TensorType& type) {
        out_.number(static_cast<std::uint64_t>(type.dtype) << 1U | std::uint64_t{type.requires_grad});
        put_numbers(type.sizes);
        put_numbers(type.strides);
    }
    void put(const ValueRef& ref) {
        put_number(ref.node);
        put_number(ref.output);
    }
    void put(const GraphInput& input) {
        put(input.name);
        out_.number(static_cast<std::uint64_t>(input.kind));
        put(input.type);
        put_all(input.symbolic, [&](const auto& size) {
            put_number(size.first);
            put(size.second);
        });
        put_all(input.symbolic_strides, [&](const Expression& stride) { put(stride); });
    }
    void put(const Node& node) {
        put(node.operation.target);
        put_all(node.operation.arguments, [&](const Argument& argument) {
            put(argument.name);
            out_.number(std::uint64_t{argument.value.index()});
            std::visit([&](const auto& value) { put_value(value); }, argument.value);
        });
        put_all(node.inputs, [&](const ValueRef& ref) { put(ref); });
        put_all(node.outputs, [&](const TensorType& type) { put(type); });
        put(node.module_path);
        put(node.source_line);
        put_all(node.symbolic, [&](const SymbolicSize& size) {
            out_.number(static_cast<std::uint64_t>(size.place));
            put_number(size.index);
            put_number(size.position);
            put(size.expression);
        });
        put_number(node.count);
    }
    void put_value(None) {}
    void put_value(bool value) { put_flag(value); }
    void put_value(std::int64_t value) { put_number(value); }
    void put_value(double value) { out_.real(value); }
    void put_value(const std::string& value) { put(value); }
    void put_value(Dtype value) { out_.number(static_cast<std::uint64_t>(value)); }
    void put_value(const TensorType& value) { put(value); }
    void put_value(const TensorList& list) {
        put_all(list, [&](const std::optional<TensorType>& tensor) {
            put_flag(tensor.has_value());
            if (tensor) put(*tensor);
        });
    }
    void put_value(const std::vector<bool>& list) {
        put_all(list, [&](bool value) { put_flag(value); });
    }
    void put_value(const Integers& list) { put_numbers(list); }
    void put_value(const std::vector<double>& list) {
        put_all(list, [&](double value) { out_.real(value); });
    }

    PackedWriter out_;
    Texts texts_;
    Texts expressions_;
};

class GraphUnpacker {
  public:
    GraphUnpacker(std::string_view bytes, const std::string& name) : in_(bytes, name) {
        texts_.resize(in_.count());
        for (std::string_view& text : texts_) text = in_.text();
        const std::size_t expressions = in_.count();
        expressions_.reserve(expressions);
        for (std::size_t i = 0; i < expressions; ++i) expressions_.push_back(Expression::parse(in_.text()));
    }

    Graph graph() {
        Graph graph;
        take_head(graph);
        take_all(graph.inputs, [&](GraphInput& input) { take(input); });
        take_all(graph.nodes, [&](Node& node) { take(node); });
        take_all(graph.outputs, [&](ValueRef& ref) { take(ref); });
        if (!in_.at_end()) in_.fail("bytes follow its end");
        return graph;
    }

  private:
    template <class Items, class Take>
    void take_all(Items& items, Take take_one) {
        items.resize(in_.count());
        for (auto& item : items) take_one(item);
    }
    template <class Enum>
    Enum take_word(Enum last) {
        const std::uint64_t value = in_.number();
        if (value > static_cast<std::uint64_t>(last)) in_.fail("a word is not known");
        return static_cast<Enum>(value);
    }
    std::int32_t take_short() {
        const std::int64_t value = in_.signed_number();
        if (value < INT32_MIN || value > INT32_MAX) in_.fail("a number is too large");
        return static_cast<std::int32_t>(value);
    }
    bool take_flag() { return in_.number() != 0; }
    void take(std::string& text) { text = in_.item(texts_); }
    void take_numbers(Integers& numbers) {
        take_all(numbers, [&](std::int64_t& number) { number = in_.signed_number(); });
    }

    void take_head(Graph& graph) {
        take(graph.name);
        graph.mode = take_word(Mode::training);
        graph.has_edges = take_flag();
        const std::size_t symbols = in_.count();
        for (std::size_t i = 0; i < symbols; ++i) {
            Symbol& symbol = graph.symbols[std::string(in_.item(texts_))];
            for (std::int64_t* number : {&symbol.value, &symbol.low, &symbol.high}) *number = in_.signed_number();
            take(symbol.alias);
            take(symbol.place);
        }
    }
    void take(TensorType& type) {
        const std::uint64_t head = in_.number();
        if (head >> 1U > static_cast<std::uint64_t>(Dtype::f8e5m2)) in_.fail("a type is not known");
        type.dtype = static_cast<Dtype>(head >> 1U);
        type.requires_grad = (head & 1U) != 0;
        take_numbers(type.sizes);
        take_numbers(type.strides);
    }
    void take(ValueRef& ref) {
        ref.node = take_short();
        ref.output = take_short();
    }
    void take(GraphInput& input) {
        take(input.name);
        input.kind = take_word(GraphInput::Kind::constant);
        take(input.type);
        take_all(input.symbolic, [&](auto& size) {
            size.first = take_short();
            size.second = in_.item(expressions_);
        });
        take_all(input.symbolic_strides, [&](Expression& stride) { stride = in_.item(expressions_); });
    }
    void take(Node& node) {
        take(node.operation.target);
        take_all(node.operation.arguments, [&](Argument& argument) {
            take(argument.name);
            take_value(argument.value);
        });
        take_all(node.inputs, [&](ValueRef& ref) { take(ref); });
        take_all(node.outputs, [&](TensorType& type) { take(type); });
        take(node.module_path);
        take(node.source_line);
        const std::size_t sizes = in_.count();
        node.symbolic.reserve(sizes);  // an expression made to be written over takes memory of its own
        for (std::size_t i = 0; i < sizes; ++i) {
            node.symbolic.push_back(SymbolicSize{take_word(SymbolicSize::Place::output_stride), take_short(),
                                                 take_short(), in_.item(expressions_)});
        }
        node.count = in_.signed_number();
    }

    /// The kinds of a Value in their order.
    void take_value(Value& value) { take_alternative<0>(in_.number(), value); }
    template <std::size_t kind>
    void take_alternative(std::uint64_t wanted, Value& value) {
        if constexpr (kind < std::variant_size_v<Value>) {
            if (wanted != kind) return take_alternative<kind + 1>(wanted, value);
            take_content(value.emplace<kind>());
        } else {
            in_.fail("an argument is of no known kind");
        }
    }
    void take_content(None&) {}
    void take_content(bool& value) { value = take_flag(); }
    void take_content(std::int64_t& value) { value = in_.signed_number(); }
    void take_content(double& value) { value = in_.real(); }
    void take_content(std::string& value) { take(value); }
    void take_content(Dtype& value) { value = take_word(Dtype::f8e5m2); }
    void take_content(TensorType& value) { take(value); }
    void take_content(TensorList& list) {
        take_all(list, [&](std::optional<TensorType>& tensor) {
            if (take_flag()) take(tensor.emplace());
        });
    }
    void take_content(std::vector<bool>& list) {
        const std::size_t count = in_.count();
        for (std::size_t i = 0; i < count; ++i) list.push_back(take_flag());
    }
    void take_content(Integers& list) { take_numbers(list); }
    void take_content(std::vector<double>& list) {
        take_all(list, [&](double& value) { value = in_.real(); });
    }

    PackedReader in_;
    std::vector<std::string_view> texts_;
    std::vector<Expression> expressions_;
};

/// Absent where it cannot be read.
std::optional<std::string> bytes_of(const std::filesystem::path& path) {
    std::error_code none;
    const auto size = std::filesystem::file_size(path, none);
    if (none || size > largest_file) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return std::nullopt;
    return bytes;
}

/// What stands before a graph: its program and its source.
std::string heading(const SourceMark& source) {
    PackedWriter out;
    out.text(JOULECAST_VERSION);
    out.number(source.size);
    out.number(source.hash);
    return std::string(magic) + out.bytes();
}

}  // namespace

SourceMark source_mark(std::string_view bytes) {
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15ULL;  // 2^64 over the golden ratio
    std::uint64_t hash = bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        const std::string_view here = bytes.substr(at, sizeof(word));
        std::memcpy(&word, here.data(), here.size());
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32U;
    }
    return {bytes.size(), hash};
}

std::string pack_graph(const Graph& graph, const SourceMark& source) {
    PackedWriter content;
    content.text(GraphPacker().packed(graph));
    const SourceMark own = source_mark(content.bytes());
    PackedWriter check;
    check.number(own.hash);
    return heading(source) + check.bytes() + content.bytes();
}

std::optional<Graph> unpack_graph(std::string_view packed, const SourceMark& source, const std::string& name) {
    const std::string expected = heading(source);
    if (!packed.starts_with(expected)) return std::nullopt;
    packed.remove_prefix(expected.size());
    PackedReader in(packed, name);
    const std::uint64_t hash = in.number();
    PackedWriter check;
    check.number(hash);
    packed.remove_prefix(check.bytes().size());
    if (source_mark(packed).hash != hash) in.fail("its checksum does not match");
    const std::string_view content = in.text();
    if (!in.at_end()) in.fail("bytes follow its end");
    try {
        return GraphUnpacker(content, name).graph();
    } catch (const FormatError& error) {
        in.fail(error.what());
    }
}

std::filesystem::path packed_zoo(const std::filesystem::path& zoo) {
    return zoo.parent_path() / "zoo-packed";
}

std::optional<Graph> read_packed(const std::filesystem::path& zoo, const std::string& stem) {
    const std::filesystem::path path = packed_zoo(zoo) / (stem + ".graph");
    const auto packed = bytes_of(path);
    if (!packed) return std::nullopt;
    const auto source = bytes_of(zoo / (stem + ".pt2"));
    if (!source) return std::nullopt;
    return unpack_graph(*packed, source_mark(*source), path.string());
}

}  // namespace joulecast
