// Which clocks rows and networks were measured at, and which of them a model can learn from.
#include "joulecast/train/rows_over_clocks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "joulecast/forecast/over_clocks.h"

namespace joulecast {
namespace {

/// Clocks within this share are one.
constexpr double same_clock = 0.015;
constexpr double same_memory_clock = 0.01;
/// Settings whose rows ran this much apart are several clocks.
constexpr double other_setting = 0.02;
/// One operation at clocks this far apart was measured at two of them; boost wanders by less.
constexpr double other_clock = 0.03;
constexpr double least_share_at_other_clocks = 0.1;
constexpr std::size_t most_clocks = 8;

double comparable(double value) {
    return value > 0 ? value : -1;
}

using Asked = std::tuple<double, double, double>;

Asked asked_of(const TrainingRow& row) {
    return {comparable(row.asked_sm_clock_mhz), comparable(row.asked_memory_clock_mhz),
            comparable(row.asked_power_limit_w)};
}

/// Of the rows that one setting was asked for.
struct SettingClocks {
    double highest = 0;
    double sum = 0;
    double memory = 0;
    std::size_t rows = 0;

    double mean() const { return sum / static_cast<double>(rows); }
};

bool apart(double a, double b, double share) {
    return a > 0 && b > 0 && std::abs(std::log(a / b)) > share;
}

bool are_apart(const SettingClocks& a, const SettingClocks& b) {
    return apart(a.highest, b.highest, other_setting) || apart(a.mean(), b.mean(), other_setting) ||
           apart(a.memory, b.memory, other_setting);
}

/// Rows of one operation at clocks apart: what a job script sets beforehand nobody asked us for.
bool operations_are_apart(std::span<const TrainingRow> rows) {
    std::map<std::string, std::pair<double, double>> range;  // by signature
    for (const TrainingRow& row : rows) {
        if (!has_clock(row)) continue;
        auto& [low, high] =
            range.try_emplace(row.operation.signature, row.sm_clock_mhz, row.sm_clock_mhz).first->second;
        low = std::min(low, row.sm_clock_mhz);
        high = std::max(high, row.sm_clock_mhz);
    }
    const auto is_apart = [](const auto& setting) {
        return apart(setting.second.first, setting.second.second, other_clock);
    };
    const auto count = static_cast<double>(std::ranges::count_if(range, is_apart));
    return count >= 2 && count >= least_share_at_other_clocks * static_cast<double>(range.size());
}

/// Values within the share of their neighbour, ascending, as (median, count).
std::vector<std::pair<double, std::size_t>> clusters(std::vector<double> values, double within) {
    std::sort(values.begin(), values.end());
    std::vector<std::pair<double, std::size_t>> found;
    for (std::size_t begin = 0; begin < values.size();) {
        std::size_t end = begin + 1;
        while (end < values.size() && values[end] <= values[begin] * (1 + within)) ++end;
        found.emplace_back(values[begin + (end - begin) / 2], end - begin);
        begin = end;
    }
    return found;
}

/// Those with rows enough, and the ends; of more than `most_clocks` the ones nearest to even steps of the logarithm.
std::vector<std::pair<double, std::size_t>> thinned(std::vector<std::pair<double, std::size_t>> clocks) {
    std::erase_if(clocks, [](const auto& clock) { return clock.second < least_rows_of_clock; });
    if (clocks.size() <= most_clocks) return clocks;
    std::vector<std::pair<double, std::size_t>> kept;
    const double low = std::log(clocks.front().first);
    const double high = std::log(clocks.back().first);
    for (std::size_t step = 0; step < most_clocks; ++step) {
        const double wanted = low + (high - low) * static_cast<double>(step) / static_cast<double>(most_clocks - 1);
        const auto nearest = std::ranges::min_element(
            clocks, {}, [wanted](const auto& clock) { return std::abs(std::log(clock.first) - wanted); });
        if (kept.empty() || kept.back() != *nearest) kept.push_back(*nearest);
    }
    return kept;
}

/// Orders settings by what was asked for; what was not is what the device does by itself: its highest.
Asked rank_of(double memory_clock_mhz, double power_limit_w, double sm_clock_mhz) {
    const auto or_highest = [](double value) { return value > 0 ? value : std::numeric_limits<double>::infinity(); };
    return {or_highest(memory_clock_mhz), or_highest(power_limit_w), or_highest(sm_clock_mhz)};
}

/// The rows of the highest setting that was asked for.
std::vector<TrainingRow> of_highest_setting(std::span<const TrainingRow> rows) {
    const auto rank = [](const TrainingRow& row) {
        return rank_of(row.asked_memory_clock_mhz, row.asked_power_limit_w, row.asked_sm_clock_mhz);
    };
    const auto highest = rank(*std::ranges::max_element(rows, {}, rank));
    std::vector<TrainingRow> kept;
    std::ranges::copy_if(rows, std::back_inserter(kept), [&](const TrainingRow& row) { return rank(row) == highest; });
    return kept;
}

/// Rows whose clock is known, or the others, whichever are more: nobody knows whether they ran at the same one.
std::vector<TrainingRow> alike_in_clocks(std::span<const TrainingRow> rows) {
    const auto known = static_cast<std::size_t>(std::ranges::count_if(rows, has_clock));
    const bool wanted = 2 * known >= rows.size();
    std::vector<TrainingRow> kept;
    std::ranges::copy_if(rows, std::back_inserter(kept),
                         [wanted](const TrainingRow& row) { return has_clock(row) == wanted; });
    return kept;
}

bool has_unread_settings(std::span<const TrainingRow> rows) {
    const bool is_unread = std::ranges::none_of(rows, has_clock);
    return is_unread &&
           std::ranges::any_of(rows, [&](const TrainingRow& row) { return asked_of(row) != asked_of(rows.front()); });
}

/// Power above idle of a call that finds part of its bytes in the cache, from that of one that found none: as the
/// watts of arithmetic, of running and of bytes say.
void put_power_into_network(TrainingRow& row, const DeviceModel& frame) {
    const DynamicPower& power = frame.over_clocks->dynamic;
    if (power == DynamicPower{} || !(row.metered_s > 0) || !(row.power_w > 0)) return;
    const ClockPlace& at = row.operation.clocks;
    const Roofline highest = roofline_at_highest(row.operation);
    const double voltage = relative_voltage(*frame.clocks, at.x);
    const auto watts = [&](double seconds, double moved_share) {
        return voltage * voltage *
                   (power.flop_w * highest.flop_s / seconds + at.x * (power.busy_w + power.active_w + power.on_w)) +
               power.byte_w * highest.byte_s * moved_share / seconds;
    };
    const double idle = static_w(*frame.clocks, at.x, at.y);
    const double metered = watts(row.metered_s, 1);
    // What is done sooner has moved no more bytes in a second than what was metered.
    const double moved = std::min(1 - row.kept_share, row.time_s / row.metered_s);
    if (row.power_w > idle && metered > 0)
        row.power_w = idle + (row.power_w - idle) * watts(row.time_s, moved) / metered;
    row.metered_s = std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

bool has_clock(const TrainingRow& row) {
    return row.sm_clock_mhz > 0;
}

double memory_clock_or_zero(const TrainingRow& row) {
    return row.memory_clock_mhz > 0 ? row.memory_clock_mhz : 0;
}

bool are_other_clocks(double a_mhz, double b_mhz) {
    return apart(a_mhz, b_mhz, same_clock);
}

bool are_other_memory_clocks(double a_mhz, double b_mhz) {
    return apart(a_mhz, b_mhz, same_memory_clock);
}

bool differ_in_clocks(const Device& device, std::span<const TrainingRow> rows) {
    if (device.kind != Device::Kind::gpu) return false;
    std::map<Asked, SettingClocks> settings;
    for (const TrainingRow& row : rows) {
        if (!has_clock(row)) continue;
        SettingClocks& setting = settings[asked_of(row)];
        setting.highest = std::max(setting.highest, row.sm_clock_mhz);
        setting.memory = std::max(setting.memory, memory_clock_or_zero(row));
        setting.sum += row.sm_clock_mhz;
        ++setting.rows;
    }
    std::erase_if(settings, [](const auto& setting) { return setting.second.rows < least_rows_of_clock; });
    for (const auto& [asked, setting] : settings) {
        if (are_apart(setting, settings.begin()->second)) return true;
    }
    return operations_are_apart(rows);
}

std::vector<TrainedClock> trained_clocks(std::span<const TrainingRow> rows) {
    std::vector<double> memory;
    for (const TrainingRow& row : rows) {
        if (has_clock(row)) memory.push_back(memory_clock_or_zero(row));
    }
    std::vector<TrainedClock> found;
    for (const auto& [memory_mhz, count] : clusters(std::move(memory), same_memory_clock)) {
        std::vector<double> clocks;
        for (const TrainingRow& row : rows) {
            const double own = memory_clock_or_zero(row);
            const bool is_here = memory_mhz > 0 ? own > 0 && !apart(own, memory_mhz, same_memory_clock) : own == 0;
            if (has_clock(row) && is_here) clocks.push_back(row.sm_clock_mhz);
        }
        for (const auto& [sm_mhz, of_clock] : thinned(clusters(std::move(clocks), same_clock)))
            found.push_back({sm_mhz, memory_mhz > 0 ? memory_mhz : std::numeric_limits<double>::quiet_NaN(),
                             static_cast<std::int64_t>(of_clock)});
    }
    return found;
}

PreparedOperation at_own_clocks(const DeviceModel& device, const TrainingRow& row) {
    if (!device.over_clocks || !device.clocks) return row.operation;
    return at_clocks(row.operation, place_of(*device.clocks, row.sm_clock_mhz, row.memory_clock_mhz));
}

std::vector<TrainingRow> at_own_clocks(const DeviceModel& frame, std::span<const TrainingRow> rows) {
    if (!frame.over_clocks) {
        if (has_unread_settings(rows)) return of_highest_setting(rows);
        return frame.device.kind == Device::Kind::gpu ? alike_in_clocks(rows)
                                                      : std::vector<TrainingRow>(rows.begin(), rows.end());
    }
    std::vector<TrainingRow> placed;
    for (const TrainingRow& row : rows) {
        if (!has_clock(row)) continue;
        placed.push_back(row);
        placed.back().operation = at_own_clocks(frame, row);
        put_power_into_network(placed.back(), frame);
    }
    return placed;
}

std::string rows_left_out(const DeviceModel& frame, std::span<const TrainingRow> rows) {
    const std::size_t left = rows.size() - at_own_clocks(frame, rows).size();
    if (left == 0) return "";
    const std::string count =
        std::to_string(left) + " of " + std::to_string(rows.size()) + " operations of " + frame.device.id;
    if (!frame.over_clocks && has_unread_settings(rows))
        return count + " were measured at lower clocks or limits that nobody read, and are left out";
    const auto known = static_cast<std::size_t>(std::ranges::count_if(rows, has_clock));
    return known >= left && !frame.over_clocks && 2 * known < rows.size()
               ? count + " have a clock beside others that do not, and are left out: measure all of them in one way"
               : count + " have no clock beside others that do, and are left out";
}

OperatingPoint clocks_of(const NetworkMeasurement& network) {
    OperatingPoint point = network.real;
    if (!(point.sm_clock_mhz > 0)) point.sm_clock_mhz = network.asked.sm_clock_mhz;
    if (!(point.memory_clock_mhz > 0)) point.memory_clock_mhz = network.asked.memory_clock_mhz;
    return point;
}

ClockPlace place_of(const DeviceModel& device, const NetworkMeasurement& network) {
    return place_of(device, clocks_of(network));
}

std::vector<TrainingNetwork> at_learnt_clocks(const DeviceModel& frame, std::span<const TrainingNetwork> networks) {
    std::vector<TrainingNetwork> kept;
    if (frame.over_clocks) {
        std::ranges::copy_if(networks, std::back_inserter(kept),
                             [](const TrainingNetwork& n) { return clocks_of(n.measurement).sm_clock_mhz > 0; });
        return kept;
    }
    const auto rank = [](const NetworkMeasurement& m) {
        return rank_of(m.asked.memory_clock_mhz, m.asked.power_limit_w, m.asked.sm_clock_mhz);
    };
    using Key = std::tuple<std::string, std::map<std::string, std::int64_t>, Mode, std::string, Host>;
    const auto key = [](const NetworkMeasurement& m) {
        return Key{m.model, m.symbols, m.mode, m.precision, m.real.host};
    };
    std::map<Key, Asked> highest;
    for (const TrainingNetwork& n : networks) {
        const auto own = rank(n.measurement);
        auto& best = highest.try_emplace(key(n.measurement), own).first->second;
        best = std::max(best, own);
    }
    std::ranges::copy_if(networks, std::back_inserter(kept), [&](const TrainingNetwork& n) {
        return rank(n.measurement) == highest.at(key(n.measurement));
    });
    return kept;
}

}  // namespace joulecast
