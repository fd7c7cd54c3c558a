#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "joulecast/measure/measurement.h"
#include "joulecast/measure/meter_traits.h"
#include "joulecast/measure/workload.h"
#include "joulecast/meter/meter.h"

namespace joulecast {

/// How the energy of a workload is taken; the defaults are those of docs/method.md.
struct EnergyRule {
    double window_s = 0.6;           ///< at least; six periods of the meter if they are longer
    double longest_s = 5.0;          ///< no window is widened beyond this, but for calls that are longer themselves
    double load_on_s = 0.0;          ///< the load has been on for this long already: so much less is waited
    double call_s = 0.0;             ///< time of one call on the device, from the timing rule
    double time_half_width_s = 0.0;  ///< 95 %, of call_s; 0 where it is not known
    /// Calls are issued one by one although the device waits for each: what it draws while it waits is taken off by
    /// its idle power and put back for call_s alone. For launch-bound calls that cannot be replayed as a graph.
    bool waits_between_calls = false;
    std::uint64_t seed = 1;  ///< of the random pauses before a sensor that looks away
};

/// Energy, or why there is none.
struct EnergyResult {
    std::optional<EnergySummary> summary;
    std::string missing_reason;
};

/// The length a window must have on this meter: six periods, window_s, and the longest for a sensor that does not see
/// calls of this length whole.
double window_length(const EnergyRule& rule, const MeterTraits& traits);

/// The energy rule of docs/method.md: load on until the meter has settled, a window from one renewal of the meter's
/// value to another, the load on throughout, and then drained. Never throws MeterLost: that is a missing reason.
EnergyResult measure_energy(Workload& workload, Meter& meter, Clock& clock, const EnergyRule& rule,
                            const MeterTraits& traits);

}  // namespace joulecast
