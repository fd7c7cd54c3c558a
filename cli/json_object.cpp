#include "cli/json_object.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace joulecast::cli {

void append_quoted(std::string& text, std::string_view value) {
    const auto is_plain = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\';
    };
    if (std::ranges::all_of(value, is_plain)) {
        text += '"';
        text += value;
        text += '"';
        return;
    }
    text += nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

JsonObject::JsonObject(std::string& text, Layout layout, std::size_t depth)
    : text_(text), layout_(layout), depth_(depth) {
    text_ += '{';
}

void JsonObject::new_line(std::size_t depth) {
    constexpr std::size_t indent = 2;
    if (layout_ == Layout::one_line) return;
    text_ += '\n';
    text_.append(indent * depth, ' ');
}

std::string& JsonObject::entry(std::string_view key) {
    if (!is_empty_) text_ += ',';
    is_empty_ = false;
    new_line(depth_ + 1);
    append_quoted(text_, key);
    text_ += layout_ == Layout::one_line ? ":" : ": ";
    return text_;
}

void JsonObject::add(std::string_view key, double value) {
    if (!std::isfinite(value)) return add_null(key);
    // Not append_digits(): 0.0001 is "1e-04" there, and answers have had "0.0001" from the first.
    std::array<char, 64> digits;
    char* const end = nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value);
    entry(key).append(digits.data(), end);
}

void JsonObject::add(std::string_view key, const std::vector<std::string>& texts) {
    entry(key) += '[';
    for (const std::string& text : texts) {
        if (&text != &texts.front()) text_ += ',';
        new_line(depth_ + 2);
        append_quoted(text_, text);
    }
    if (!texts.empty()) new_line(depth_ + 1);
    text_ += ']';
}

void JsonObject::end() {
    if (!is_empty_) new_line(depth_);
    text_ += '}';
}

}  // namespace joulecast::cli
