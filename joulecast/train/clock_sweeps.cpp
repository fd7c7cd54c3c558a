#include "joulecast/train/clock_sweeps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/forecast/clock_balance.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/train/fit_learned_clocks.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Of log(power), within which two workloads are alike.
constexpr double like_power = 0.15;
/// What the share of all of them counts beside the alike ones.
constexpr double weight_of_all = 0.05;

using WorkloadKey = std::tuple<std::string, std::map<std::string, std::int64_t>, Mode, std::string, Optimizer, Math,
                               Host, std::string, std::string>;

/// Tables of different people, and several of one, measured the same workload in different ways. Our own sessions, all
/// measured alike, are one; a repeat within a table is part of it.
std::string campaign_of(const Provenance& provenance) {
    if (provenance.source == "own") return "own";
    return provenance.session.substr(0, provenance.session.find(" repeat "));
}

WorkloadKey key_of(const NetworkRow& row) {
    const NetworkMeasurement& m = row.measurement;
    return {m.model,       m.symbols,    m.mode,       m.precision,
            m.optimizer,   m.asked.math, m.asked.host, campaign_of(row.provenance),
            m.asked.engine};
}

bool is_sound(const NetworkMeasurement& m) {
    return is_timed(m.outcome) && m.time.median_s > 0;
}

double power_of(const NetworkMeasurement& m) {
    if (!m.energy) return std::numeric_limits<double>::quiet_NaN();
    return m.energy->power_w > 0 ? m.energy->power_w : m.energy->energy_j / m.time.median_s;
}

double comparable(double value) {
    return std::isnan(value) ? 0 : value;
}

/// What a kernel's bytes would take alone, over the time it takes: the cube root of the share of bytes in the cubes
/// (kernel_time()).
double moving_share(double memory_active, double saturated) {
    return std::min(1.0, memory_active / saturated);
}

/// saturated_memory, or by the mean error of what bytes take, with a pull to it that a few workloads outweigh.
double saturated_activity(std::span<const KnownShare> known) {
    constexpr double by_default = saturated_memory;
    constexpr double pull = 0.3;
    double best = std::numeric_limits<double>::infinity();
    double saturated = by_default;
    for (int percent = 50; percent <= 100; percent += 5) {
        const double trial = percent / 100.0;
        double error = 0;
        int counted = 0;
        for (const KnownShare& share : known) {
            if (std::isnan(share.signs.memory_active)) continue;
            error += std::abs(moving_share(share.signs.memory_active, trial) - std::cbrt(1 - share.share));
            ++counted;
        }
        if (counted == 0) return by_default;
        const double value = error / counted + pull * (trial - by_default) * (trial - by_default);
        if (value >= best) continue;
        best = value;
        saturated = trial;
    }
    return saturated;
}

std::vector<SweptRow> rows_of(const std::vector<const NetworkMeasurement*>& measurements) {
    std::map<std::tuple<double, double, double>, std::vector<const NetworkMeasurement*>> points;
    for (const NetworkMeasurement* m : measurements)
        points[{comparable(m->asked.sm_clock_mhz), comparable(m->asked.memory_clock_mhz),
                comparable(m->asked.power_limit_w)}]
            .push_back(m);
    std::vector<SweptRow> rows;
    for (const auto& [point, repeats] : points) {
        std::vector<double> times;
        std::vector<double> powers;
        std::vector<double> clocks;
        std::vector<double> activities;
        for (const NetworkMeasurement* m : repeats) {
            times.push_back(m->time.median_s);
            if (power_of(*m) > 0) powers.push_back(power_of(*m));
            if (m->real.sm_clock_mhz > 0) clocks.push_back(m->real.sm_clock_mhz);
            if (!std::isnan(m->memory_active)) activities.push_back(m->memory_active);
        }
        SweptRow& row = rows.emplace_back();
        row.asked = repeats.front()->asked;
        row.time_s = median(times);
        if (!powers.empty()) row.power_w = median(powers);
        if (!activities.empty()) row.memory_active = median(activities);
        row.sm_clock_mhz = clocks.empty() ? row.asked.sm_clock_mhz : median(clocks);
    }
    return rows;
}

std::vector<ListedKernel> kernels_of(const Graph& graph, const Device& device, Math math) {
    std::vector<ListedKernel> kernels;
    for (const CountedOperation& counted : count_operations(graph)) {
        ListedKernel kernel = listed_kernel(prepare(counted.operation, device, math), device, math);
        if (!(kernel.flop_s + kernel.byte_s > 0)) continue;
        kernel.count = static_cast<double>(counted.count);
        kernels.push_back(kernel);
    }
    return kernels;
}

