// Voltage, idle power and bandwidth over the clock, and what the units draw, from the device's own rows.
#include "joulecast/train/fit_over_clocks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "joulecast/forecast/over_clocks.h"
#include "joulecast/physics/curve_errors.h"
#include "joulecast/physics/fit_clocks.h"
#include "joulecast/physics/non_negative_least_squares.h"
#include "joulecast/train/fit_models.h"
#include "joulecast/train/fit_voltage.h"
#include "joulecast/train/power_shares.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Parameters are settled by so many workloads; more cost time.
constexpr std::size_t most_workloads = 120;
/// Shorter calls, in times of the shortest, are launches that no clock tells apart.
constexpr double times_of_shortest = 5;
constexpr std::size_t least_rows_of_power = 20;

/// Median idle power beside the rows of each clock, at the highest memory clock; never above what a call drew there.
std::vector<IdlePoint> idle_points(std::span<const TrainingRow> rows, std::span<const TrainedClock> clocks) {
    const double memory = clocks.empty() ? 0 : std::max(0.0, clocks.back().memory_clock_mhz);
    std::vector<IdlePoint> points;
    for (const TrainedClock& clock : clocks) {
        if (are_other_memory_clocks(clock.memory_clock_mhz, memory)) continue;
        std::vector<double> idle;
        double least = std::numeric_limits<double>::infinity();
        for (const TrainingRow& row : rows) {
            if (are_other_clocks(row.sm_clock_mhz, clock.sm_clock_mhz) || !has_clock(row)) continue;
            if (are_other_memory_clocks(memory_clock_or_zero(row), memory)) continue;
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
    parameters = fit_clocks_and_form(parameters, workloads);
    parameters.spread = spread_of(parameters, with_fitted_kernels(parameters, workloads), parameters.spread);
    return parameters;
}

}  // namespace

DynamicPower fit_dynamic_power(const DeviceModel& device, std::span<const TrainingRow> rows) {
    std::vector<double> shares, targets;
    for (const PowerShares& row : power_shares(device, rows)) {
        shares.insert(shares.end(), row.of_parts.begin(), row.of_parts.end());
        targets.push_back(row.above_idle);
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
        if (!are_other_memory_clocks(clock.memory_clock_mhz, clocks.back().memory_clock_mhz))
            frame.point.sm_clock_mhz = std::max(frame.point.sm_clock_mhz, clock.sm_clock_mhz);
    }
    frame.point.memory_clock_mhz = clocks.back().memory_clock_mhz;
    frame.point.power_limit_w = std::numeric_limits<double>::quiet_NaN();
    frame.over_clocks = OverClocks{std::move(clocks), {}};
    const auto placed = at_own_clocks(frame, rows);
    std::vector<const TrainingRow*> pooled;
    for (const TrainingRow& row : placed) pooled.push_back(&row);
    DeviceModel with_laws = fit_laws_alone(frame, pooled);
    frame.clocks = settle_voltage(with_laws, placed, default_clock_parameters(with_clocks_of(frame.device, rows)));
    with_laws.clocks = frame.clocks;
    frame.over_clocks->dynamic = fit_dynamic_power(with_laws, placed);
    return frame;
}

}  // namespace joulecast
