#pragma once

#include <span>
#include <vector>

#include "joulecast/evaluate/clock_choice.h"
#include "joulecast/evaluate/leave_clocks_out.h"
#include "joulecast/train/clock_sweeps.h"

namespace joulecast {

/// The lowest clock that a model of the voltage chooses, as a share of the reference's; 0 under power limits.
double floor_share(const ClockSweep& sweep, const ClockParameters& parameters);

/// What forecasts of the sweep's rows, in their order, make one choose among its measured points at the highest memory
/// clock, for every objective; nothing of less than three points. `floor` as of floor_share().
void choose_by_forecasts(const ClockSweep& sweep, const std::vector<ClockForecast>& forecasts, double floor,
                         std::vector<ClockChoice>& choices);

/// The same by rules: the maximum, the share of it that is best for the `others` measured alike, 68 % of it.
void choose_by_rules(const ClockSweep& sweep, std::span<const ClockSweep* const> others,
                     std::vector<ClockChoice>& choices);

}  // namespace joulecast
