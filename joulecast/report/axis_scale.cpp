#include "joulecast/report/axis_scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace joulecast {
namespace {

struct Prefix {
    double size;
    const char* text;
};

constexpr std::array prefixes = {Prefix{1e-9, "n"}, Prefix{1e-6, "µ"}, Prefix{1e-3, "m"},
                                 Prefix{1, ""},     Prefix{1e3, "k"},  Prefix{1e6, "M"},
                                 Prefix{1e9, "G"},  Prefix{1e12, "T"}, Prefix{1e15, "P"}};

struct PrefixedUnit {
    const char* unit;
    double largest;  ///< prefix that people use with it
    double smallest;
};

/// Nobody says kiloseconds or millibytes.
constexpr std::array prefixed_units = {PrefixedUnit{"s", 1, 1e-9},      PrefixedUnit{"J", 1e9, 1e-9},
                                       PrefixedUnit{"W", 1e9, 1e-9},    PrefixedUnit{"B", 1e15, 1},
                                       PrefixedUnit{"FLOP/s", 1e15, 1}, PrefixedUnit{"J s", 1e3, 1e-9}};

const PrefixedUnit* prefixed(const std::string& unit) {
    const auto found = std::ranges::find(prefixed_units, unit, &PrefixedUnit::unit);
    return found == prefixed_units.end() ? nullptr : &*found;
}

/// The largest prefix that leaves at least 1; 1 - 1e-9 is taken for 1, since 1e-3 / 1e-3 may be less.
Prefix prefix_of(double number, const PrefixedUnit& unit) {
    constexpr double nearly_one = 1 - 1e-9;
    Prefix chosen{1, ""};
    bool is_first = true;
    for (const Prefix& prefix : prefixes) {
        if (prefix.size < unit.smallest || prefix.size > unit.largest) continue;
        if (is_first || number / prefix.size >= nearly_one) chosen = prefix;
        is_first = false;
    }
    return chosen;
}

/// "0.1", "5", "1000": ticks are short numbers.
std::string plain_number(double number) {
    std::array<char, 32> text{};
    const int length = std::snprintf(text.data(), text.size(), "%.6g", number);
    return {text.data(), static_cast<std::size_t>(length)};
}

std::string tick_text(double number, const std::string& unit) {
    const PrefixedUnit* const known = prefixed(unit);
    if (known == nullptr) return plain_number(number);
    const Prefix prefix = prefix_of(number, *known);
    return plain_number(number / prefix.size) + " " + prefix.text + unit;
}

}  // namespace

AxisScale axis_scale(const std::string& unit, std::span<const double> numbers) {
    const PrefixedUnit* const known = prefixed(unit);
    double largest = 0;
    for (const double number : numbers) {
        if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
    }
    if (known == nullptr || largest == 0) return {1, unit};
    const Prefix prefix = prefix_of(largest, *known);
    return {prefix.size, prefix.text + unit};
}

AxisTicks logarithmic_ticks(const std::string& unit, std::span<const double> numbers) {
    constexpr int most_decades_with_parts = 2;
    constexpr int most_ticks = 8;
    double least = INFINITY;
    double most = 0;
    for (const double number : numbers) {
        if (!(number > 0) || !std::isfinite(number)) continue;
        least = std::min(least, number);
        most = std::max(most, number);
    }
    AxisTicks ticks;
    if (most == 0) return ticks;
    ticks.have_unit = prefixed(unit) != nullptr;
    const int from = static_cast<int>(std::floor(std::log10(least)));
    const int to = static_cast<int>(std::ceil(std::log10(most)));
    const bool has_parts = to - from <= most_decades_with_parts;
    const int step = std::max(1, (to - from + most_ticks - 1) / most_ticks);
    for (int decade = from; decade <= to; decade += step) {
        for (const int part : {1, 2, 5}) {
            if (part > 1 && (!has_parts || decade == to)) continue;
            ticks.at.push_back(part * std::pow(10.0, decade));
            ticks.texts.push_back(tick_text(ticks.at.back(), unit));
        }
    }
    return ticks;
}

}  // namespace joulecast