double limit_or_infinity(const SweptRow& row) {
    return row.asked.power_limit_w > 0 ? row.asked.power_limit_w : std::numeric_limits<double>::infinity();
}

double comparable_clock(double mhz) {
    return mhz > 0 ? mhz : std::numeric_limits<double>::infinity();  // not told: the default, which is the highest
}

/// Knee and slope alone: a power limit tells nothing of how intervals widen over clocks.
std::optional<ClockParameters> calibrated_by_limits(const Device& device, const ClockParameters& start,
                                                    std::span<const ClockSweep> sweeps) {
    std::vector<SweptLimits> workloads;
    for (const ClockSweep& sweep : sweeps) {
        if (!is_limit_sweep(sweep)) continue;
        workloads.push_back(swept_limits(sweep, KernelLevels{}, device));
        if (workloads.back().points.size() < 2) workloads.pop_back();
    }
    if (workloads.empty()) return std::nullopt;
    ClockParameters parameters = fit_limit_parameters(default_limit_parameters(start, device), workloads).clocks;
    parameters.workloads = static_cast<std::int64_t>(workloads.size());
    return parameters;
}

}  // namespace

std::size_t reference_row(const ClockSweep& sweep) {
    const auto rank = [](const SweptRow& row) {
        return std::tuple(comparable_clock(row.asked.memory_clock_mhz), limit_or_infinity(row),
                          comparable_clock(row.asked.sm_clock_mhz));
    };
    return static_cast<std::size_t>(std::ranges::max_element(sweep.rows, {}, rank) - sweep.rows.begin());
}

bool is_same_memory_clock(const SweptRow& a, const SweptRow& b) {
    return comparable_clock(a.asked.memory_clock_mhz) == comparable_clock(b.asked.memory_clock_mhz);
}

bool is_limit_sweep(const ClockSweep& sweep) {
    return std::ranges::none_of(sweep.rows, [](const SweptRow& row) { return row.asked.sm_clock_mhz > 0; });
}

std::string ClockSweep::workload() const {
    return with_values(network.model, network.symbols, " ");
}

std::vector<ClockSweep> clock_sweeps(std::span<const NetworkRow> rows, const Device& device, const OpenMeasured& open) {
    std::map<WorkloadKey, std::vector<const NetworkMeasurement*>> workloads;
    for (const NetworkRow& row : rows) {
        if (is_sound(row.measurement)) workloads[key_of(row)].push_back(&row.measurement);
    }
    std::vector<ClockSweep> sweeps;
    for (const auto& [key, measurements] : workloads) {
        ClockSweep& sweep = sweeps.emplace_back();
        sweep.network = *measurements.front();
        sweep.source = std::get<7>(key);
        sweep.rows = rows_of(measurements);
        try {
            sweep.kernels = kernels_of(open(sweep.network), device, sweep.network.asked.math);
        } catch (const Error&) {
            sweep.kernels.clear();  // as the caller was told: a workload without a list
        }
    }
    return sweeps;
}

ClockParameters parameters_for(const Device& device, std::span<const ClockSweep> sweeps,
                               std::span<const IdlePoint> idle) {
    ClockParameters parameters = default_clock_parameters(device);
    for (const ClockSweep& sweep : sweeps) {
        for (const SweptRow& row : sweep.rows) {
            parameters.highest_mhz = std::fmax(parameters.highest_mhz, row.sm_clock_mhz);
            parameters.lowest_mhz = std::fmin(parameters.lowest_mhz, row.sm_clock_mhz);
            parameters.memory_mhz = std::fmax(parameters.memory_mhz, row.asked.memory_clock_mhz);
        }
    }
    parameters.idle.assign(idle.begin(), idle.end());
    return parameters;
}

double relative_sm_clock(double sm_clock_mhz, const ClockParameters& parameters) {
    return sm_clock_mhz > 0 ? sm_clock_mhz / parameters.highest_mhz : 1;
}

double relative_memory_clock(double memory_clock_mhz, const ClockParameters& parameters) {
    return memory_clock_mhz > 0 && parameters.memory_mhz > 0 ? memory_clock_mhz / parameters.memory_mhz : 1;
}

