#include "cli/asked_numbers.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "joulecast/error.h"
#include "joulecast/units/trimmed.h"

namespace joulecast::cli {
namespace {

double number(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    return number_or_nan(text);
}

/// "1,281,167" without its commas; empty where they do not stand between groups of three digits.
std::string without_commas(std::string_view text) {
    std::string digits;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        const std::string_view group = text.substr(start, comma - start);
        const bool is_digits = group.find_first_not_of("0123456789") == std::string_view::npos;
        const bool fits = start == 0 ? !group.empty() && group.size() <= 3 : group.size() == 3;
        if (!is_digits || !fits) return "";
        digits += group;
        start = comma + 1;
    }
    return digits;
}

[[noreturn]] void refuse(const std::string& option, const std::string& wanted, const std::string& text) {
    throw UsageError(option + " takes " + wanted + ", not '" + text.substr(0, 60) + "'");
}

struct ByteUnit {
    std::string_view word;
    double bytes;
};

constexpr std::array byte_units{ByteUnit{"kib", 0x1p10}, ByteUnit{"mib", 0x1p20}, ByteUnit{"gib", 0x1p30},
                                ByteUnit{"tib", 0x1p40}, ByteUnit{"kb", 1e3},     ByteUnit{"mb", 1e6},
                                ByteUnit{"gb", 1e9},     ByteUnit{"tb", 1e12},    ByteUnit{"k", 1e3},
                                ByteUnit{"m", 1e6},      ByteUnit{"g", 1e9},      ByteUnit{"t", 1e12},
                                ByteUnit{"b", 1},        ByteUnit{"", 1}};

}  // namespace

double number_or_nan(std::string_view text) {
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = read.ec == std::errc() && read.ptr == text.data() + text.size() && std::isfinite(value);
    return is_number ? value : std::numeric_limits<double>::quiet_NaN();
}

double asked_count(const std::string& option, const std::string& text) {
    const bool has_commas = text.find(',') != std::string::npos;
    const double value = number(has_commas ? without_commas(text) : text);
    if (!(value > 0)) refuse(option, "a number above zero, as in 1281167, 1,281,167 or 1.28e6", text);
    return value;
}

double asked_bytes(const std::string& option, const std::string& text) {
    std::string lower;
    for (const char c : text)
        if (c != ' ') lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    for (const ByteUnit& unit : byte_units) {
        if (!lower.ends_with(unit.word)) continue;
        const double bytes = number(std::string_view(lower).substr(0, lower.size() - unit.word.size())) * unit.bytes;
        if (bytes > 0 && std::isfinite(bytes)) return bytes;
        break;
    }
    refuse(option, "bytes, as in 40GB, 40GiB or 40e9", text);
}

double asked_share(const std::string& option, const std::string& text) {
    const bool is_percent = text.ends_with('%');
    const std::string_view digits = trimmed(std::string_view(text).substr(0, text.size() - (is_percent ? 1 : 0)));
    const double share = number(digits) / (is_percent ? 100 : 1);
    if (!(share > -1)) refuse(option, "a share, as in 5%, +2% or 0.05", text);
    return share;
}

}  // namespace joulecast::cli
