#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace joulecast {

/// The state of a device at one moment, read around every measured window; NaN or empty: the device does not tell.
struct DeviceState {
    double sm_clock_mhz = std::numeric_limits<double>::quiet_NaN();  ///< of a CPU: the cores' mean
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();
    double power_limit_w = std::numeric_limits<double>::quiet_NaN();
    double temperature_c = std::numeric_limits<double>::quiet_NaN();
    std::string performance_state;       ///< "P0"; of a CPU: the frequency governor
    std::uint64_t throttle_reasons = 0;  ///< NVML's clocks-event bits
    /// Seconds throttled so far, by the driver's own counters.
    double power_capped_s = std::numeric_limits<double>::quiet_NaN();
    double thermally_limited_s = std::numeric_limits<double>::quiet_NaN();
};

/// Reads a device's state. Never throws: what cannot be read stays NaN.
class DeviceStateProbe {
  public:
    virtual ~DeviceStateProbe() = default;
    virtual DeviceState read() = 0;
};

}  // namespace joulecast
