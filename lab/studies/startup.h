#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "joulecast/measure/power_samples.h"
#include "joulecast/measure/workload.h"

namespace joulecast {

// How power rises when a benchmark begins: figures 3.2 (alternating rest and runs) and 3.3 (five runs laid over one
// another) of the thesis "On Energy Modeling of Deep Neural Network Operations".

struct StartupPlan {
    std::size_t runs = 5;
    double run_s = 3.0;
    double rest_s = 3.0;    ///< before each run and after the last; 0: one run after another, as in figure 3.3
    double every_s = 0.02;  ///< looks at the meter
    double call_s = 0.0;    ///< about what a call takes
};

struct PowerSpan {
    bool running = false;
    double start_s = 0.0;
    double end_s = 0.0;
};

/// Rests and runs in turn with the power meanwhile; steady-clock seconds.
struct PowerTrace {
    std::vector<PowerSample> samples;
    std::vector<PowerSpan> spans;
};

/// Throws MeterLost.
PowerTrace trace_startup(Workload& workload, Meter& meter, Clock& clock, const StartupPlan& plan);

/// The samples of each run, seconds counted from its start.
std::vector<std::vector<PowerSample>> overlaid_runs(const PowerTrace& trace);

/// What the runs have in common.
struct Startup {
    double steady_w = std::numeric_limits<double>::quiet_NaN();  ///< mean over the last half of all runs
    double sigma_w = std::numeric_limits<double>::quiet_NaN();   ///< of the samples there
    /// By run: how long until power stays within three sigma of steady; NaN where it never does.
    std::vector<double> settled_after_s;
};

Startup summarise_startup(const PowerTrace& trace);

}  // namespace joulecast
