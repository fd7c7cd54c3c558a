#include "joulecast/graph/size_text.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using Place = SymbolicSize::Place;

/// A piece of the text where an integer may stand, and what it is part of.
struct Slot {
    Place place = Place::argument;
    std::int32_t index = 0;
    std::int32_t position = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
};

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Finds the slots of an operation's text. Faults are left to the parser: the walk then ends early.
class Slots {
  public:
    explicit Slots(std::string_view text) : text_(text) {
        at_ = text_.find('(');
        if (at_ == std::string_view::npos) return;
        do {
            ++at_;
            const std::size_t equals = text_.find('=', at_);
            if (equals == std::string_view::npos) return;
            at_ = equals + 1;
            value();
            ++argument_;
        } while (peek() == ',');
    }

    std::vector<Slot> found;
    /// Where the strides of each tensor stand, braces included, or would.
    std::vector<Slot> orders;

  private:
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_space() {
        while (peek() == ' ' || peek() == '\t') ++at_;
    }

    void value() {
        skip_space();
        if (peek() == '[') {
            for (std::int32_t position = 0; peek() == '[' || peek() == ','; ++position) {
                ++at_;
                item(position);
            }
            if (peek() == ']') ++at_;
        } else {
            item(0);
        }
        skip_space();
    }

    void item(std::int32_t position) {
        skip_space();
        if (peek() == '"') return skip_string();
        const std::size_t start = at_;
        while (is_word(peek())) ++at_;
        if (at_ > start && peek() == '[') return tensor();
        at_ = start;
        slot(Place::argument, argument_, position);
    }

    void tensor() {
        for (std::int32_t dimension = 0; peek() == '[' || peek() == ','; ++dimension) {
            ++at_;
            slot(Place::input_tensor, tensor_, dimension);
        }
        if (peek() == ']') ++at_;
        const std::size_t begin = at_;
        skip_space();
        if (peek() == '{') {
            order();
        } else {
            at_ = begin;
        }
        orders.push_back({Place::input_stride, tensor_, 0, begin, at_});
        ++tensor_;
        // The gradient mark.
        while (at_ < text_.size() && text_[at_] != ',' && text_[at_] != ']' && text_[at_] != ')') ++at_;
    }

    /// Strides in braces, or one of the words that stand for some.
    void order() {
        for (const std::string_view word : {"{cl}", "{t}"}) {
            if (!text_.substr(at_).starts_with(word)) continue;
            at_ += word.size();
            return;
        }
        for (std::int32_t dimension = 0; peek() == '{' || peek() == ','; ++dimension) {
            ++at_;
            slot(Place::input_stride, tensor_, dimension);
        }
        if (peek() == '}') ++at_;
    }

    /// Up to the comma or bracket that ends it; those in the parentheses of an expression are part of it.
    void slot(Place place, std::int32_t index, std::int32_t position) {
        skip_space();
        const std::size_t begin = at_;
        int depth = 0;
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '(') ++depth;
            if (depth == 0 && (c == ',' || c == ']' || c == '}' || c == ')')) break;
            if (c == ')') --depth;
        }
        std::size_t end = at_;
        while (end > begin && (text_[end - 1] == ' ' || text_[end - 1] == '\t')) --end;
        if (end > begin) found.push_back({place, index, position, begin, end});
    }

    void skip_string() {
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] == '\\') ++at_;
        }
        ++at_;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::int32_t argument_ = 0;
    std::int32_t tensor_ = 0;
};

