#pragma once

#include <span>
#include <vector>

#include "joulecast/measure/readings.h"

namespace joulecast {

// The method of Sponner et al., "AI-Driven Performance Modeling for AI Inference Workloads" (2022), section 4.2: a
// burn-in so that caches are warm, the time recorded several times, power recorded in repetitions with a burn-in each,
// calls looped to fill the meter's sampling window, outliers removed, and the median of each metric. The paper gives
// no rule for outliers and no errors; ours for the former is said below, and half widths stay unknown.

/// "up to 50 repetitions were required to achieve an accurate and reproducible result on most targets"
inline constexpr std::size_t sponner_repetitions = 50;
/// The sampling window of power that the paper gives for NVML.
inline constexpr double sponner_window_s = 1.0 / 6.0;

/// Without the values further than 1.5 interquartile ranges outside the quartiles (Tukey's fences), in order.
std::vector<double> without_outliers(std::span<const double> values);

/// One set of tensors, cache-warm, as the burn-in is meant. The label, the median without outliers, stands in both
/// mean_s and median_s. Power is what the meter says at the end of each repetition; energy is power x time (the paper's
/// equation 2).
Readings sponner_readings(const Calls& calls, const Instruments& instruments, const MeasureSettings& settings);

}  // namespace joulecast
