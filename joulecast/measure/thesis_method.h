#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "joulecast/measure/power_samples.h"
#include "joulecast/measure/readings.h"

namespace joulecast {

// The method of the thesis "On Energy Modeling of Deep Neural Network Operations", chapter 3, so that its numbers can
// be reproduced and compared with ours: a block of instances called in turn for a minimum run time, a power log
// meanwhile, and a channel of three sigma. Kept as published, with what is wrong about it: the samples of a log are
// taken for independent though the sensor renews itself less often than the log has lines, the first 300 ms of the
// sensor's rise are in the log as long as they lie inside the channel, and idle power is never told apart.

/// Power as the thesis takes it from a log. Equations are the thesis'.
struct ThesisPower {
    double mean_w = std::numeric_limits<double>::quiet_NaN();   ///< (3.1) over the samples that (3.3) keeps
    double sigma_w = std::numeric_limits<double>::quiet_NaN();  ///< (3.2) over them: of a sample, not of the mean
    std::int64_t samples = 0;                                   ///< kept
    std::int64_t dropped = 0;
};

/// (3.1) the mean, (3.2) the standard deviation with n - 1, (3.3) samples within three of them of the mean are kept,
/// and (3.1) and (3.2) once more over those. NaN below two samples.
ThesisPower thesis_power(std::span<const PowerSample> log);

/// What the thesis reports of an operation; sigmas are its own.
struct ThesisResult {
    double time_s = std::numeric_limits<double>::quiet_NaN();          ///< (3.6) t = t_tot / N
    double time_sigma_s = std::numeric_limits<double>::quiet_NaN();    ///< (3.8) sigma_t = sigma_t_tot / N
    double energy_j = std::numeric_limits<double>::quiet_NaN();        ///< (3.4) E_tot = W t_tot, (3.7) e = E_tot / N
    double energy_sigma_j = std::numeric_limits<double>::quiet_NaN();  ///< (3.5) sigma_W t_tot, (3.9) / N
};

/// `calls` is N, the number of iterations in all of total_s (t_tot).
ThesisResult thesis_result(const ThesisPower& power, double total_s, double total_sigma_s, std::int64_t calls);

/// At least so long, whatever settings.time_budget_s says: "at least several seconds".
inline constexpr double thesis_run_s = 5.0;

/// Warm-up runs, then blocks of calls for the minimum run time with the meter logged between them. The total's sigma,
/// which the thesis has from torch.utils.benchmark, is that of a sum of blocks: sqrt(number) times theirs. Half widths
/// are 1.96 of the method's sigmas, ticks the log's samples, window_s is t_tot; dynamic energy is not known to it.
Readings thesis_readings(const Calls& calls, const Instruments& instruments, const MeasureSettings& settings);

}  // namespace joulecast
