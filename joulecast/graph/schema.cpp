#include "joulecast/graph/schema.h"

#include <charconv>
#include <string>

#include "joulecast/error.h"
#include "joulecast/units/trimmed.h"

namespace joulecast::records {

namespace {

[[noreturn]] void fail(std::string_view schema, const std::string& what) {
    throw FormatError("cannot read schema \"" + std::string(schema) + "\": " + what);
}

template <class Number>
std::optional<Number> number(std::string_view text) {
    Number value{};
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

bool holds_reals(std::string_view type) {
    return type.substr(0, 5) == "float";
}

/// "float[]" and "int[2]" are lists; the number is the length that a single default is repeated to.
bool is_list(std::string_view type) {
    return type.find('[') != std::string_view::npos;
}

std::size_t list_length(std::string_view type) {
    const std::size_t open = type.find('[');
    const std::size_t close = type.find(']', open);
    return number<std::size_t>(type.substr(open + 1, close - open - 1)).value_or(1);
}

Value single_default(std::string_view schema, std::string_view type, std::string_view text) {
    if (text == "None") return None{};
    if (text == "True") return true;
    if (text == "False") return false;
    if (text.front() == '"' || text.front() == '\'') return std::string(text.substr(1, text.size() - 2));
    if (text == "contiguous_format") return std::string(text);
    const auto integer = number<std::int64_t>(text);
    // torch numbers its dtypes; 4 is long, the only one that stands as a default.
    if (type.substr(0, 10) == "ScalarType" && integer == 4) return Dtype::i64;
    if (integer && !holds_reals(type)) return *integer;
    if (const auto real = number<double>(text)) return *real;
    fail(schema, "unknown default " + std::string(text));
}

Value list_default(std::string_view schema, std::string_view type, std::string_view text) {
    if (text == "None") return None{};
    const bool bracketed = text.front() == '[';
    Integers items;
    std::string_view rest = bracketed ? text.substr(1, text.size() - 2) : text;
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        const auto item = number<std::int64_t>(trimmed(rest.substr(0, comma)));
        if (!item) fail(schema, "unknown default " + std::string(text));
        items.push_back(*item);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    if (!bracketed) items.assign(list_length(type), items.front());
    return items;
}

SchemaParameter parse_parameter(std::string_view schema, std::string_view text) {
    const std::size_t equals = text.find('=');
    const std::string_view declared = trimmed(text.substr(0, equals));
    const std::size_t space = declared.rfind(' ');
    if (space == std::string_view::npos) fail(schema, "parameter without type: " + std::string(text));
    SchemaParameter result;
    result.type = declared.substr(0, space);
    // "Tensor(a!)" marks aliasing, which changes nothing here.
    result.type = result.type.substr(0, result.type.find('('));
    result.parameter.name = declared.substr(space + 1);
    if (equals == std::string_view::npos) return result;
    const std::string_view value = trimmed(text.substr(equals + 1));
    if (value.empty()) fail(schema, "empty default");
    result.parameter.default_value =
        is_list(result.type) ? list_default(schema, result.type, value) : single_default(schema, result.type, value);
    return result;
}

/// The comma that ends a parameter: not one inside brackets, parentheses or quotes.
std::size_t parameter_end(std::string_view text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[' || text[i] == '(') ++depth;
        if (text[i] == ']' || text[i] == ')') --depth;
        if (text[i] == ',' && depth == 0) return i;
    }
    return text.size();
}

}  // namespace

std::string_view schema_target(std::string_view text) {
    return text.substr(0, text.find('('));
}

Schema parse_schema(std::string_view text) {
    const std::size_t open = text.find('(');
    const std::size_t close = text.rfind(") ->");
    if (open == std::string_view::npos || close == std::string_view::npos) fail(text, "expected name(...) -> ...");
    Schema schema;
    schema.target = schema_target(text);
    std::string_view rest = text.substr(open + 1, close - open - 1);
    while (!rest.empty()) {
        const std::size_t end = parameter_end(rest);
        const std::string_view parameter = trimmed(rest.substr(0, end));
        if (parameter != "*") schema.parameters.push_back(parse_parameter(text, parameter));
        rest = end == rest.size() ? std::string_view() : rest.substr(end + 1);
    }
    return schema;
}

}  // namespace joulecast::records
