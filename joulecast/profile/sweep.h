#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "joulecast/dataset/dataset.h"
#include "joulecast/profile/patience.h"
#include "joulecast/profile/plan.h"
#include "joulecast/profile/progress.h"
#include "joulecast/worker/supervision/supervisor.h"

namespace joulecast {

struct SweepSettings {
    MeasureSettings measure;
    OperatingPoint point;
    std::uint64_t order_seed = 1;    ///< of the plan's order, stored with the rows
    std::optional<double> budget_s;  ///< ends the sweep, whatever the estimates said
    /// Seconds between repeats that follow the machine's pace (docs/method.md); absent: the reference is repeated every
    /// minute alone.
    std::optional<double> pace_interval_s;
    std::string card;                   ///< which of several equal cards this is (dataset/card.h); empty: not named
    bool require_energy = false;        ///< a measurement without energy ends the sweep
    std::function<bool()> interrupted;  ///< asked before and after each measurement
    std::function<double()> now_s;      ///< any clock that only goes on
    /// How long an answer may take; tests wait less.
    std::function<std::chrono::milliseconds(const MeasureSettings&, double call_s, bool network)> patience =
        &joulecast::patience;
};

struct SweepResult {
    std::int64_t measured = 0;  ///< outcome ok or unstable
    std::int64_t failed = 0;    ///< crashed, out of memory, unsupported
    std::int64_t inferred = 0;  ///< larger than what ran out of memory: not tried
    std::int64_t repeated = 0;  ///< of those measured, once more: throttled by heat, or while the machine drifted
    std::int64_t refined = 0;   ///< operations measured longer, in the place of a first pass
    std::int64_t left = 0;      ///< planned, but not reached
    std::int64_t references = 0;
    /// Relative spread of the reference operation's repeats (RepeatSpread); NaN: too few.
    double sigma_between = std::numeric_limits<double>::quiet_NaN();
    bool interrupted = false;
};

/// Measures the plan one by one and commits each result at once, so that whatever ends the sweep costs at most the
/// measurement in progress. A worker that dies twice on the same is a row (crashed); three in a row end the sweep with
/// an Error. What another program stored meanwhile is skipped. A reference operation is repeated along the way; what
/// was measured while it drifted, and what heat throttled, is measured once more at the end of its stage. With a budget
/// networks stand between the operations, and what is left in the end is spent on those with the largest error.
SweepResult sweep(const Plan& plan, Supervisor& supervisor, Dataset& dataset, const SweepSettings& settings,
                  SweepProgress& progress);

/// The soak before each clock setting is an eighth of the sweep's budget at most, and never longer than without one.
double longest_soak_s(const PlanSettings& settings);

/// Seconds that a sweep with these settings takes beside its measurements: soak, switching clocks, references.
double overhead_s(const PlanSettings& settings);

}  // namespace joulecast