/// What parse_operation reads by itself; the rest is an expression.
bool is_literal(std::string_view text) {
    if (text == "none" || text == "true" || text == "false" || text == "-inf" || text == "inf" || text == "nan" ||
        parse_dtype(text)) {
        return true;
    }
    if (std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) return true;
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

Expression parse_size(std::string_view text, const SymbolValues& values) {
    Expression expression = Expression::parse(text);
    for (const std::string& symbol : expression.symbols()) {
        if (!values.contains(symbol)) {
            throw FormatError("\"" + std::string(text.substr(0, 80)) +
                              "\" is neither a value nor a size: \"symbols\" " + "does not declare " +
                              symbol.substr(0, 80));
        }
    }
    return expression;
}

/// The text with numbers in place of the expressions, which go to `symbolic`. A tensor that has one gets an entry for
/// each of its strides.
std::string evaluated(std::string_view text, const SymbolValues& values, std::vector<SymbolicSize>& symbolic) {
    const std::vector<Slot> slots = Slots(text).found;
    const auto item = [&](const Slot& slot) { return text.substr(slot.begin, slot.end - slot.begin); };
    std::set<std::int32_t> shaped;
    for (const Slot& slot : slots) {
        if (slot.place != Place::argument && !is_literal(item(slot))) shaped.insert(slot.index);
    }
    std::string plain;
    std::size_t copied = 0;
    for (const Slot& slot : slots) {
        const bool is_stride = slot.place == Place::input_stride && shaped.contains(slot.index);
        if (is_literal(item(slot)) && !is_stride) continue;
        Expression expression = parse_size(item(slot), values);
        plain += text.substr(copied, slot.begin - copied);
        plain += std::to_string(expression.evaluate(values));
        copied = slot.end;
        if (is_stride || !expression.is_constant())
            symbolic.push_back({slot.place, slot.index, slot.position, std::move(expression)});
    }
    return plain += text.substr(copied);
}

/// Text to put in the place of other text.
struct Edit {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string text;
};

std::string edited(std::string_view text, std::vector<Edit> edits) {
    std::ranges::sort(edits, {}, &Edit::begin);
    std::string result;
    std::size_t copied = 0;
    for (const Edit& edit : edits) {
        result += text.substr(copied, edit.begin - copied);
        result += edit.text;
        copied = edit.end;
    }
    return result += text.substr(copied);
}

std::string with_expressions(std::string_view text, const std::vector<SymbolicSize>& symbolic) {
    std::map<std::tuple<Place, std::int32_t, std::int32_t>, const Expression*> wanted;
    std::map<std::int32_t, std::string> strides;
    for (const SymbolicSize& size : symbolic) {
        if (size.place == Place::input_stride) {
            std::string& listed = strides[size.index];
            listed += (listed.empty() ? "{" : ",") + size.expression.text();
        } else if (size.place != Place::output_tensor && size.place != Place::output_stride &&
                   !size.expression.is_constant()) {
            wanted[{size.place, size.index, size.position}] = &size.expression;
        }
    }
    const Slots slots(text);
    std::vector<Edit> edits;
    for (const Slot& slot : slots.found) {
        const auto found = wanted.find({slot.place, slot.index, slot.position});
        if (found == wanted.end()) continue;
        edits.push_back({slot.begin, slot.end, found->second->text()});
        wanted.erase(found);
    }
    for (const Slot& order : slots.orders) {
        const auto found = strides.find(order.index);
        if (found == strides.end()) continue;
        edits.push_back({order.begin, order.end, found->second + "}"});
        strides.erase(found);
    }
    if (!wanted.empty() || !strides.empty())
        throw FormatError("graph is inconsistent: a symbolic size stands nowhere in " +
                          std::string(text.substr(0, 200)));
    return edited(text, std::move(edits));
}

/// A tensor's text form stands only inside of an operation's, so it is written and read as one with a single argument.
constexpr std::string_view around_type = "tensor(t=";

}  // namespace

ShapedOperation parse_operation(std::string_view text, const SymbolValues& values) {
    ShapedOperation shaped;
    shaped.operation = parse_operation(evaluated(text, values, shaped.symbolic));
    for (const TensorType* type : tensors(shaped.operation)) byte_count(*type);  // throws when no memory holds it
    return shaped;
}

ShapedType parse_type(std::string_view text, const SymbolValues& values) {
    const auto shaped = parse_operation(std::string(around_type) + std::string(text) + ")", values);
    const auto& arguments = shaped.operation.arguments;
    const auto* type = arguments.size() == 1 ? std::get_if<TensorType>(&arguments[0].value) : nullptr;
    if (type == nullptr)
        throw FormatError("\"" + std::string(text.substr(0, 80)) + "\" is not a tensor type such as f32[8,64]");
    ShapedType result{*type, {}, {}};
    for (const SymbolicSize& size : shaped.symbolic) {
        if (size.place == Place::input_stride) {
            result.symbolic_strides.push_back(size.expression);
        } else {
            result.symbolic.emplace_back(size.position, size.expression);
        }
    }
    return result;
}

std::string text_with_symbols(const Operation& operation, const std::vector<SymbolicSize>& symbolic) {
    const std::string text = signature(operation);
    return symbolic.empty() ? text : with_expressions(text, symbolic);
}

std::string text_with_symbols(const TensorType& type, const std::vector<std::pair<std::int32_t, Expression>>& symbolic,
                              const std::vector<Expression>& symbolic_strides) {
    std::vector<SymbolicSize> sizes;
    for (const auto& [dimension, expression] : symbolic)
        sizes.push_back({Place::input_tensor, 0, dimension, expression});
    for (const Expression& expression : symbolic_strides) sizes.push_back({Place::input_stride, 0, 0, expression});
    const std::string text = text_with_symbols(Operation{"tensor", {{"t", type}}}, sizes);
    return text.substr(around_type.size(), text.size() - around_type.size() - 1);
}

}  // namespace joulecast
