#include "joulecast/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>

#include "joulecast/dataset/csv.h"

namespace joulecast {
namespace {

constexpr const char* not_known = "–";

struct Scale {
    double factor;
    const char* unit;
};

// Smallest first; the largest whose factor the value reaches is taken.
constexpr std::array time_scales{Scale{1e-9, "ns"}, Scale{1e-6, "µs"}, Scale{1e-3, "ms"},
                                 Scale{1, "s"},     Scale{60, "min"},  Scale{3600, "h"}};
constexpr std::array energy_scales{Scale{1e-9, "nJ"}, Scale{1e-6, "µJ"}, Scale{1e-3, "mJ"},
                                   Scale{1, "J"},     Scale{1e3, "kJ"},  Scale{1e6, "MJ"}};
constexpr std::array power_scales{Scale{1e-3, "mW"}, Scale{1, "W"}, Scale{1e3, "kW"}, Scale{1e6, "MW"}};
constexpr std::array byte_scales{Scale{1, "B"}, Scale{1e3, "kB"}, Scale{1e6, "MB"}, Scale{1e9, "GB"},
                                 Scale{1e12, "TB"}};
constexpr std::array flop_scales{Scale{1, "FLOP"},    Scale{1e3, "kFLOP"},  Scale{1e6, "MFLOP"},
                                 Scale{1e9, "GFLOP"}, Scale{1e12, "TFLOP"}, Scale{1e15, "PFLOP"}};

/// Three significant digits, trailing zeros kept so that columns line up: 1.00, 12.3, 456.
std::string three_digits(double value) {
    const double magnitude = std::abs(value);
    // The bounds are where the next shorter form would round up: 9.995 prints as 10.0.
    if (magnitude < 9.995) return fmt::format("{:.2f}", value);
    if (magnitude < 99.95) return fmt::format("{:.1f}", value);
    return fmt::format("{:.0f}", value);
}

std::string scaled(double value, std::span<const Scale> scales) {
    if (value == 0) return fmt::format("0 {}", scales.front().unit);
    const Scale* chosen = &scales.front();
    for (const Scale& scale : scales) {
        // Rounded to three digits first: 999.7 ms is 1.00 s, not 1000 ms.
        const double digits_lost = std::abs(value) * (1 + 5e-4);
        if (digits_lost >= scale.factor) chosen = &scale;
    }
    const double shown = value / chosen->factor;
    const bool whole = chosen->factor == 1 && chosen == &scales.front() && shown == std::floor(shown);
    return fmt::format("{} {}", whole ? fmt::format("{:.0f}", shown) : three_digits(shown), chosen->unit);
}

std::string percent(double fraction) {
    const double value = 100 * fraction;
    const double magnitude = std::abs(value);
    const int decimals = magnitude >= 99.95 ? 0 : magnitude >= 0.995 || magnitude == 0 ? 1 : 2;
    return fmt::format("{:.{}f} %", value, decimals);
}

std::string plain_number(double value) {
    const double magnitude = std::abs(value);
    if (value == 0) return "0";
    if (magnitude >= 1e6 || magnitude < 1e-3) return fmt::format("{:.2e}", value);
    if (magnitude < 0.9995) return fmt::format("{:.3g}", value);
    return three_digits(value);
}

std::string show_number(double value, Show how) {
    if (!std::isfinite(value)) return std::isnan(value) ? not_known : value > 0 ? "∞" : "-∞";
    switch (how) {
        case Show::seconds:
            return value == 0 ? "0 s" : scaled(value, time_scales);
        case Show::joules:
            return value == 0 ? "0 J" : scaled(value, energy_scales);
        case Show::watts:
            return value == 0 ? "0 W" : scaled(value, power_scales);
        case Show::bytes:
            return scaled(value, byte_scales);
        case Show::flop:
            return scaled(value, flop_scales);
        case Show::percent:
            return percent(value);
        case Show::count:
            return fmt::format("{:.0f}", value);
        case Show::number:
        case Show::text:
            break;
    }
    return plain_number(value);
}

/// A code point of UTF-8 and its length in bytes; a stray byte is one code point of its own.
struct CodePoint {
    char32_t value;
    std::size_t length;
};

CodePoint decode(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned first = byte(0);
    const std::size_t length = first < 0x80                    ? 1
                               : first >= 0xf0 && first < 0xf8 ? 4
                               : first >= 0xe0 && first < 0xf0 ? 3
                               : first >= 0xc2 && first < 0xe0 ? 2
                                                               : 0;
    if (length == 1) return {first, 1};
    if (length == 0 || text.size() < length) return {0xfffd, 1};
    char32_t value = first & (0xffu >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0u) != 0x80u) return {0xfffd, 1};
        value = (value << 6) | (byte(i) & 0x3fu);
    }
    return {value, length};
}

/// Letters of ASCII, as nearly all of a table are: they take one column and steer nothing.
bool is_plain(char letter) {
    return letter >= ' ' && letter < 0x7f;
}

