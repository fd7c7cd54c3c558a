#pragma once

#include <string>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/profile/clock_settings.h"

namespace joulecast {

/// "a100@900/1215": a device, and the clocks in MHz that it is asked to run at.
struct DeviceAtClock {
    std::string device;
    OperatingPoint asked;  ///< NaN where nothing is said
};

/// Throws UsageError for what stands behind an @ and is no clock, or clock/clock.
DeviceAtClock device_at_clock(const std::string& text);

/// Every clock with every memory clock and every limit of the wish; "all" clocks are those of the device's table. None
/// where nothing is asked: the forecast is for the clock that the device was measured at. Throws UsageError for "all"
/// of a device whose clocks are not known, and for clocks that are named both behind the @ and in the wish.
std::vector<OperatingPoint> points_asked(const OperatingPoint& at, const ClockWish& wish, const Device& device);

}  // namespace joulecast
