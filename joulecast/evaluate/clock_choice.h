#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace joulecast {

/// What a workload takes at one of the clocks (or power limits) that it may be run at.
struct ClockOption {
    double clock_share = 1;  ///< of the highest clock, or limit
    double time_s = 0;
    double energy_j = 0;
};

/// What is minimised when a clock is chosen: energy, energy times time, or energy within so many times the time that
/// the highest clock takes. time is for choices among devices (device_choice.h): of clocks it is the highest one's.
enum class ClockObjective { energy, edp, energy_within_1_1, energy_within_1_2, time };

/// Those of clocks: all but time.
std::span<const ClockObjective> all_clock_objectives();
std::string_view name(ClockObjective objective);

/// The option that is best for the objective, of those not below `floor`; the quickest where none keeps the time.
/// Throws Error for none.
std::size_t best_option(std::span<const ClockOption> options, ClockObjective objective, double floor = 0);
/// The option whose clock is nearest to that share.
std::size_t nearest_option(std::span<const ClockOption> options, double clock_share);

/// What a choice costs more than the best one of the measured options, as a share; never negative: a choice that breaks
/// the time's limit may cost less than any that keeps it.
double regret_of(std::span<const ClockOption> measured, std::size_t chosen, ClockObjective objective);
/// Whether the choice takes longer than the objective allows.
bool is_over_limit(std::span<const ClockOption> measured, std::size_t chosen, ClockObjective objective);

/// The one clock share that is best for these workloads on average: the least mean regret, of those that keep the time
/// on average. Of equal ones the highest.
double best_constant_share(std::span<const std::vector<ClockOption>> workloads, ClockObjective objective);

/// How a rule of choosing did over workloads.
struct ClockRegret {
    std::string rule;
    std::string objective;
    std::string device;
    std::int64_t workloads = 0;
    double mean = std::numeric_limits<double>::quiet_NaN();
    double worst = std::numeric_limits<double>::quiet_NaN();
    std::string worst_workload;
    std::int64_t over_limit = 0;  ///< workloads for which the choice took longer than was allowed
};

/// One choice of one rule.
struct ClockChoice {
    std::string rule;
    ClockObjective objective = ClockObjective::energy;
    std::string workload;
    double regret = 0;
    bool over_limit = false;
};
/// By rule and objective, in the order of their first choices.
std::vector<ClockRegret> summarised(std::span<const ClockChoice> choices, const std::string& device);

}  // namespace joulecast
