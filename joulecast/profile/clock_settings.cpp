#include "joulecast/profile/clock_settings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "joulecast/error.h"
#include "joulecast/units/digits.h"

namespace joulecast {
namespace {

/// A range with a step of 1 MHz over all that a card can do is a few thousand; more is a slip of the pen.
constexpr std::size_t most_values = 10'000;

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    parts.push_back(text);
    return parts;
}

double positive(std::string_view text, std::string_view option) {
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size() || !std::isfinite(value) || value <= 0)
        throw UsageError(std::string(option) + ": '" + std::string(text.substr(0, 40)) +
                         "' is not a number above zero. Give numbers or from:to:step, with commas between");
    constexpr double largest = 1e6;  // a terahertz, a megawatt
    if (value > largest)
        throw UsageError(std::string(option) + ": '" + std::string(text.substr(0, 40)) +
                         "' is beyond every clock and power limit");
    return value;
}

/// Numbers and ranges, with commas between, without repetition. `singles` gets the numbers that stand alone.
std::vector<double> numbers(std::string_view text, std::string_view option, std::vector<double>* singles = nullptr) {
    std::vector<double> values;
    const auto add = [&](double value) {
        if (values.size() == most_values) throw UsageError(std::string(option) + " names more than 10000 values");
        if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    };
    for (const std::string_view part : split(text, ',')) {
        const auto bounds = split(part, ':');
        if (bounds.size() == 1) {
            const double value = positive(part, option);
            add(value);
            if (singles != nullptr) singles->push_back(value);
            continue;
        }
        if (bounds.size() != 3)
            throw UsageError(std::string(option) + ": '" + std::string(part) + "' is not a range from:to:step");
        const double from = positive(bounds[0], option), to = positive(bounds[1], option);
        const double step = positive(bounds[2], option);
        if (to < from) throw UsageError(std::string(option) + ": '" + std::string(part) + "' ends before it starts");
        // Counted, so that the last one is not lost to rounding.
        for (double i = 0; from + i * step <= to + 1e-9 * to; ++i) add(from + i * step);
    }
    return values;
}

double nearest(double wanted, const std::vector<double>& known) {
    return *std::ranges::min_element(known, {}, [wanted](double value) { return std::abs(value - wanted); });
}

double available(double wanted, const ClockWish& wish, const protocol::Capabilities& worker) {
    const double clock = nearest(wanted, worker.sm_clocks_mhz);
    const auto [lowest, highest] = std::ranges::minmax(worker.sm_clocks_mhz);
    const bool is_single = std::ranges::find(wish.single_mhz, wanted) != wish.single_mhz.end();
    if ((is_single && clock != wanted) || wanted < lowest || wanted > highest)
        throw UsageError("--clocks: " + worker.device.id + " has no " + digits(wanted) + " MHz (" + digits(lowest) +
                         " to " + digits(highest) + " MHz in " + std::to_string(worker.sm_clocks_mhz.size()) +
                         " steps); the nearest is " + digits(clock));
    return clock;
}

std::vector<double> clocks(const ClockWish& wish, const protocol::Capabilities& worker) {
    if (wish.all && worker.sm_clocks_mhz.empty())
        throw Error("the worker does not report which clocks " + worker.device.id +
                    " has. Name them: --clocks 900,1200 or 600:1440:120.");
    std::vector<double> list;
    for (const double wanted : wish.all ? worker.sm_clocks_mhz : wish.sm_clocks_mhz) {
        const double clock = worker.sm_clocks_mhz.empty() ? wanted : available(wanted, wish, worker);
        if (std::ranges::find(list, clock) == list.end()) list.push_back(clock);
    }
    if (list.empty()) list.push_back(ClockSetting{}.sm_clock_mhz);
    return list;
}

std::vector<double> limits(const ClockWish& wish, const protocol::Capabilities& worker) {
    for (const double limit : wish.power_limits_w)
        if (limit < worker.power_limit_low_w || limit > worker.power_limit_high_w)
            throw UsageError("--power-limits: " + std::to_string(std::lround(limit)) + " W is outside of what " +
                             worker.device.id + " allows: " + std::to_string(std::lround(worker.power_limit_low_w)) +
                             " to " + std::to_string(std::lround(worker.power_limit_high_w)) + " W");
    if (wish.power_limits_w.empty()) return {ClockSetting{}.power_limit_w};
    return wish.power_limits_w;
}

}  // namespace

ClockWish parse_clock_wish(const std::string& clocks, const std::string& power_limits,
                           const std::string& memory_clocks) {
    ClockWish wish;
    wish.all = clocks == "all";
    if (!wish.all && !clocks.empty() && clocks != "current")
        wish.sm_clocks_mhz = numbers(clocks, "--clocks", &wish.single_mhz);
    if (!power_limits.empty() && power_limits != "current")
        wish.power_limits_w = numbers(power_limits, "--power-limits");
    if (!memory_clocks.empty() && memory_clocks != "current")
        wish.memory_clocks_mhz = numbers(memory_clocks, "--memory-clocks");
    return wish;
}

std::vector<ClockSetting> clock_settings(const ClockWish& wish, const protocol::Capabilities& worker) {
    if (!wish.changes()) return {ClockSetting{}};
    if (!worker.locks_clocks)
        throw Error("cannot lock clocks on " + worker.device.id + ": " +
                    (worker.clocks_missing_reason.empty() ? "its worker sets none" : worker.clocks_missing_reason) +
                    ". Run as root, or measure at the current clock with --clocks current.");
    std::vector<double> memory_clocks = wish.memory_clocks_mhz;
    if (memory_clocks.empty()) memory_clocks.push_back(ClockSetting{}.memory_clock_mhz);
    std::vector<ClockSetting> settings;
    for (const double memory : memory_clocks) {
        for (const double clock : clocks(wish, worker)) {
            for (const double limit : limits(wish, worker)) settings.push_back({clock, memory, limit});
        }
    }
    return settings;
}

}  // namespace joulecast
