#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "joulecast/device/cost.h"

namespace joulecast {

/// What was measured of one operation at one clock.
struct MeasuredAtClock {
    double sm_clock_mhz = 0;  ///< as read, else as asked for
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    Estimate<Seconds> time;
    Estimate<Watts> power;
};

/// What was measured of one operation; power unknown() where there was no meter.
struct MeasuredOperation {
    Estimate<Seconds> time;
    Estimate<Watts> power;
    std::vector<MeasuredAtClock> at_clocks = {};  ///< by clock, where clocks are known; `time` is of all of them
    bool is_of_device = false;                    ///< issuing was timed apart: the time is all of it the device's
};

/// Measured on one device and setting, by signature: operations found here need no forecast.
using MeasuredOperations = std::map<std::string, MeasuredOperation>;

}  // namespace joulecast
