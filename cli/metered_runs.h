#pragma once

#include <memory>
#include <string>
#include <vector>

#include "joulecast/measure/meter_log.h"
#include "joulecast/measure/power_samples.h"
#include "joulecast/measure/trace.h"
#include "joulecast/meter/meter.h"
#include "joulecast/process/foreground.h"

namespace joulecast::cli {

/// A meter that was asked for, or why there is none.
struct NamedMeter {
    std::string name;  ///< as asked for, or, once it is open, its own
    std::unique_ptr<Meter> meter;
    std::string missing_reason;
};

/// Opens what `--meter` names; `auto` is what this machine has for its CPU and for its first GPU, "none" nothing.
std::vector<NamedMeter> open_meters(const std::vector<std::string>& names);

/// What one meter told of all runs; NaN: not known.
struct MeterResult {
    std::string meter;
    std::string covers;
    double gain_error = std::numeric_limits<double>::quiet_NaN();
    Repeated energy_j;          ///< of a run
    Repeated dynamic_energy_j;  ///< above idle
    double power_w = std::numeric_limits<double>::quiet_NaN();
    double peak_power_w = std::numeric_limits<double>::quiet_NaN();
    double idle_power_w = std::numeric_limits<double>::quiet_NaN();
    std::string missing_reason;            ///< why there is no energy
    std::vector<TraceEnergy> runs;         ///< in the order of the runs
    std::vector<PowerSample> power_trace;  ///< steady clock
};

struct MeteredRuns {
    std::vector<ForegroundRun> runs;
    std::vector<MeterResult> meters;
    double idle_start_s = 0;  ///< steady clock; equal to idle_end_s if no baseline was taken
    double idle_end_s = 0;
    bool interrupted = false;
};

struct MeteredSettings {
    std::vector<std::string> command;
    double idle_s = 3;
    int repeats = 1;
    double period_s = 0.05;  ///< looks at each meter
};

/// Waits idle, then runs the command as often as asked, the meters on all along. Ends early when a run fails or a
/// signal comes. Throws Error when the command cannot be started.
MeteredRuns run_metered(const MeteredSettings& settings, std::vector<NamedMeter>& meters);

}  // namespace joulecast::cli
