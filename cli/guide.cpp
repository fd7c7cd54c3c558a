#include "cli/guide.h"

#include <algorithm>

namespace joulecast::cli {
namespace {

std::string_view without_blank_edges(std::string_view text) {
    while (!text.empty() && (text.front() == '\n' || text.front() == '\r')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    return text;
}

}  // namespace

Guide split_guide(std::string_view markdown) {
    std::string_view text = without_blank_edges(markdown);
    if (text.starts_with("# ")) {
        const auto end_of_title = std::min(text.find('\n'), text.size());
        text = without_blank_edges(text.substr(end_of_title));
    }
    const auto end_of_summary = std::min(text.find("\n\n"), text.size());
    Guide guide{std::string(text.substr(0, end_of_summary)),
                std::string(without_blank_edges(text.substr(end_of_summary)))};
    // The summary also stands in the list of verbs, where it is one line.
    std::replace(guide.summary.begin(), guide.summary.end(), '\n', ' ');
    return guide;
}

}  // namespace joulecast::cli
