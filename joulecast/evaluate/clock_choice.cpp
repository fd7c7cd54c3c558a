#include "joulecast/evaluate/clock_choice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "joulecast/error.h"

namespace joulecast {
namespace {

constexpr std::array clock_objectives{ClockObjective::energy, ClockObjective::edp, ClockObjective::energy_within_1_1,
                                      ClockObjective::energy_within_1_2};
/// Measured times have errors: so much above the limit is at it.
constexpr double over_by = 1.01;
constexpr double step_of_constant = 0.02;

/// Of the time at the highest clock; infinite where time does not matter.
double time_allowed(ClockObjective objective) {
    if (objective == ClockObjective::energy_within_1_1) return 1.1;
    if (objective == ClockObjective::energy_within_1_2) return 1.2;
    return std::numeric_limits<double>::infinity();
}

double value(const ClockOption& option, ClockObjective objective) {
    if (objective == ClockObjective::time) return option.time_s;
    return objective == ClockObjective::edp ? option.energy_j * option.time_s : option.energy_j;
}

const ClockOption& highest(std::span<const ClockOption> options) {
    if (options.empty()) throw Error("there is no clock to choose");
    return *std::ranges::max_element(options, {}, &ClockOption::clock_share);
}

}  // namespace

std::span<const ClockObjective> all_clock_objectives() {
    return clock_objectives;
}

std::string_view name(ClockObjective objective) {
    switch (objective) {
        case ClockObjective::energy:
            return "energy";
        case ClockObjective::edp:
            return "edp";
        case ClockObjective::energy_within_1_1:
            return "energy within 1.1 of the time";
        case ClockObjective::energy_within_1_2:
            return "energy within 1.2 of the time";
        case ClockObjective::time:
            return "time";
    }
    return "";
}

std::size_t best_option(std::span<const ClockOption> options, ClockObjective objective, double floor) {
    const double longest = highest(options).time_s * time_allowed(objective);
    std::optional<std::size_t> best;
    std::size_t quickest = 0;
    for (std::size_t i = 0; i < options.size(); ++i) {
        if (options[i].time_s < options[quickest].time_s) quickest = i;
        if (options[i].clock_share < floor || options[i].time_s > longest) continue;
        if (!best || value(options[i], objective) < value(options[*best], objective)) best = i;
    }
    return best.value_or(quickest);
}

std::size_t nearest_option(std::span<const ClockOption> options, double clock_share) {
    if (options.empty()) throw Error("there is no clock to choose");
    const auto nearest = std::ranges::min_element(
        options, {}, [clock_share](const ClockOption& option) { return std::abs(option.clock_share - clock_share); });
    return static_cast<std::size_t>(nearest - options.begin());
}

double regret_of(std::span<const ClockOption> measured, std::size_t chosen, ClockObjective objective) {
    const double best = value(measured[best_option(measured, objective)], objective);
    return std::max(0.0, value(measured[chosen], objective) / best - 1);
}

bool is_over_limit(std::span<const ClockOption> measured, std::size_t chosen, ClockObjective objective) {
    return measured[chosen].time_s > highest(measured).time_s * time_allowed(objective) * over_by;
}

double best_constant_share(std::span<const std::vector<ClockOption>> workloads, ClockObjective objective) {
    double best_share = 1;
    double best = std::numeric_limits<double>::infinity();
    for (double share = 1; share > 0.2; share -= step_of_constant) {
        double regret = 0;
        double slowdown = 0;
        for (const auto& options : workloads) {
            const std::size_t option = nearest_option(options, share);
            regret += regret_of(options, option, objective);
            slowdown += options[option].time_s / highest(options).time_s;
        }
        const bool keeps_time = slowdown <= time_allowed(objective) * static_cast<double>(workloads.size());
        if (!keeps_time || regret >= best) continue;
        best = regret;
        best_share = share;
    }
    return best_share;
}

std::vector<ClockRegret> summarised(std::span<const ClockChoice> choices, const std::string& device) {
    std::vector<ClockRegret> regrets;
    std::map<std::pair<std::string, ClockObjective>, std::size_t> places;
    for (const ClockChoice& choice : choices) {
        const auto [place, is_new] = places.try_emplace({choice.rule, choice.objective}, regrets.size());
        if (is_new) {
            ClockRegret& made = regrets.emplace_back();
            made.rule = choice.rule;
            made.objective = name(choice.objective);
            made.device = device;
            made.mean = made.worst = 0;
        }
        ClockRegret& regret = regrets[place->second];
        ++regret.workloads;
        regret.mean += choice.regret;  // a sum until all are there
        regret.over_limit += choice.over_limit ? 1 : 0;
        if (choice.regret < regret.worst || (choice.regret == 0 && !regret.worst_workload.empty())) continue;
        regret.worst = choice.regret;
        regret.worst_workload = choice.workload;
    }
    for (ClockRegret& regret : regrets) regret.mean /= static_cast<double>(regret.workloads);
    return regrets;
}

}  // namespace joulecast