SweptWorkload swept_workload(const ClockSweep& sweep, const ClockParameters& parameters, const KernelLevels& levels,
                             int units) {
    SweptWorkload workload;
    workload.kernels = kernel_times(sweep.kernels, levels, units);
    workload.host = issuing_s(sweep.kernels, levels);
    workload.traits = traits_of(sweep, workload.kernels);
    for (const SweptRow& row : sweep.rows) {
        if (!(row.sm_clock_mhz > 0)) continue;
        workload.points.push_back({relative_sm_clock(row.sm_clock_mhz, parameters),
                                   relative_memory_clock(row.asked.memory_clock_mhz, parameters), row.time_s,
                                   row.power_w});
    }
    return workload;
}

double limit_w(const SweptRow& row, const Device& device) {
    return row.asked.power_limit_w > 0 ? row.asked.power_limit_w : device.tdp_w;
}

SweptLimits swept_limits(const ClockSweep& sweep, const KernelLevels& levels, const Device& device) {
    SweptLimits workload;
    workload.group = sweep.network.model;
    workload.kernels = kernel_times(sweep.kernels, levels, device.units);
    workload.host = issuing_s(sweep.kernels, levels);
    workload.never_waits = sweep.source == "own";
    for (const SweptRow& row : sweep.rows) {
        if (!(row.power_w > 0)) continue;
        workload.points.push_back({limit_w(row, device), row.time_s, row.power_w});
    }
    return workload;
}

std::optional<ClockParameters> calibrated_clocks(const Device& device, std::span<const ClockSweep> sweeps,
                                                 std::span<const IdlePoint> idle) {
    if (!missing_for_clocks(device).empty()) return std::nullopt;
    const ClockParameters start = parameters_for(device, sweeps, idle);
    std::vector<const ClockSweep*> pointers;
    for (const ClockSweep& sweep : sweeps) pointers.push_back(&sweep);
    ClockLesson lesson = learn_sweeps(start, pointers, KernelLevels{}, device.units);
    if (lesson.parameters.workloads == 0) return calibrated_by_limits(device, start, sweeps);
    return std::move(lesson.parameters);
}

ClockLesson learn_sweeps(const ClockParameters& start, std::span<const ClockSweep* const> sweeps,
                         const KernelLevels& levels, int units) {
    ClockLesson lesson{start, {}};
    std::vector<SweptWorkload> workloads;
    std::vector<WorkloadSigns> signs;
    for (const ClockSweep* sweep : sweeps) {
        SweptWorkload workload = swept_workload(*sweep, start, levels, units);
        if (workload.points.size() < 2) continue;
        workloads.push_back(std::move(workload));
        signs.push_back(signs_of(*sweep));
    }
    if (workloads.empty()) return lesson;
    lesson.parameters = fit_clock_parameters(start, workloads);
    for (std::size_t i = 0; i < workloads.size(); ++i)
        lesson.shares.push_back({signs[i], fitted_compute_share(lesson.parameters, workloads[i].points)});
    for (std::size_t i = 0; i < workloads.size(); ++i) {
        if (!workloads[i].kernels.empty()) continue;
        std::vector<KnownShare> rest = lesson.shares;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
        workloads[i].kernels = likely_kernels(signs[i], rest);
        workloads[i].host = 0;
    }
    lesson.parameters = with_learned_sweeps(lesson.parameters, workloads);
    return lesson;
}

WorkloadTraits traits_of(const ClockSweep& sweep, std::span<const KernelTime> kernels) {
    const double seen = sweep.rows[reference_row(sweep)].memory_active;
    return {sweep.network.model, std::isnan(seen) && !sweep.kernels.empty() ? memory_active_of(kernels) : seen};
}

WorkloadSigns signs_of(const ClockSweep& sweep) {
    const SweptRow& row = sweep.rows[reference_row(sweep)];
    return {row.power_w, row.memory_active};
}

std::vector<KernelTime> likely_kernels(const WorkloadSigns& signs, std::span<const KnownShare> known) {
    if (!std::isnan(signs.memory_active)) {
        const double moving = moving_share(signs.memory_active, saturated_activity(known));
        return {of_compute_share(1 - moving * moving * moving)};
    }
    std::map<double, double> weights;  // by share; few distinct ones (fitted_compute_share())
    for (const KnownShare& share : known) {
        const double distance = std::log(signs.power_w / share.signs.power_w) / like_power;
        weights[share.share] += weight_of_all + (std::isfinite(distance) ? std::exp(-distance * distance / 2) : 0);
    }
    if (weights.empty()) return {of_compute_share(0.5)};
    std::vector<KernelTime> kernels;
    for (const auto& [share, weight] : weights) {
        const KernelTime whole = of_compute_share(share);
        kernels.push_back({weight * whole.compute, weight * whole.memory, 0});
    }
    return kernels;
}

}  // namespace joulecast
