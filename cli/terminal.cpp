#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

std::string_view variable(const char* name) {
    // Read before any thread is started.
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return value == nullptr ? std::string_view() : value;
}

/// As setlocale decides: the first of these that is set.
bool locale_is_utf8() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        std::string value(variable(name));
        if (value.empty()) continue;
        std::ranges::transform(value, value.begin(), [](unsigned char c) { return std::tolower(c); });
        return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
    }
    return false;
}

/// First byte pair of the blocks U+2588 to U+258F in UTF-8; the third byte is 0x88 to 0x8f.
constexpr std::string_view block_start = "\xe2\x96";

bool is_block(std::string_view text) {
    return text.size() >= 3 && text.starts_with(block_start) && static_cast<unsigned char>(text[2]) >= 0x88 &&
           static_cast<unsigned char>(text[2]) <= 0x8f;
}

}  // namespace

Terminal terminal(const Output& output) {
    Terminal result;
    const std::string_view columns = variable("COLUMNS");
    std::size_t asked = 0;
    std::from_chars(columns.data(), columns.data() + columns.size(), asked);
    if (asked > 0) result.width = asked;
    if (!(output.file.empty() || output.file == "-") || isatty(STDOUT_FILENO) == 0) return result;
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) result.width = size.ws_col;
    result.utf8 = locale_is_utf8();
    result.colour = variable("NO_COLOR").empty() && variable("TERM") != "dumb";
    return result;
}

std::string share_bar(double share, std::size_t width, const Terminal& terminal) {
    if (terminal.utf8) return bar(share, width);
    const double length = std::clamp(std::isnan(share) ? 0.0 : share, 0.0, 1.0) * static_cast<double>(width);
    std::string hashes(static_cast<std::size_t>(std::lround(length)), '#');
    return hashes;
}

std::string coloured(const std::string& text, const Terminal& terminal) {
    if (!terminal.colour) return text;
    std::string result;
    std::string_view rest = text;
    while (!rest.empty()) {
        std::size_t length = 0;
        while (is_block(rest.substr(length))) length += 3;
        if (length > 0) {
            result += std::string(colour_on) + std::string(rest.substr(0, length)) + std::string(colour_off);
        } else {
            length = 1;
            result += rest.front();
        }
        rest.remove_prefix(length);
    }
    return result;
}

std::string shortened(const std::string& text, std::size_t width, const Terminal& terminal) {
    if (display_width(text) <= width) return text;
    const std::string ellipsis = terminal.utf8 ? "…" : "...";
    const std::size_t kept = width - std::min(width, display_width(ellipsis));
    // Signatures are ASCII but for the strings of operations; a cut never splits a character.
    std::size_t end = std::min(kept, text.size());
    while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
    return text.substr(0, end) + ellipsis;
}

}  // namespace joulecast::cli
