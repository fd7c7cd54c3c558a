#pragma once

#include <span>
#include <vector>

#include "joulecast/physics/fit_clocks.h"

namespace joulecast {

/// What each place of the clocks, but each workload's reference point, saw otherwise than the curves of the workloads
/// told, whose kernels are known: of time first, then of power at the times so mended. A factor of two counts as no
/// more than that: one odd workload shall not bend the others' curves.
std::vector<ClockResidual> fit_residuals(const ClockParameters& parameters, std::span<const SweptWorkload> workloads);

/// Spreads (ClockSpread) under which nine tenths of the points of these workloads, whose kernels are known, lie inside
/// their 90 % intervals, each forecast from its reference point, with the residuals, where there are some, of the other
/// workloads. `otherwise` where there is no point.
ClockSpread spread_of(const ClockParameters& parameters, std::span<const SweptWorkload> workloads,
                      const ClockSpread& otherwise);

}  // namespace joulecast
