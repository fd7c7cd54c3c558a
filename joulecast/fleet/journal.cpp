#include "joulecast/fleet/journal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "joulecast/units/printable.h"
#include "joulecast/units/time_stamp.h"

namespace joulecast {
namespace {

constexpr std::size_t longest_line = 4096;
constexpr std::size_t longest_journal = 16 << 20;
constexpr std::size_t longest_word = 300;
constexpr std::string_view events[] = {"started", "finished", "stopped", "failed", "refused", "skipped", "marked"};

/// The next word; empty at the end.
std::string_view take_word(std::string_view& rest) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return word;
}

bool take_field(std::string_view word, JournalLine& line) {
    const std::size_t sign = word.find('=');
    if (sign == std::string_view::npos) return false;
    const std::string_view key = word.substr(0, sign), value = word.substr(sign + 1);
    if (key == "job") line.job = printable(value, longest_word);
    if (key == "node") line.node = printable(value, longest_word);
    if (key == "card") line.card = printable(value, longest_word);
    if (key != "restart") return true;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), line.restart);
    return read.ec == std::errc() && read.ptr == value.data() + value.size() && line.restart >= 0;
}

std::optional<JournalLine> parse(std::string_view text) {
    JournalLine line;
    line.time = take_word(text);
    if (std::isnan(seconds_since_1970(line.time))) return {};
    line.event = take_word(text);
    if (std::ranges::find(events, line.event) == std::end(events)) return {};
    while (!text.empty()) {
        const std::string_view word = take_word(text);
        if (word == ":") break;
        if (!take_field(word, line)) return {};
    }
    if (line.job.empty() || line.node.empty()) return {};
    line.text = printable(text, longest_line);
    return line;
}

}  // namespace

Journal read_journal(std::istream& input) {
    Journal journal;
    std::size_t bytes = 0;
    for (std::string text; bytes < longest_journal && std::getline(input, text);) {
        bytes += text.size() + 1;
        if (text.size() > longest_line) text.resize(longest_line);
        if (auto line = parse(text))
            journal.lines.push_back(std::move(*line));
        else
            ++journal.unreadable;
    }
    return journal;
}

const JournalLine* last_standing(const Journal& journal) {
    const JournalLine* last = nullptr;
    for (const JournalLine& line : journal.lines) {
        if (line.event != "skipped" && line.event != "marked") last = &line;
    }
    return last;
}

double clock_difference_s(const Journal& journal) {
    double latest_s = -1, difference_s = 0;
    for (const JournalLine& line : journal.lines) {
        const double at_s = seconds_since_1970(line.time);
        difference_s = std::max(difference_s, latest_s - at_s);
        latest_s = std::max(latest_s, at_s);
    }
    return difference_s;
}

}  // namespace joulecast
