#pragma once

#include <limits>

namespace joulecast {

/// A device's idle power at one clock, as it was measured.
struct IdlePoint {
    double sm_clock_mhz = 0;
    double power_w = 0;                                            ///< context alive, nothing running
    double voltage_mv = std::numeric_limits<double>::quiet_NaN();  ///< of the core; NaN: not read
    friend bool operator==(const IdlePoint&, const IdlePoint&) = default;
};

}  // namespace joulecast
