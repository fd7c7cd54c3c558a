#pragma once

#include "joulecast/device/device.h"
#include "joulecast/measure/measurement.h"
#include "joulecast/meter/device_state.h"

namespace joulecast {

/// What the device was like around a window, from its state before and after, both read under load. Limited by heat
/// or power when a reason says so at either end, or when the driver's counter of throttled time moved by more than a
/// hundredth of `window_s`; heat is named before power. `unknown` where the device tells neither.
Conditions conditions_around(const DeviceState& before, const DeviceState& after, double window_s);

/// Puts the real clocks (means of before and after) and the power limit into the point, where they are known.
void set_real_point(const DeviceState& before, const DeviceState& after, OperatingPoint& point);

}  // namespace joulecast
