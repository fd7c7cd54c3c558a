#include "joulecast/report/figure_text.h"

#include <charconv>
#include <cstdio>

namespace joulecast {

std::string figure_text(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if (c == '<')
            result += "&lt;";
        else if (c == '&')
            result += "&amp;";
        else if (c == '>')
            result += "&gt;";
        else
            result += c;
    }
    return result;
}

std::string paler(std::string_view colour, double opacity) {
    std::array<int, 3> parts{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const char* const from = colour.data() + 1 + 2 * i;
        std::from_chars(from, from + 2, parts[i], 16);
    }
    std::array<char, 40> text{};
    const int length =
        std::snprintf(text.data(), text.size(), "rgba(%d,%d,%d,%.2g)", parts[0], parts[1], parts[2], opacity);
    return {text.data(), static_cast<std::size_t>(length)};
}

std::string in_script(std::string json) {
    for (auto at = json.find('<'); at != std::string::npos; at = json.find('<', at)) json.replace(at, 1, "\\u003c");
    return json;
}

}  // namespace joulecast
