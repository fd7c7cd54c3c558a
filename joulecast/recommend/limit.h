#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/recommend/objective.h"
#include "joulecast/units/normal.h"

namespace joulecast {

/// What the answer has to hold. Absent: no limit.
struct Limits {
    std::optional<double> time_s = {};        ///< of a run, that is of a batch
    std::optional<double> power_w = {};       ///< average over a run
    std::optional<double> memory_bytes = {};  ///< of a run, parameters included
    std::optional<double> price = {};         ///< of the job where there is one, else of a sample
    std::optional<double> job_s = {};         ///< time of the job
    std::optional<double> time_ratio = {};    ///< over the same run at the device's default settings
    std::optional<double> energy_ratio = {};  ///< likewise
};

/// How many samples are computed in all, one run after the other.
struct Job {
    double samples = 0;

    /// Of runs of that many samples; the last may be a part of one and takes as long.
    double runs(double samples_per_run) const;
};

/// What is asked.
struct Goal {
    Objective objective = Objective::energy;
    Limits limits = {};
    Prices prices = {};
    std::optional<Job> job = {};
};

/// What a job takes.
struct JobCost {
    double runs = 0;
    double hours = 0;
    double kwh = 0;       ///< NaN: energy is not known
    double price = 0;     ///< NaN: no price was given
    double carbon_g = 0;  ///< NaN: --carbon was not given
};
JobCost job_cost(const Candidate& candidate, const Job& job, const Prices& prices);

/// A limit is one line of this table.
struct LimitRule {
    std::string_view name;  ///< "time"
    std::string_view flag;  ///< "--max-time"
    std::optional<double> Limits::* limit;
    /// What the candidate has of it; NaN where it is not known.
    double (*value)(const Candidate& candidate, const Goal& goal);
    /// Standard deviation of log(value) that the candidate's interval stands for; NaN where it has none.
    double (*sigma)(const Candidate& candidate);
};
std::span<const LimitRule> limit_rules();

/// A limit that was asked for, and how near to it a candidate is.
struct Held {
    const LimitRule* rule = nullptr;
    double limit = 0;
    double value = 0;   ///< NaN: not known
    double chance = 0;  ///< that the candidate truly holds it, by its interval; NaN where it has none
};
/// Every limit of the goal.
std::vector<Held> held_limits(const Candidate& candidate, const Goal& goal);

/// Why a candidate may not be the answer whatever is asked: it does not fit into the device's memory, its clock is
/// below the lowest that is chosen, or nobody knows what it has of the objective.
struct Unfit {
    enum class Kind { memory, clock, objective };
    Kind kind = Kind::memory;
    std::string reason;
};
/// For its memory or its clock; absent where it may be the answer.
std::optional<Unfit> unfit(const Candidate& candidate);

/// A limit that no candidate holds together with the others, and the nearest one.
struct Binding {
    const LimitRule* rule = nullptr;  ///< null: the memory of the devices
    double limit = 0;
    double nearest = 0;         ///< the least that any candidate has of it
    std::size_t candidate = 0;  ///< the one that has it
    double excess() const { return nearest / limit - 1; }
};

/// Why no candidate holds all limits: each limit that no candidate holds by itself; where each is held by some, the
/// limits broken by the candidate whose worst excess is smallest.
struct Emptiness {
    bool together = false;  ///< each limit can be held, not all of them at once
    std::vector<Binding> binding;
};
/// `fit` are the places of those that may be the answer. Where there are none, the one that needs the smallest share of
/// its device's memory.
Emptiness why_empty(std::span<const Candidate> candidates, std::span<const std::size_t> fit, const Goal& goal);

/// Standard deviation of log(value) that a 90 % interval stands for; 0 where it has none.
template <class Unit>
double sigma_of(const Estimate<Unit>& estimate) {
    const double low = estimate.low.value(), high = estimate.high.value();
    return low > 0 && high > low ? std::log(high / low) / (2 * normal_90) : 0.0;
}

}  // namespace joulecast
