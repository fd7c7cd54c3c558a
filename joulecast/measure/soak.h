#pragma once

#include <limits>

#include "joulecast/measure/workload.h"
#include "joulecast/meter/device_state.h"

namespace joulecast {

struct SoakRule {
    double longest_s = 60.0;
    double over_s = 10.0;  ///< the temperature must have risen by less than
    double rise_c = 1.0;   ///< this in that time
    double every_s = 0.5;  ///< between two looks
    double call_s = 0.0;   ///< about what a call takes
};

struct Soak {
    double soak_s = 0.0;  ///< kept busy for
    double temperature_c = std::numeric_limits<double>::quiet_NaN();
    bool settled = true;  ///< false: the temperature still rose at the end
};

/// Keeps the device busy until its temperature has settled: at least over_s, at most longest_s. A device that does not
/// tell its temperature is not kept busy at all.
Soak soak(Workload& load, DeviceStateProbe& state, Clock& clock, const SoakRule& rule);

}  // namespace joulecast
