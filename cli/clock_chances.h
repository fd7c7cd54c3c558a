#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "joulecast/evaluate/leave_clocks_out.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {

/// What `joulecast recommend` would have said of its choices of a clock, and what was measured.
struct ClockChance {
    std::string device;
    std::string objective;       ///< "energy", "edp"
    std::int64_t workloads = 0;  ///< measured at three clocks or more that may be chosen
    double said_within = 0;      ///< mean chance that the choice is at most 1 % worse than the best clock
    double was_within = 0;       ///< share of the workloads in which it was
    double was_within_low = 0;   ///< exact binomial 95 % interval of that share
    double was_within_high = 0;
    double said_excess = 0;  ///< mean expectation of what the choice costs more than the best
    double was_excess = 0;   ///< mean of what it did
};

/// By the curves "joulecast", each workload forecast from its highest clock; of every device and objective.
std::vector<ClockChance> clock_chances(std::span<const ClockForecast> forecasts);

std::string clock_chances_text(std::span<const ClockChance> chances);
Table clock_chances_table(std::span<const ClockChance> chances);

}  // namespace joulecast::cli
