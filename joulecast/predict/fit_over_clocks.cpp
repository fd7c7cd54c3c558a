// Learning over clocks: which clocks rows have, and voltage, idle power and bandwidth of the device from its own rows.
#include "joulecast/predict/fit_over_clocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "joulecast/physics/curve_errors.h"
#include "joulecast/physics/fit_clocks.h"
#include "joulecast/physics/non_negative_least_squares.h"
#include "joulecast/predict/fit_models.h"
#include "joulecast/predict/forecast_log.h"
#include "joulecast/predict/over_clocks.h"
#include "joulecast/units/statistics.h"

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
constexpr std::size_t least_rows_of_clock = 3;
constexpr std::size_t most_clocks = 8;
/// Parameters are settled by so many workloads; more cost time.
constexpr std::size_t most_workloads = 120;
/// Shorter calls, in times of the shortest, are launches that no clock tells apart.
constexpr double times_of_shortest = 5;
constexpr std::size_t least_rows_of_power = 20;
constexpr int fits = 4;
constexpr std::array<double DynamicPower::*, 5> dynamic_parts{&DynamicPower::flop_w, &DynamicPower::byte_w,
                                                              &DynamicPower::busy_w, &DynamicPower::active_w,
                                                              &DynamicPower::on_w};

bool has_clock(const TrainingRow& row) {
    return row.sm_clock_mhz > 0;
}

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
    const auto is_apart = [](const auto& one) { return apart(one.second.first, one.second.second, other_clock); };
    const auto count = static_cast<double>(std::ranges::count_if(range, is_apart));
    return count >= 2 && count >= least_share_at_other_clocks * static_cast<double>(range.size());
}

