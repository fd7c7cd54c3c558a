#pragma once

namespace joulecast {

/// The clocks of a device over its highest ones, as models that were trained at several clocks see them.
struct ClockPlace {
    double x = 1;               ///< core clock / ClockParameters::highest_mhz
    double y = 1;               ///< memory clock / ClockParameters::memory_mhz
    double bytes_slowdown = 1;  ///< how many times as long bytes take there (clock_curve.h)
    friend bool operator==(const ClockPlace&, const ClockPlace&) = default;
};

}  // namespace joulecast
