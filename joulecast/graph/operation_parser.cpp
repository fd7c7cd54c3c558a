// Reads the text form of operations, which signature.cpp writes.

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/graph/operation.h"

namespace joulecast {

namespace {

constexpr std::size_t longest_text = std::size_t{1} << 20;
constexpr std::size_t longest_list = 4096;

/// What `{t}` meant when it was written and measured, before strides stood in the text: a dense tensor with two
/// dimensions exchanged. Up to rank 3 the last two, as in a transposed matrix. From rank 4 on the last two before the
/// innermost, as when attention takes heads apart: [batch, token, head, channel] read as [batch, head, token, channel];
/// dimensions of one element did not count there.
Strides exchanged_strides(const Sizes& sizes) {
    const std::size_t rank = sizes.size();
    std::vector<std::size_t> extents;
    for (std::size_t d = rank < 4 ? rank - std::min<std::size_t>(rank, 2) : 0; d < rank; ++d) {
        if (rank < 4 || sizes[d] > 1) extents.push_back(d);
    }
    if (extents.size() >= 3) extents.pop_back();
    if (extents.size() < 2) return contiguous_strides(sizes);
    const std::size_t a = extents[extents.size() - 2];
    const std::size_t b = extents.back();
    Sizes stored = sizes;
    std::swap(stored[a], stored[b]);
    Strides strides = contiguous_strides(stored);
    std::swap(strides[a], strides[b]);
    return strides;
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {
        if (text.size() > longest_text) fail("text is longer than 1 MB");
    }

    Operation operation() {
        Operation result;
        skip_space();
        const std::size_t start = at_;
        while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == ':' || text_[at_] == '.')) ++at_;
        if (at_ == start) fail("expected the name of an operation such as aten::relu");
        result.target = text_.substr(start, at_ - start);
        expect('(');
        if (!accept(')')) {
            do {
                add_argument(result);
            } while (accept(','));
            expect(')');
        }
        skip_space();
        if (at_ != text_.size()) fail("text after the closing parenthesis");
        return result;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        constexpr std::size_t shown = 80;
        throw FormatError("cannot read operation \"" + std::string(text_.substr(0, shown)) +
                          (text_.size() > shown ? "...\"" : "\"") + " at character " + std::to_string(at_) + ": " +
                          what);
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void skip_space() {
        while (peek() == ' ' || peek() == '\t') ++at_;
    }

    bool accept(char c) {
        skip_space();
        if (peek() != c) return false;
        ++at_;
        return true;
    }

    void expect(char c) {
        if (!accept(c)) fail(std::string("expected '") + c + "'");
    }

    std::string_view word() {
        skip_space();
        const std::size_t start = at_;
        while (is_word(peek())) ++at_;
        return text_.substr(start, at_ - start);
    }

    void add_argument(Operation& result) {
        if (result.arguments.size() == longest_list) fail("more than 4096 arguments");
        const std::string_view name = word();
        if (name.empty()) fail("expected the name of an argument");
        if (find_argument(result, name) != nullptr) fail("argument " + std::string(name) + " is given twice");
        expect('=');
        std::string owned(name);
        result.arguments.push_back({std::move(owned), value()});
    }

    Value value() {
        skip_space();
        const char c = peek();
        if (c == '[') return list();
        if (c == '"') return string();
        if (c == '-' || (c >= '0' && c <= '9')) return number();
        const std::string_view text = word();
        if (text == "none") return None{};
        if (text == "true") return true;
        if (text == "false") return false;
        if (text == "inf") return std::numeric_limits<double>::infinity();
        if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
        const auto dtype = parse_dtype(text);
        if (!dtype) fail("unknown value \"" + std::string(text) + "\"");
        if (peek() != '[') return *dtype;
        return tensor(*dtype);
    }

    TensorType tensor(Dtype dtype) {
        TensorType result;
        result.dtype = dtype;
        expect('[');
        if (!accept(']')) {
            do {
                if (result.sizes.size() == longest_list) fail("more than 4096 sizes");
                skip_space();
                const Value size = number();
                const auto* integer = std::get_if<std::int64_t>(&size);
                if (integer == nullptr || *integer < 0) fail("a tensor's size must be an integer from 0");
                result.sizes.push_back(*integer);
            } while (accept(','));
            expect(']');
        }
        if (accept('{')) lay_out(result);
        result.requires_grad = accept('~');
        return result;
    }

    /// Behind the opening brace: strides, or a word for them.
    void lay_out(TensorType& type) {
        skip_space();
        const std::size_t start = at_;
        const bool is_listed = peek() >= '0' && peek() <= '9';
        const Strides listed = is_listed ? strides() : Strides{};
        const std::string_view order = is_listed ? std::string_view() : word();
        if (!is_listed && order != "cl" && order != "t") {
            fail("unknown order of memory: {cl} and one stride for each dimension are known");
        }
        try {
            if (order == "cl") {
                type = channels_last(type.dtype, type.sizes);
            } else {
                type = strided(type.dtype, type.sizes, is_listed ? listed : exchanged_strides(type.sizes));
            }
        } catch (const FormatError& error) {
            at_ = start;
            fail(error.what());
        }
        expect('}');
    }

