#pragma once

#include <limits>
#include <string>

#include "joulecast/measure/meter_traits.h"
#include "joulecast/measure/workload.h"
#include "joulecast/meter/meter.h"

namespace joulecast {

/// What there is to know of a meter before its numbers mean anything, by measuring it; NaN: could not be found.
struct Calibration {
    std::string meter;                                              ///< MeterFacts::name
    double period_s = std::numeric_limits<double>::quiet_NaN();     ///< between two renewals of its value, under load
    double quantum = std::numeric_limits<double>::quiet_NaN();      ///< J or W: its values are multiples of it
    double read_cost_s = std::numeric_limits<double>::quiet_NaN();  ///< of one read
    /// From a square wave of load: the power reading follows the load after lag_s (a tenth of the step) and rises for
    /// rise_s (from there to nine tenths).
    double lag_s = std::numeric_limits<double>::quiet_NaN();
    double rise_s = std::numeric_limits<double>::quiet_NaN();
    double idle_power_w = std::numeric_limits<double>::quiet_NaN();  ///< context alive, nothing running
    double busy_power_w = std::numeric_limits<double>::quiet_NaN();  ///< under the load calibrated with
    /// Counted energy / integrated power - 1, where the device has both.
    double idle_disagreement = std::numeric_limits<double>::quiet_NaN();
    double busy_disagreement = std::numeric_limits<double>::quiet_NaN();
    double duty = 1.0;  ///< share of each period that the sensor looks at; not measured, from the meter's facts
};

/// Energy and integrated power further apart than this, idle or busy: neither is to be trusted without saying so.
inline constexpr double suspect_disagreement = 0.03;
bool is_suspect(const Calibration& calibration);

/// For energy windows: what was found, and the meter's own word for what was not.
MeterTraits traits_from(const Calibration& calibration, const MeterFacts& facts);

/// What calibration works with. The load should be heavy, and calls short against the meter's period.
struct CalibrationBench {
    Workload& load;
    double call_s;
    Meter& meter;
    Meter* power;  ///< a second look at the same device's power, if `meter` counts energy; may be null
    Clock& clock;
};

struct CalibrationRule {
    double settle_s = 0.5;   ///< after load is put on or taken off
    double compare_s = 2.0;  ///< idle and busy, each
    int square_waves = 3;
    double half_wave_s = 0.4;
};

/// Measures the meter in 5 to 10 s: cost of a read, idle power, period and quantum under load, how power follows a
/// square wave of load, and energy against power. Throws MeterLost.
Calibration calibrate(const CalibrationBench& bench, const CalibrationRule& rule);

}  // namespace joulecast
