#include "joulecast/physics/curve_errors.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include "joulecast/physics/law.h"
#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// A ratio of clocks below this tells nothing of a spread.
constexpr double least_distance = 0.02;
/// A factor of two.
const double most_miss = std::log(2.0);

bool is_other(const ClockedPoint& point, const ClockedPoint& reference) {
    return &point != &reference && point.time_s > 0;
}

double clamped(double log_miss) {
    return std::isfinite(log_miss) ? std::clamp(log_miss, -most_miss, most_miss) : 0;
}

/// By how much the workload's time grows with the logarithm of what bytes take, over the time.
double weight_of_bytes(const SweptWorkload& workload, const ClockParameters& parameters, const ClockedPoint& at) {
    constexpr double step = 1e-3;
    double device = 0;
    double device_after = 0;
    for (const KernelTime& kernel : workload.kernels) {
        device += kernel_time(kernel, parameters, at.x, at.y);
        const KernelTime after{kernel.compute, kernel.memory * (1 + step), kernel.latency};
        device_after += kernel_time(after, parameters, at.x, at.y);
    }
    const double whole = overlapped(workload.host, device);
    return whole > 0 ? (overlapped(workload.host, device_after) / whole - 1) / step : 0;
}

/// Of each other point, with what is told already: a Gauss-Newton step leaves sums whose quotient is the better miss.
void add_misses_of_bytes(std::vector<ClockResidual>& misses, const ClockParameters& parameters,
                         const SweptWorkload& workload) {
    const ClockedPoint& reference = reference_point(workload.points);
    const WorkloadCurve curve = curve_of(parameters, workload);
    std::size_t place = 0;
    for (const ClockedPoint& point : workload.points) {
        if (!is_other(point, reference)) continue;
        ClockResidual& miss = misses[place++];
        const double told = miss_at(parameters.residuals, point.x, point.y).bytes;
        const double weight = weight_of_bytes(workload, parameters, point);
        const double rest = clamped(std::log(point.time_s / curve.time_s(point.x, point.y)));
        miss.bytes = weight * (rest + weight * told);
        miss.bytes_weight = weight * weight;
    }
}

void add_misses_of_power(std::vector<ClockResidual>& misses, const ClockParameters& parameters,
                         const SweptWorkload& workload) {
    const ClockedPoint& reference = reference_point(workload.points);
    const WorkloadCurve curve = curve_of(parameters, workload);
    std::size_t place = 0;
    for (const ClockedPoint& point : workload.points) {
        if (is_other(point, reference))
            misses[place++].power = clamped(std::log(point.power_w / curve.power_w(point.x, point.y)));
    }
}

/// Sums over all but one workload, by place.
std::vector<ClockResidual> sum_without(std::span<const std::vector<ClockResidual>> misses, std::size_t without) {
    std::map<std::pair<double, double>, ClockResidual> places;
    for (std::size_t i = 0; i < misses.size(); ++i) {
        if (i == without) continue;
        for (const ClockResidual& one : misses[i]) {
            ClockResidual& place =
                places.try_emplace({one.x, one.y}, ClockResidual{one.x, one.y, 0, 0, 0, 0}).first->second;
            place.bytes += one.bytes;
            place.bytes_weight += one.bytes_weight;
            place.power += one.power;
            place.workloads += one.workloads;
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
    constexpr int steps = 3;
    parameters.residuals.clear();
    std::vector<std::vector<ClockResidual>> misses(workloads.size());
    for (std::size_t i = 0; i < workloads.size(); ++i) {
        if (workloads[i].points.size() < 2) continue;
        const ClockedPoint& reference = reference_point(workloads[i].points);
        for (const ClockedPoint& point : workloads[i].points)
            if (is_other(point, reference)) misses[i].push_back({point.x, point.y, 0, 0, 0, 1});
    }
    for (int step = 0; step < steps; ++step) {
        for (std::size_t i = 0; i < workloads.size(); ++i)
            if (!misses[i].empty()) add_misses_of_bytes(misses[i], parameters, workloads[i]);
        parameters.residuals = sum_of(misses);
    }
    for (std::size_t i = 0; i < workloads.size(); ++i)
        if (!misses[i].empty()) add_misses_of_power(misses[i], parameters, workloads[i]);
    return misses;
}

}  // namespace

std::vector<ClockResidual> fit_residuals(const ClockParameters& parameters, std::span<const SweptWorkload> workloads) {
    return sum_of(misses_of(parameters, workloads));
}

ClockSpread spread_of(const ClockParameters& parameters, std::span<const SweptWorkload> workloads,
                      const ClockSpread& otherwise) {
    std::vector<double> time;
    std::vector<double> power;
    std::vector<double> energy;
    const auto add = [](std::vector<double>& to, double log_error, double distance) {
        if (std::isfinite(log_error)) to.push_back(std::abs(log_error) / distance);
    };
    const bool has_residuals = !parameters.residuals.empty();
    const auto misses = has_residuals ? misses_of(parameters, workloads) : std::vector<std::vector<ClockResidual>>{};
    ClockParameters others = parameters;
    for (std::size_t i = 0; i < workloads.size(); ++i) {
        const SweptWorkload& workload = workloads[i];
        if (workload.points.size() < 2) continue;
        if (has_residuals) others.residuals = sum_without(misses, i);
        const ClockedPoint& reference = reference_point(workload.points);
        const WorkloadCurve curve = curve_of(others, workload);
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

}  // namespace joulecast