    Strides strides() {
        Strides result;
        do {
            if (result.size() == longest_list) fail("more than 4096 strides");
            skip_space();
            const Value stride = number();
            const auto* integer = std::get_if<std::int64_t>(&stride);
            if (integer == nullptr) fail("a stride must be an integer from 0");
            result.push_back(*integer);
        } while (accept(','));
        return result;
    }

    Value number() {
        const std::size_t start = at_;
        while (is_word(peek()) || peek() == '.' || peek() == '-' || peek() == '+') ++at_;
        const std::string_view text = text_.substr(start, at_ - start);
        if (text == "-inf") return -std::numeric_limits<double>::infinity();
        const char* const first = text.data();
        const char* const last = first + text.size();
        std::int64_t integer = 0;
        if (const auto read = std::from_chars(first, last, integer); read.ec == std::errc{} && read.ptr == last) {
            return integer;
        }
        double real = 0;
        const bool is_real = text.find_first_of(".e") != std::string_view::npos;
        if (const auto read = std::from_chars(first, last, real);
            is_real && read.ec == std::errc{} && read.ptr == last) {
            return real;
        }
        at_ = start;
        fail("not a number, or one out of range");
    }

    unsigned hex_unit() {
        unsigned unit = 0;
        if (text_.size() - at_ < 4) fail("unfinished \\u escape");
        const char* const first = text_.data() + at_;
        const auto read = std::from_chars(first, first + 4, unit, 16);
        if (read.ec != std::errc{} || read.ptr != first + 4) fail("\\u needs four hexadecimal digits");
        at_ += 4;
        return unit;
    }

    void append_code_point(std::string& result) {
        unsigned code = hex_unit();
        if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
            at_ += 2;
            const unsigned low = hex_unit();
            if (low < 0xDC00 || low > 0xDFFF) fail("half of a surrogate pair");
            code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
        }
        if (code >= 0xD800 && code < 0xE000) fail("half of a surrogate pair");
        const auto append = [&](unsigned byte) { result += static_cast<char>(byte); };
        if (code < 0x80) {
            append(code);
        } else if (code < 0x800) {
            append(0xC0U | (code >> 6U));
            append(0x80U | (code & 63U));
        } else {
            if (code < 0x10000) {
                append(0xE0U | (code >> 12U));
            } else {
                append(0xF0U | (code >> 18U));
                append(0x80U | ((code >> 12U) & 63U));
            }
            append(0x80U | ((code >> 6U) & 63U));
            append(0x80U | (code & 63U));
        }
    }

    std::string string() {
        std::string result;
        ++at_;
        while (true) {
            if (at_ >= text_.size()) fail("string without closing quote");
            const char c = text_[at_++];
            if (c == '"') return result;
            if (c != '\\') {
                result += c;
                continue;
            }
            constexpr std::string_view escapes = "\"\\/bfnrt";
            constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
            const char escape = peek();
            ++at_;
            if (escape == 'u') {
                append_code_point(result);
            } else if (const auto found = escapes.find(escape); found != std::string_view::npos) {
                result += meanings[found];
            } else {
                fail("unknown escape in a string");
            }
        }
    }

    /// All items of one kind; `none` beside tensors is a hole.
    Value list() {
        std::vector<Value> items;
        expect('[');
        if (accept(']')) return Integers{};
        do {
            if (items.size() == longest_list) fail("more than 4096 list items");
            skip_space();
            if (peek() == '[') fail("a list in a list");
            items.push_back(value());
        } while (accept(','));
        expect(']');
        if (const auto typed = same_kind(items)) return *typed;
        fail("a list with items of different kinds");
    }

    template <class List>
    static std::optional<Value> list_of(const std::vector<Value>& items) {
        List result;
        for (const Value& item : items) {
            const auto* typed = std::get_if<typename List::value_type>(&item);
            if (typed == nullptr) return std::nullopt;
            result.push_back(*typed);
        }
        return result;
    }

    static std::optional<Value> same_kind(const std::vector<Value>& items) {
        if (const auto integers = list_of<Integers>(items)) return integers;
        if (const auto reals = list_of<std::vector<double>>(items)) return reals;
        if (const auto booleans = list_of<std::vector<bool>>(items)) return booleans;
        TensorList result;
        for (const Value& item : items) {
            if (const auto* tensor = std::get_if<TensorType>(&item)) {
                result.emplace_back(*tensor);
            } else if (std::holds_alternative<None>(item)) {
                result.emplace_back();
            } else {
                return std::nullopt;
            }
        }
        return result;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

Operation parse_operation(std::string_view text) {
    return Parser(text).operation();
}

}  // namespace joulecast