/// Columns a terminal gives a code point: combining marks 0, East Asian wide forms and emoji 2 (UAX 11), others 1.
std::size_t columns(char32_t c) {
    if ((c >= 0x300 && c <= 0x36f) || c == 0x200b || c == 0x200d || (c >= 0xfe00 && c <= 0xfe0f)) return 0;
    const bool wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xac00 && c <= 0xd7a3) ||
                      (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
                      (c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
    return wide ? 2 : 1;
}

/// Names come out of model files: nothing in them may steer a terminal or break a row in two.
std::string printable(std::string_view text) {
    if (std::ranges::all_of(text, is_plain)) return std::string(text);
    std::string result;
    while (!text.empty()) {
        const auto [value, length] = decode(text);
        if (value < 0x20 || (value >= 0x7f && value < 0xa0)) {
            result += fmt::format("\\x{:02x}", static_cast<unsigned>(value));
        } else if (value == 0xfffd && length == 1) {
            result += "\xef\xbf\xbd";
        } else {
            result += text.substr(0, length);
        }
        text.remove_prefix(length);
    }
    return result;
}

std::string csv_text(const Cell& cell) {
    if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "true" : "false";
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
    if (const auto* number = std::get_if<double>(&cell))
        return std::isfinite(*number) ? fmt::format("{}", *number) : "";
    if (const auto* text = std::get_if<std::string>(&cell)) return csv_field(harmless_field(*text));
    return "";
}

bool is_right_aligned(const Table& table, std::size_t column) {
    if (table.heads[column].show != Show::text) return true;
    bool any = false;
    for (const auto& row : table.rows) {
        if (std::holds_alternative<std::monostate>(row.at(column))) continue;
        any = true;
        if (std::holds_alternative<std::string>(row.at(column)) || std::holds_alternative<bool>(row.at(column))) {
            return false;
        }
    }
    return any;
}

}  // namespace

std::size_t display_width(std::string_view text) {
    std::size_t width = 0;
    while (!text.empty()) {
        if (is_plain(text.front())) {
            ++width;
            text.remove_prefix(1);
            continue;
        }
        const auto [value, length] = decode(text);
        width += columns(value);
        text.remove_prefix(length);
    }
    return width;
}

std::string bar(double fraction, std::size_t width) {
    static constexpr std::array eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    if (!(fraction > 0)) return "";
    const auto steps =
        static_cast<std::size_t>(std::lround(std::min(fraction, 1.0) * 8.0 * static_cast<double>(width)));
    std::string result;
    for (std::size_t i = 0; i < steps / 8; ++i) result += "█";
    return result + eighths[steps % 8];
}

Table without_empty_columns(const Table& table) {
    Table kept;
    kept.rows.resize(table.rows.size());
    for (std::size_t column = 0; column < table.heads.size(); ++column) {
        const auto is_known = [column](const std::vector<Cell>& row) { return row[column].index() != 0; };
        if (std::ranges::none_of(table.rows, is_known)) continue;
        kept.heads.push_back(table.heads[column]);
        for (std::size_t row = 0; row < table.rows.size(); ++row) kept.rows[row].push_back(table.rows[row][column]);
    }
    return kept;
}

std::string show(const Cell& cell, Show how) {
    if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "yes" : "no";
    if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
    if (const auto* number = std::get_if<double>(&cell)) return show_number(*number, how);
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) {
        const bool exact = how == Show::count || how == Show::text || how == Show::number;
        return exact ? std::to_string(*whole) : show_number(static_cast<double>(*whole), how);
    }
    return not_known;
}

std::string to_text(const Table& table) {
    const std::size_t columns_count = table.heads.size();
    std::vector<std::size_t> widths;
    for (const auto& head : table.heads) widths.push_back(display_width(head.header));
    std::vector<std::vector<std::string>> cells;
    for (const auto& row : table.rows) {
        auto& line = cells.emplace_back();
        for (std::size_t c = 0; c < columns_count; ++c) {
            line.push_back(show(row.at(c), table.heads[c].show));
            widths[c] = std::max(widths[c], display_width(line.back()));
        }
    }
    std::vector<bool> right;
    for (std::size_t c = 0; c < columns_count; ++c) right.push_back(is_right_aligned(table, c));

    const auto print = [&](const auto& text_of) {
        std::string line;
        for (std::size_t c = 0; c < columns_count; ++c) {
            const std::string& text = text_of(c);
            const std::string padding(widths[c] - display_width(text), ' ');
            if (c > 0) line += "  ";
            line += right[c] ? padding + text : text + padding;
        }
        line.erase(line.find_last_not_of(' ') + 1);
        return line + '\n';
    };
    std::string result = print([&](std::size_t c) -> const std::string& { return table.heads[c].header; });
    for (std::size_t c = 0; c < columns_count; ++c) {
        if (c > 0) result += "  ";
        for (std::size_t i = 0; i < widths[c]; ++i) result += "─";
    }
    result += '\n';
    for (const auto& line : cells) {
        result += print([&](std::size_t c) -> const std::string& { return line[c]; });
    }
    return result;
}

std::string to_csv(const Table& table) {
    std::string result;
    const auto separator = [](std::size_t column) { return column > 0 ? "," : ""; };
    for (std::size_t c = 0; c < table.heads.size(); ++c) result += separator(c) + csv_field(table.heads[c].key);
    result += '\n';
    for (const auto& row : table.rows) {
        for (std::size_t c = 0; c < table.heads.size(); ++c) result += separator(c) + csv_text(row.at(c));
        result += '\n';
    }
    return result;
}

}  // namespace joulecast
