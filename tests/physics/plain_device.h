#pragma once

#include "joulecast/physics/clock_curve.h"

namespace joulecast::testing {

/// 1000 MHz, knee at 0.7, so that v(1) = 1 + 0.8 * 0.3 = 1.24; no static power.
inline ClockParameters plain_device() {
    ClockParameters parameters;
    parameters.highest_mhz = 1000;
    parameters.lowest_mhz = 200;
    parameters.memory_mhz = 2000;
    parameters.bandwidth_knee = 0.5;
    return parameters;
}

}  // namespace joulecast::testing
