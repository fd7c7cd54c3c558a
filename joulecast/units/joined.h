#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace joulecast {

/// "name, name" for messages and tables.
inline std::string joined(const std::vector<std::string>& texts, std::string_view separator = ", ") {
    std::string joined;
    for (const std::string& text : texts) {
        if (!joined.empty()) joined += separator;
        joined += text;
    }
    return joined;
}

}  // namespace joulecast
