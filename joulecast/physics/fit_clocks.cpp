#include "joulecast/physics/fit_clocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>

#include "joulecast/error.h"
#include "joulecast/physics/nelder_mead.h"

namespace joulecast {
namespace {

constexpr int share_steps = 20;
constexpr int evaluations = 250;
/// Of the mean |log error|, for a knee that is off by 0.05, a slope by a factor of e^0.35 or static power by one of
/// e^0.2.
constexpr double pull = 0.002;
constexpr double knee_unit = 0.05;
constexpr double slope_unit = 0.35;
/// Idle power is told apart from the rest but poorly where none was measured, so it is pulled harder.
constexpr double static_unit = 0.2;
/// Each fit is pulled to where it begins, as few workloads need it. So many may walk on from there.
constexpr int fits = 4;
constexpr std::array<double, 2> bends{1.0, 1.5};
constexpr std::array<double, 3> steady_shares{0.0, 0.07, 0.15};
/// Another form must leave less than this share of the error.
constexpr double better_by_form = 0.95;
constexpr std::size_t least_points_of_form = 3;
/// A ratio of clocks below this tells nothing of a spread.
constexpr double least_distance = 0.02;

/// Each workload's mean of `error` over its points but the reference, averaged over workloads that have some.
double mean_error(std::span<const SweptWorkload> workloads,
                  const std::function<double(const SweptWorkload&, const ClockedPoint&, const ClockedPoint&)>& error) {
    double sum = 0;
    int counted = 0;
    for (const SweptWorkload& workload : workloads) {
        if (workload.points.size() < 2) continue;
        const ClockedPoint& reference = reference_point(workload.points);
        double of_workload = 0;
        int points = 0;
        for (const ClockedPoint& point : workload.points) {
            if (!is_other(point, reference)) continue;
            const double at_point = error(workload, reference, point);
            if (std::isnan(at_point)) continue;
            of_workload += at_point;
            ++points;
        }
        if (points == 0) continue;
        sum += of_workload / points;
        ++counted;
    }
    return counted > 0 ? sum / counted : 0;
}

/// Power at another clock where its time is known: what follows from time alone is left out of the error.
double power_error(const ClockParameters& parameters, const ClockedPoint& from, const ClockedPoint& to) {
    const double above = std::max(from.power_w - static_w(parameters, from.x, from.y), 0.02 * from.power_w);
    const double voltage = relative_voltage(parameters, to.x) / relative_voltage(parameters, from.x);
    const double steady = parameters.steady_share;
    const double watts = static_w(parameters, to.x, to.y) +
                         above * voltage * voltage * ((1 - steady) * from.time_s / to.time_s + steady);
    return std::abs(std::log(watts / to.power_w));
}

double time_error(const WorkloadCurve& curve, const ClockedPoint& to) {
    return std::abs(std::log(curve.time_s(to.x, to.y) / to.time_s));
}

bool varies_memory(std::span<const SweptWorkload> workloads) {
    for (const SweptWorkload& workload : workloads) {
        for (const ClockedPoint& point : workload.points) {
            if (std::abs(point.y / workload.points.front().y - 1) > least_distance) return true;
        }
    }
    return false;
}

double power_error_of_all(const ClockParameters& parameters, std::span<const SweptWorkload> workloads) {
    return mean_error(workloads,
                      [&](const auto&, const auto& from, const auto& to) { return power_error(parameters, from, to); });
}

void fit_power(ClockParameters& parameters, const ClockParameters& start, std::span<const SweptWorkload> workloads) {
    const bool fits_memory = varies_memory(workloads);
    const auto with = [&](std::span<const double> at) {
        ClockParameters trial = start;
        trial.bandwidth_knee = parameters.bandwidth_knee;
        trial.knee = std::clamp(start.knee + knee_unit * at[0], 0.3, 0.97);
        trial.slope = start.slope * std::exp(slope_unit * at[1]);
        const double level = std::exp(std::clamp(static_unit * at[2], -1.0, 1.0));
        trial.still_w = start.still_w * level;
        trial.clocked_w = start.clocked_w * level;
        // What is taken out of the static power with the memory's clock is at most most of it.
        if (fits_memory) trial.memory_w = std::clamp(start.still_w * at[3], 0.0, 0.9 * trial.still_w);
        return trial;
    };
    const auto value = [&](std::span<const double> at) {
        const ClockParameters trial = with(at);
        return power_error_of_all(trial, workloads) + pull * (at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
    };
    std::vector<double> begin{0, 0, 0};
    if (fits_memory) begin.push_back(start.still_w > 0 ? start.memory_w / start.still_w : 0);
    parameters = with(nelder_mead(value, begin, 0.5, evaluations));
}

double time_error_of_all(const ClockParameters& parameters, std::span<const SweptWorkload> workloads) {
    return mean_error(with_fitted_kernels(parameters, workloads),
                      [&](const SweptWorkload& workload, const auto&, const auto& to) {
                          return time_error(curve_of(parameters, workload), to);
                      });
}

void fit_bandwidth_knee(ClockParameters& parameters, std::span<const SweptWorkload> workloads) {
    constexpr double pull_of_knee = 0.02;
    const double start = parameters.bandwidth_knee;
    double best = time_error_of_all(parameters, workloads);
    ClockParameters trial = parameters;
    for (double knee = 0.30; knee < 0.96; knee += 0.05) {
        trial.bandwidth_knee = knee;
        const double error = time_error_of_all(trial, workloads) + pull_of_knee * (knee - start) * (knee - start);
        if (error >= best) continue;
        best = error;
        parameters.bandwidth_knee = knee;
    }
}

}  // namespace

bool has_measured_voltage(const ClockParameters& parameters) {
    return std::ranges::any_of(parameters.idle, [](const IdlePoint& point) { return !std::isnan(point.voltage_mv); });
}

const ClockedPoint& reference_point(std::span<const ClockedPoint> points) {
    if (points.empty()) throw Error("a workload without measured points has no reference point");
    return *std::ranges::max_element(
        points, [](const ClockedPoint& a, const ClockedPoint& b) { return a.y < b.y || (a.y == b.y && a.x < b.x); });
}

double fitted_compute_share(const ClockParameters& parameters, std::span<const ClockedPoint> points) {
    const ClockedPoint& reference = reference_point(points);
    double best_share = 0;
    double best = std::numeric_limits<double>::infinity();
    for (int step = 0; step <= share_steps; ++step) {
        const double share = static_cast<double>(step) / share_steps;
        const WorkloadCurve curve(parameters, {of_compute_share(share)}, 0, reference);
        double error = 0;
        for (const ClockedPoint& point : points) {
            if (is_other(point, reference)) error += time_error(curve, point);
        }
        if (error >= best) continue;
        best = error;
        best_share = share;
    }
    return best_share;
}

ClockParameters fit_clock_parameters(const ClockParameters& start, std::span<const SweptWorkload> workloads) {
    ClockParameters parameters = start;
    const auto is_swept = [](const SweptWorkload& workload) { return workload.points.size() > 1; };
    parameters.workloads = std::ranges::count_if(workloads, is_swept);
    if (parameters.workloads == 0) return parameters;
    fit_bandwidth_knee(parameters, workloads);
    if (!has_measured_voltage(start)) {
        const std::int64_t counted = parameters.workloads;
        fit_power(parameters, start, workloads);
        parameters.workloads = counted;
    }
    return parameters;
}

ClockParameters fit_clocks_and_form(const ClockParameters& start, std::span<const SweptWorkload> workloads) {
    const auto walked_on = [&](double bend, double steady_share) {
        ClockParameters parameters = start;
        parameters.bend = bend;
        parameters.steady_share = steady_share;
        for (int step = 0; step < fits; ++step) parameters = fit_clock_parameters(parameters, workloads);
        return parameters;
    };
    ClockParameters best = walked_on(start.bend, start.steady_share);
    const bool tells = std::ranges::any_of(
        workloads, [](const SweptWorkload& workload) { return workload.points.size() >= least_points_of_form; });
    if (!tells || has_measured_voltage(start)) return best;
    double least = better_by_form * power_error_of_all(best, workloads);
    for (const double bend : bends) {
        for (const double steady_share : steady_shares) {
            if (bend == start.bend && steady_share == start.steady_share) continue;
            const ClockParameters trial = walked_on(bend, steady_share);
            const double error = power_error_of_all(trial, workloads);
            if (!(error < least)) continue;
            least = error;
            best = trial;
        }
    }
    return best;
}

std::vector<SweptWorkload> with_fitted_kernels(const ClockParameters& parameters,
                                               std::span<const SweptWorkload> workloads) {
    std::vector<SweptWorkload> known(workloads.begin(), workloads.end());
    for (SweptWorkload& workload : known) {
        if (!workload.kernels.empty() || workload.points.size() < 2) continue;
        workload.kernels.push_back(of_compute_share(fitted_compute_share(parameters, workload.points)));
        workload.host = 0;
    }
    return known;
}

WorkloadCurve curve_of(const ClockParameters& parameters, const SweptWorkload& workload) {
    return {parameters, workload.kernels, workload.host, reference_point(workload.points), workload.traits};
}

}  // namespace joulecast
