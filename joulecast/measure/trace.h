#pragma once

#include <span>
#include <string>
#include <vector>

#include "joulecast/measure/power_samples.h"
#include "joulecast/meter/meter.h"

namespace joulecast {

// Energy and power of any program, out of the readings of a meter that was looked at all along.

/// What a meter tells of the time between two moments; NaN: not known, and then missing_reason says why.
struct TraceEnergy {
    double energy_j = std::numeric_limits<double>::quiet_NaN();
    double power_w = std::numeric_limits<double>::quiet_NaN();       ///< mean
    double peak_power_w = std::numeric_limits<double>::quiet_NaN();  ///< highest of the power samples
    std::string missing_reason;
};

/// Readings, in the order they were taken, as power: what a power meter said, or of a counter the mean power between
/// two renewals of its value, at the later one.
std::vector<PowerSample> power_samples(std::span<const MeterReading> readings, bool counts_energy);

/// Of a counter the difference of its value, which is taken to rise evenly between two renewals; of a power meter the
/// area below straight lines between the readings, the outermost of which hold for a second at most. Where readings
/// lie more than a second and ten usual distances apart, a power meter dropped out: energy is not told if that, and
/// what lies before the first and after the last reading, is more than a tenth of the time. A counter goes on counting
/// during a drop-out; it must have been read at both ends.
TraceEnergy energy_between(std::span<const MeterReading> readings, bool counts_energy, double start_s, double end_s);

/// Mean of repeats and what is known of it; half width 95 % by Student's t, NaN below two.
struct Repeated {
    double mean = std::numeric_limits<double>::quiet_NaN();
    double half_width = std::numeric_limits<double>::quiet_NaN();
};
Repeated repeated(std::span<const double> values);

}  // namespace joulecast
