#include "joulecast/physics/curve_errors.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// A ratio of clocks below this tells nothing of a spread.
constexpr double least_distance = 0.02;
/// A factor of two.
const double most_miss = std::log(2.0);

/// log(measured / told), a factor of two at most; 0 where either is not known.
double log_miss(double measured, double told) {
    const double miss = std::log(measured / told);
    return std::isfinite(miss) ? std::clamp(miss, -most_miss, most_miss) : 0;
}

/// Sums over all but one workload, by place.
std::vector<ClockResidual> sum_without(std::span<const std::vector<ClockResidual>> misses, std::size_t without) {
    std::map<std::pair<double, double>, ClockResidual> places;
    for (std::size_t i = 0; i < misses.size(); ++i) {
        if (i == without) continue;
        for (const ClockResidual& residual : misses[i]) {
            ClockResidual& place =
                places.try_emplace({residual.x, residual.y}, ClockResidual{residual.x, residual.y, 0, 0, 0})
                    .first->second;
            place.time += residual.time;
            place.power += residual.power;
            place.workloads += residual.workloads;
        }
    }
    std::vector<ClockResidual> residuals;
    for (const auto& [place, sum] : places) residuals.push_back(sum);
    return residuals;
}

std::vector<ClockResidual> sum_of(std::span<const std::vector<ClockResidual>> misses) {
    return sum_without(misses, misses.size());
}

/// Of each workload alone; empty for one without other points.
std::vector<std::vector<ClockResidual>> misses_of(ClockParameters parameters,
                                                  std::span<const SweptWorkload> workloads) {
    parameters.residuals.clear();
    std::vector<std::vector<ClockResidual>> misses(workloads.size());
    for (std::size_t i = 0; i < workloads.size(); ++i) {
        if (workloads[i].points.size() < 2) continue;
        const ClockedPoint& reference = reference_point(workloads[i].points);
        const WorkloadCurve curve = curve_of(parameters, workloads[i]);
        for (const ClockedPoint& point : workloads[i].points) {
            if (!is_other(point, reference)) continue;
            const double of_time = log_miss(point.time_s, curve.time_s(point.x, point.y));
            misses[i].push_back({point.x, point.y, of_time, 0, 1});
        }
    }
    parameters.residuals = sum_of(misses);
    for (std::size_t i = 0; i < workloads.size(); ++i) {
        if (misses[i].empty()) continue;
        const ClockedPoint& reference = reference_point(workloads[i].points);
        const WorkloadCurve curve = curve_of(parameters, workloads[i]);
        std::size_t place = 0;
        for (const ClockedPoint& point : workloads[i].points) {
            if (is_other(point, reference))
                misses[i][place++].power = log_miss(point.power_w, curve.power_w(point.x, point.y));
        }
    }
    return misses;
}

}  // namespace

std::vector<ClockResidual> fit_residuals(const ClockParameters& parameters, std::span<const SweptWorkload> workloads) {
    return sum_of(misses_of(parameters, workloads));
}

std::vector<std::vector<ClockResidual>> residuals_without_each(const ClockParameters& parameters,
                                                               std::span<const SweptWorkload> workloads) {
    const auto misses = misses_of(parameters, workloads);
    std::vector<std::vector<ClockResidual>> without;
    for (std::size_t i = 0; i < workloads.size(); ++i) without.push_back(sum_without(misses, i));
    return without;
}

ClockSpread spread_of(const std::function<ClockParameters(std::size_t workload)>& without,
                      std::span<const SweptWorkload> workloads, const ClockSpread& otherwise) {
    std::vector<double> time;
    std::vector<double> power;
    std::vector<double> energy;
    const auto add = [](std::vector<double>& to, double log_error, double distance) {
        if (std::isfinite(log_error)) to.push_back(std::abs(log_error) / distance);
    };
    for (std::size_t i = 0; i < workloads.size(); ++i) {
        const SweptWorkload& workload = workloads[i];
        if (workload.points.size() < 2) continue;
        const ClockedPoint& reference = reference_point(workload.points);
        const WorkloadCurve curve = curve_of(without(i), workload);
        for (const ClockedPoint& point : workload.points) {
            const double distance = clock_distance(point.x, point.y, reference);
            if (!is_other(point, reference) || distance < least_distance) continue;
            const double of_time = std::log(curve.time_s(point.x, point.y) / point.time_s);
            const double of_power = std::log(curve.power_w(point.x, point.y) / point.power_w);
            add(time, of_time, distance);
            add(power, of_power, distance);
            add(energy, of_time + of_power, distance);
        }
    }
    const auto spread = [](const std::vector<double>& scores, double fallback) {
        return scores.empty() ? fallback : next_quantile(scores, 0.9) / normal_90;
    };
    return {spread(time, otherwise.time), spread(power, otherwise.power), spread(energy, otherwise.energy)};
}

ClockSpread spread_of(const ClockParameters& parameters, std::span<const SweptWorkload> workloads,
                      const ClockSpread& otherwise) {
    if (parameters.residuals.empty()) return spread_of([&](std::size_t) { return parameters; }, workloads, otherwise);
    const auto residuals = residuals_without_each(parameters, workloads);
    const auto without = [&](std::size_t workload) {
        ClockParameters others = parameters;
        others.residuals = residuals[workload];
        return others;
    };
    return spread_of(without, workloads, otherwise);
}

}  // namespace joulecast
