#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "joulecast/measure/block_timer.h"
#include "joulecast/measure/measurement.h"
#include "joulecast/measure/workload.h"

namespace joulecast {

/// Seconds on std::chrono::steady_clock.
class SteadyClock final : public Clock {
  public:
    double now_s() override;
    void sleep(double seconds) override;
};

/// How one phase is timed: the part of MeasureSettings that concerns it.
struct TimingRule {
    double warm_up_s = 0.05;
    double budget_s = 0.25;  ///< timed blocks end here at the latest, but never before three blocks
    double min_block_s = 1e-3;
    double relative_half_width = 0.005;
};

TimingRule timing_rule(const MeasureSettings& settings);

struct Timing {
    TimeSummary summary;
    std::vector<double> block_s;  ///< seconds per call of each block in order, leading transient included
};

/// The timing rule of docs/method.md. Warm-up: at least three calls and warm_up_s; a call longer than the whole budget
/// warms up alone. Then blocks of k calls, k chosen so that a block lasts min_block_s and randomised by 0 to 20 % (a
/// fixed k locks onto periodic noise), until the half width has settled or the budget is spent (converged = false).
Timing time_calls(Workload& workload, Clock& clock, const TimingRule& rule, bool hot, std::mt19937_64& random);

/// The same, blocks timed by the device; the clock counts the budget.
struct Stopwatch {
    Clock& clock;
    BlockTimer& blocks;
};
Timing time_calls(Workload& workload, const Stopwatch& stopwatch, const TimingRule& rule, bool hot,
                  std::mt19937_64& random);

/// A half width beyond this share of the mean makes the outcome `unstable`; the time is kept.
inline constexpr double unstable_half_width = 0.1;

}  // namespace joulecast
