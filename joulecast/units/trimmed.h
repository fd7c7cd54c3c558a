#pragma once

#include <string_view>

namespace joulecast {

/// Without blanks at both ends; a view into the text.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " \t\r\n") {
    const auto first = text.find_first_not_of(blanks);
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace joulecast
