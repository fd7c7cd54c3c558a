#include "joulecast/report/figure_text.h"

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

std::string in_script(std::string json) {
    for (auto at = json.find('<'); at != std::string::npos; at = json.find('<', at)) json.replace(at, 1, "\\u003c");
    return json;
}

}  // namespace joulecast
