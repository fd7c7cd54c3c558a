#pragma once

#include <limits>

#include "joulecast/meter/meter.h"

namespace joulecast {

/// What an energy window must know of its meter: found by calibration (calibration.h), or taken from what the meter
/// says of itself.
struct MeterTraits {
    double period_s = 0.1;     ///< its value renews itself this often (tau)
    double read_cost_s = 0.0;  ///< of one read()
    double settle_s = 0.3;     ///< until its value stands for a load that has begun
    double duty = 1.0;         ///< share of each period that the sensor looks at
    double idle_power_w = std::numeric_limits<double>::quiet_NaN();  ///< context alive, nothing running
    bool suspect = false;  ///< energy and integrated power lie more than 3 % apart
};

/// As far as the meter tells; the period of a meter that does not is 0.1 s, the longest that is common.
MeterTraits traits_from(const MeterFacts& facts);

}  // namespace joulecast
