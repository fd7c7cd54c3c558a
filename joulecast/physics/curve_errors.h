#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "joulecast/physics/fit_clocks.h"

namespace joulecast {

/// What each place of the clocks, but each workload's reference point, saw otherwise than the curves of the workloads
/// told, whose kernels are known: of time first, then of power at the times so mended. A factor of two counts as no
/// more than that: one odd workload shall not bend the others' curves.
std::vector<ClockResidual> fit_residuals(const ClockParameters& parameters, std::span<const SweptWorkload> workloads);

/// For each workload what fit_residuals() tells without it.
std::vector<std::vector<ClockResidual>> residuals_without_each(const ClockParameters& parameters,
                                                               std::span<const SweptWorkload> workloads);

/// Spreads (ClockSpread) under which nine tenths of the points of these workloads, whose kernels are known, lie inside
/// their 90 % intervals, each forecast from its reference point by the parameters that others than this workload tell.
/// `otherwise` where there is no point.
ClockSpread spread_of(const std::function<ClockParameters(std::size_t workload)>& without,
                      std::span<const SweptWorkload> workloads, const ClockSpread& otherwise);

/// The same by `parameters`, which hold nothing that trees learned; their residuals, where there are some, those of the
/// other workloads.
ClockSpread spread_of(const ClockParameters& parameters, std::span<const SweptWorkload> workloads,
                      const ClockSpread& otherwise);

}  // namespace joulecast
