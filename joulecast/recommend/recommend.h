#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/recommend/chance.h"
#include "joulecast/recommend/limit.h"

namespace joulecast {

/// What came of a candidate.
struct Assessment {
    double value = Candidate::unknown;  ///< of the objective, per sample
    std::optional<Unfit> unfit;         ///< why it may not be taken whatever the limits are
    std::string breaks;                 ///< names of the limits it does not hold: "time, power"
    bool in_front = false;              ///< of time and energy per sample, among those that may be taken
    double chance_best = 0;
    double chance_within = 0;  ///< that it is at most 1 % worse than the truly best

    bool feasible() const { return !unfit && breaks.empty(); }
};

/// Clocks of the answer's run that are as good as the answer's.
struct ClockRange {
    double low_mhz = 0;
    double high_mhz = 0;
};

/// The answer to a goal, by places in `candidates`.
struct Recommendation {
    Goal goal;
    std::vector<Candidate> candidates;
    std::vector<Assessment> assessments;  ///< one each
    std::vector<std::size_t> ranking;     ///< those that may be taken, best first; the answer is the first
    std::vector<std::size_t> front;       ///< Pareto front of time and energy, fastest first
    /// The next best that differs in more than clocks and limits, where there is one; else the next best.
    std::optional<std::size_t> runner_up;
    /// The answer's device, precision and sizes where nobody sets anything, whether or not it holds the limits.
    std::optional<std::size_t> own_default;
    /// What was named first, at the default of its device.
    std::optional<std::size_t> first_default;
    Chances chance;
    Emptiness emptiness;  ///< where nothing may be taken

    bool empty() const { return ranking.empty(); }
    const Candidate& answer() const { return candidates[ranking.front()]; }
    const Assessment& assessment() const { return assessments[ranking.front()]; }
};

/// Device, mode, precision and symbols are the same: what differs are clocks and power limits.
bool same_run(const Candidate& a, const Candidate& b);

/// Searches all of them. Ties go to the candidate named first. Throws Error where the objective cannot be had of any
/// candidate (no energy is known, no price was given), saying what to do, and for no candidates.
Recommendation recommend(std::vector<Candidate> candidates, const Goal& goal, const SharedErrors& errors = {});

/// From the answer's clock on both ways, as far as clocks may be taken and are forecast at most 1 % worse than it, at
/// the answer's power limit. Absent where the answer has no clock, or none beside it is as good.
std::optional<ClockRange> equally_good_clocks(const Recommendation& recommendation);

/// The best of each run (same_run) in order of the ranking: what a table shows.
std::vector<std::size_t> best_of_each_run(const Recommendation& recommendation);

}  // namespace joulecast
