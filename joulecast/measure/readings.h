#pragma once

#include <optional>
#include <string>
#include <vector>

#include "joulecast/measure/measure.h"
#include "joulecast/measure/measurement.h"

namespace joulecast {

/// What a protocol found out: the part that measurements of operations and of networks have in common.
struct Readings {
    TimeSummary time;
    std::vector<double> block_s;
    std::optional<TimeSummary> hot;
    std::optional<TimeSummary> forward;
    std::optional<IssueSummary> issue;
    std::optional<EnergySummary> energy;
    std::string energy_missing_reason;
    DeviceState before;
    DeviceState after;
    double between_states_s = 0.0;
};

/// Our own protocol, docs/method.md.
Readings joulecast_readings(const Calls& calls, const Instruments& instruments, const MeasureSettings& settings);

/// The device's state now, unknown without a probe.
DeviceState state_now(const Instruments& instruments);

/// Empty if there is a meter and energy is asked for, or else why there is no energy.
std::string why_no_energy(const Instruments& instruments, const MeasureSettings& settings);

}  // namespace joulecast