double memory_clock_or_zero(const TrainingRow& row) {
    return row.memory_clock_mhz > 0 ? row.memory_clock_mhz : 0;
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
std::vector<std::pair<double, std::size_t>> thinned(std::vector<std::pair<double, std::size_t>> all) {
    std::erase_if(all, [](const auto& one) { return one.second < least_rows_of_clock; });
    if (all.size() <= most_clocks) return all;
    std::vector<std::pair<double, std::size_t>> kept;
    const double low = std::log(all.front().first);
    const double high = std::log(all.back().first);
    for (std::size_t step = 0; step < most_clocks; ++step) {
        const double wanted = low + (high - low) * static_cast<double>(step) / static_cast<double>(most_clocks - 1);
        const auto nearest = std::ranges::min_element(
            all, {}, [wanted](const auto& one) { return std::abs(std::log(one.first) - wanted); });
        if (kept.empty() || kept.back() != *nearest) kept.push_back(*nearest);
    }
    return kept;
}

/// Median idle power beside the rows of each clock, at the highest memory clock; never above what a call drew there.
std::vector<IdlePoint> idle_points(std::span<const TrainingRow> rows, std::span<const TrainedClock> clocks) {
    const double memory = clocks.empty() ? 0 : std::max(0.0, clocks.back().memory_clock_mhz);
    std::vector<IdlePoint> points;
    for (const TrainedClock& clock : clocks) {
        if (apart(clock.memory_clock_mhz, memory, same_memory_clock)) continue;
        std::vector<double> idle;
        double least = std::numeric_limits<double>::infinity();
        for (const TrainingRow& row : rows) {
            if (apart(row.sm_clock_mhz, clock.sm_clock_mhz, same_clock) || !has_clock(row)) continue;
            if (apart(memory_clock_or_zero(row), memory, same_memory_clock)) continue;
            if (row.idle_power_w > 0) idle.push_back(row.idle_power_w);
            if (row.power_w > 0) least = std::min(least, row.power_w);
        }
        if (idle.size() < least_rows_of_clock) continue;
        const double power = std::min(median(idle), least);
        if (power > 0) points.push_back({clock.sm_clock_mhz, power, std::numeric_limits<double>::quiet_NaN()});
    }
    return points;
}

/// Idle power goes on beyond the outermost clocks as between the two next to them, down to half of the last.
void extend(std::vector<IdlePoint>& points, double lowest_mhz, double highest_mhz) {
    if (points.size() < 2) return;
    const auto beyond = [](const IdlePoint& end, const IdlePoint& next, double mhz) {
        const double slope = (next.power_w - end.power_w) / (next.sm_clock_mhz - end.sm_clock_mhz);
        IdlePoint point = end;
        point.sm_clock_mhz = mhz;
        point.power_w = std::max(end.power_w / 2, end.power_w + slope * (mhz - end.sm_clock_mhz));
        return point;
    };
    if (lowest_mhz < points.front().sm_clock_mhz)
        points.insert(points.begin(), beyond(points[0], points[1], lowest_mhz));
    if (highest_mhz > points.back().sm_clock_mhz)
        points.push_back(beyond(points.back(), points[points.size() - 2], highest_mhz));
}

/// What the sheet lacks is told by the rows: parameters over clocks need a highest clock and a power.
Device with_clocks_of(Device device, std::span<const TrainingRow> rows) {
    double highest = 0, limit = 0;
    for (const TrainingRow& row : rows) {
        if (has_clock(row)) highest = std::max(highest, row.sm_clock_mhz);
        if (row.asked_power_limit_w > 0) limit = std::max(limit, row.asked_power_limit_w);
        if (row.power_w > 0) limit = std::max(limit, row.power_w);
    }
    if (!(highest_clock_mhz(device) > 0)) device.max_clock_mhz = highest;
    if (!(device.tdp_w > 0)) device.tdp_w = limit;
    return device;
}

SweptWorkload workload_of(std::span<const TrainingRow* const> rows, const ClockParameters& parameters) {
    SweptWorkload workload;
    for (const TrainingRow* row : rows) {
        const ClockPlace at = place_of(parameters, row->sm_clock_mhz, row->memory_clock_mhz);
        workload.points.push_back({at.x, at.y, row->time_s, row->power_w});
    }
    return workload;
}

/// Operations at two clocks or more that keep the device busy; those that draw most tell most.
std::vector<SweptWorkload> swept_operations(std::span<const TrainingRow> rows, const ClockParameters& parameters) {
    double shortest = std::numeric_limits<double>::infinity();
    for (const TrainingRow& row : rows) shortest = std::min(shortest, row.time_s);
    std::map<std::string, std::vector<const TrainingRow*>> by_signature;
    for (const TrainingRow& row : rows) {
        if (has_clock(row)) by_signature[row.operation.signature].push_back(&row);
    }
    std::vector<std::pair<double, SweptWorkload>> ranked;
    for (const auto& [signature, of_one] : by_signature) {
        if (of_one.size() < 2 || of_one.front()->time_s < times_of_shortest * shortest) continue;
        const bool metered = std::ranges::all_of(of_one, [](const TrainingRow* row) { return row->power_w > 0; });
        const double watts = metered ? of_one.front()->power_w : 0;
        ranked.emplace_back(watts, workload_of(of_one, parameters));
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    if (ranked.size() > most_workloads) {
        // Every so many: those that draw little tell of the bandwidth.
        std::vector<std::pair<double, SweptWorkload>> spread;
        for (std::size_t i = 0; i < most_workloads; ++i) spread.push_back(ranked[i * ranked.size() / most_workloads]);
        ranked = std::move(spread);
    }
    std::vector<SweptWorkload> workloads;
    for (auto& [power, workload] : ranked) workloads.push_back(std::move(workload));
    return workloads;
}

void append_networks(std::span<const TrainingNetwork> networks, const ClockParameters& parameters,
                     std::vector<SweptWorkload>& workloads) {
    std::map<std::tuple<std::string, std::map<std::string, std::int64_t>, Mode, std::string, Host>, SweptWorkload>
        by_network;
    for (const TrainingNetwork& network : networks) {
        const NetworkMeasurement& m = network.measurement;
        if (!(m.real.sm_clock_mhz > 0) || !(m.time.median_s > 0)) continue;
        const ClockPlace at = place_of(parameters, m.real.sm_clock_mhz, m.real.memory_clock_mhz);
        by_network[{m.model, m.symbols, m.mode, m.precision, m.real.host}].points.push_back(
            {at.x, at.y, m.time.median_s, measured_watts(m)});
    }
    for (auto& [key, workload] : by_network) {
        if (workload.points.size() > 1) workloads.push_back(std::move(workload));
    }
}

ClockParameters fitted_clocks(const Device& device, std::span<const TrainingRow> rows,
                              std::span<const TrainingNetwork> networks, std::span<const TrainedClock> clocks) {
    ClockParameters parameters = default_clock_parameters(with_clocks_of(device, rows));
    for (const TrainedClock& clock : clocks) {
        parameters.highest_mhz = std::fmax(parameters.highest_mhz, clock.sm_clock_mhz);
        parameters.lowest_mhz = std::fmin(parameters.lowest_mhz, clock.sm_clock_mhz);
        parameters.memory_mhz = std::fmax(parameters.memory_mhz, clock.memory_clock_mhz);
    }
    parameters.idle = idle_points(rows, clocks);
    extend(parameters.idle, parameters.lowest_mhz, parameters.highest_mhz);
    std::vector<SweptWorkload> workloads = swept_operations(rows, parameters);
    append_networks(networks, parameters, workloads);
    if (workloads.empty()) return parameters;
    // Each fit is pulled to where it begins, as few workloads need it. So many may walk on from there.
    for (int step = 0; step < fits; ++step) parameters = fit_clock_parameters(parameters, workloads);
    parameters.spread = spread_of(parameters, with_fitted_kernels(parameters, workloads), parameters.spread);
    return parameters;
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
        return voltage * voltage * (power.flop_w * highest.flop_s / seconds + at.x * (power.busy_w + power.active_w + power.on_w)) +
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

bool differ_in_clocks(const Device& device, std::span<const TrainingRow> rows) {
    if (device.kind != Device::Kind::gpu) return false;
    std::map<Asked, SettingClocks> settings;
    for (const TrainingRow& row : rows) {
        if (!has_clock(row)) continue;
        SettingClocks& one = settings[asked_of(row)];
        one.highest = std::max(one.highest, row.sm_clock_mhz);
        one.memory = std::max(one.memory, memory_clock_or_zero(row));
        one.sum += row.sm_clock_mhz;
        ++one.rows;
    }
    std::erase_if(settings, [](const auto& one) { return one.second.rows < least_rows_of_clock; });
    for (const auto& [asked, one] : settings) {
        if (are_apart(one, settings.begin()->second)) return true;
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

DynamicPower fit_dynamic_power(const DeviceModel& device, std::span<const TrainingRow> rows) {
    std::vector<double> shares, targets;
    DeviceModel unit = device;
    for (const TrainingRow& row : rows) {
        const Law* law = find_law(device, row.operation.operation);
        if (!law || !(row.power_w > 0)) continue;
        const double idle = static_w(*device.clocks, row.operation.clocks.x, row.operation.clocks.y);
        const double slower = row.metered_s > 0 ? row.metered_s / row.time_s : 1;
        const auto share = [&](const DynamicPower& one) {
            unit.over_clocks->dynamic = one;
            return dynamic_watts(unit, row.operation, *law, slower * seconds(*law, row.operation.roofline)) / row.power_w;
        };
        for (double DynamicPower::* const part : dynamic_parts) {
            DynamicPower one;
            one.*part = 1;
            shares.push_back(share(one));
        }
        targets.push_back(std::max(row.power_w - idle, 0.0) / row.power_w);
    }
    if (targets.size() < least_rows_of_power) return {};
    const auto watts = non_negative_least_squares(shares, targets);
    DynamicPower power;
    for (std::size_t i = 0; i < dynamic_parts.size(); ++i) power.*dynamic_parts[i] = watts[i];
    return power;
}

DeviceModel frame_over_clocks(DeviceModel frame, std::span<const TrainingRow> rows,
                              std::span<const TrainingNetwork> networks) {
    if (!differ_in_clocks(frame.device, rows)) return frame;
    std::vector<TrainedClock> clocks = trained_clocks(rows);
    if (clocks.size() < 2) return frame;
    frame.clocks = fitted_clocks(frame.device, rows, networks, clocks);
    frame.point.sm_clock_mhz = clocks.back().sm_clock_mhz;
    for (const TrainedClock& clock : clocks) {
        if (!apart(clock.memory_clock_mhz, clocks.back().memory_clock_mhz, same_memory_clock))
            frame.point.sm_clock_mhz = std::max(frame.point.sm_clock_mhz, clock.sm_clock_mhz);
    }
    frame.point.memory_clock_mhz = clocks.back().memory_clock_mhz;
    frame.point.power_limit_w = std::numeric_limits<double>::quiet_NaN();
    frame.over_clocks = OverClocks{std::move(clocks), {}};
    const auto placed = at_own_clocks(frame, rows);
    std::vector<const TrainingRow*> all;
    for (const TrainingRow& row : placed) all.push_back(&row);
    frame.over_clocks->dynamic = fit_dynamic_power(fit_laws_alone(frame, all), placed);
    return frame;
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
