#include "joulecast/physics/fit_limits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "joulecast/error.h"
#include "joulecast/physics/nelder_mead.h"
#include "joulecast/units/normal.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

constexpr int evaluations = 300;
/// With a group left out: from the optimum of all of them, which is near.
constexpr int evaluations_without = 80;
constexpr double first_step = 1;
constexpr double step_nearby = 0.3;
/// Of the mean |log error|, for a parameter that is off by one unit.
constexpr double pull = 0.002;
constexpr double working_unit = 0.10;  // of the working power of `start`
constexpr double waiting_unit = 0.20;  // of its waiting power
constexpr double limit_unit = 0.05;
constexpr double knee_unit = 0.05;
constexpr double slope_unit = 0.35;
constexpr double share_unit = 0.3;
constexpr double overlap_unit = 0.5;  // of its logarithm
constexpr double weight_of_energy = 0.5;

/// In units of how far each parameter may be from `start`.
using Offsets = std::array<double, 7>;

LimitParameters moved(const LimitParameters& start, std::span<const double> by) {
    LimitParameters moved = start;
    moved.duty.working_w = start.duty.working_w * std::clamp(1 + working_unit * by[0], 0.3, 2.0);
    moved.duty.waiting_w = start.duty.waiting_w * std::clamp(1 + waiting_unit * by[1], 0.0, 2.0);
    moved.duty.share_of_limit = std::clamp(start.duty.share_of_limit + limit_unit * by[2], 0.8, 1.1);
    moved.clocks.knee = std::clamp(start.clocks.knee + knee_unit * by[3], 0.3, 0.97);
    moved.clocks.slope = start.clocks.slope * std::exp(slope_unit * by[4]);
    moved.duty.overlap = std::clamp(start.duty.overlap * std::exp(overlap_unit * by[6]), 1.0, 12.0);
    moved.compute_share = std::clamp(start.compute_share + share_unit * by[5], 0.0, 1.0);
    return moved;
}

/// log(forecast / measured).
struct LogErrors {
    double time = 0;
    double power = 0;
};

LogErrors errors_at(const LimitCurve& curve, const LimitedPoint& measured) {
    const LimitedPoint forecast = curve.at(measured.limit_w);
    return {std::log(forecast.time_s / measured.time_s), std::log(forecast.power_w / measured.power_w)};
}

double mean_error(const LimitParameters& parameters, std::span<const SweptLimits* const> workloads) {
    double sum = 0;
    for (const SweptLimits* workload : workloads) {
        const LimitCurve curve = curve_of(parameters, *workload);
        const LimitedPoint& reference = highest_limit(workload->points);
        double of_workload = 0;
        for (const LimitedPoint& point : workload->points) {
            if (&point == &reference) continue;
            const LogErrors errors = errors_at(curve, point);
            of_workload += std::abs(errors.time) + std::abs(errors.power) +
                           weight_of_energy * std::abs(errors.time + errors.power);
        }
        sum += of_workload / static_cast<double>(workload->points.size() - 1);
    }
    return sum / static_cast<double>(workloads.size());
}

Offsets fitted_offsets(const LimitParameters& start, std::span<const SweptLimits* const> workloads,
                       const Offsets& begin, double step, int most_evaluations) {
    const auto value = [&](std::span<const double> at) {
        double squares = 0;
        for (const double offset : at) squares += offset * offset;
        return mean_error(moved(start, at), workloads) + pull * squares;
    };
    const std::vector<double> found = nelder_mead(value, {begin.begin(), begin.end()}, step, most_evaluations);
    Offsets offsets{};
    std::ranges::copy(found, offsets.begin());
    return offsets;
}

/// |log error| of each point over its distance, forecast without its group.
struct Scores {
    std::vector<double> time;
    std::vector<double> power;
    std::vector<double> energy;

    void add(const LimitParameters& parameters, const SweptLimits& workload) {
        const LimitCurve curve = curve_of(parameters, workload);
        const LimitedPoint& reference = highest_limit(workload.points);
        for (const LimitedPoint& point : workload.points) {
            if (&point == &reference) continue;
            const LogErrors errors = errors_at(curve, point);
            const double distance = limit_distance(point.limit_w, reference);
            time.push_back(std::abs(errors.time) / distance);
            power.push_back(std::abs(errors.power) / distance);
            energy.push_back(std::abs(errors.time + errors.power) / distance);
        }
    }
};

ClockSpread spread_without_groups(const LimitParameters& start, std::span<const SweptLimits* const> workloads,
                                  const Offsets& nearby) {
    std::set<std::string> groups;
    for (const SweptLimits* workload : workloads) groups.insert(workload->group);
    if (groups.size() < 2) return start.spread;
    Scores scores;
    for (const std::string& group : groups) {
        std::vector<const SweptLimits*> others;
        std::ranges::copy_if(workloads, std::back_inserter(others),
                             [&](const SweptLimits* workload) { return workload->group != group; });
        const LimitParameters without =
            moved(start, fitted_offsets(start, others, nearby, step_nearby, evaluations_without));
        for (const SweptLimits* workload : workloads) {
            if (workload->group == group) scores.add(without, *workload);
        }
    }
    const auto spread = [](const std::vector<double>& of) { return next_quantile(of, 0.9) / normal_90; };
    return {spread(scores.time), spread(scores.power), spread(scores.energy)};
}

}  // namespace

const LimitedPoint& highest_limit(std::span<const LimitedPoint> points) {
    if (points.empty()) throw Error("a program that was measured under no power limit has no highest one");
    return *std::ranges::max_element(points, {}, &LimitedPoint::limit_w);
}

LimitCurve curve_of(const LimitParameters& parameters, const SweptLimits& workload) {
    LimitParameters own = parameters;
    if (workload.never_waits) own.duty.working_w = 0;
    return {own, workload.kernels, workload.host, highest_limit(workload.points)};
}

LimitParameters fit_limit_parameters(const LimitParameters& start, std::span<const SweptLimits> workloads) {
    std::vector<const SweptLimits*> swept;
    for (const SweptLimits& workload : workloads) {
        if (workload.points.size() > 1) swept.push_back(&workload);
    }
    if (swept.empty()) return start;
    const Offsets offsets = fitted_offsets(start, swept, Offsets{}, first_step, evaluations);
    LimitParameters fitted = moved(start, offsets);
    fitted.spread = spread_without_groups(start, swept, offsets);
    return fitted;
}

}  // namespace joulecast
