#include "joulecast/graph/readers/pt2_json.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace joulecast::pt2 {
namespace {

/// Exporters nest about ten levels; a sub-graph of a higher-order call adds as many.
constexpr std::size_t most_depth = 128;
/// What separates values, each of which takes up to 40 bytes to read. Exporters write one to 8 to 12 bytes of text, so
/// that the largest model has as many; a hostile file may have nothing else.
constexpr std::ptrdiff_t most_separators = 8'000'000;

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

}  // namespace

double float_of(dom::element element) {
    std::string_view text;
    if (element.get(text) == error_code::SUCCESS) {
        if (text == "NaN" || text == "nan") return std::numeric_limits<double>::quiet_NaN();
        if (text == "Infinity" || text == "inf") return std::numeric_limits<double>::infinity();
        if (text == "-Infinity" || text == "-inf") return -std::numeric_limits<double>::infinity();
    }
    return as<double>(element, "a number");
}

Document::Document(std::string json) {
    const auto is_separator = [](char c) { return c == ',' || c == ':' || c == '[' || c == '{'; };
    if (std::ranges::count_if(json, is_separator) > most_separators)
        throw FormatError("its JSON holds more than 8 million values. No model is that large");
    const std::string text = quote_bare_numbers(std::move(json));
    if (const error_code code = parser_.allocate(text.size() + simdjson::SIMDJSON_PADDING, most_depth))
        throw FormatError(simdjson::error_message(code));
    dom::element root;
    if (const error_code code = parser_.parse(text).get(root))
        throw FormatError(std::string("its JSON is damaged (") + simdjson::error_message(code) + ")");
    root_ = object_of(root);
}

}  // namespace joulecast::pt2
