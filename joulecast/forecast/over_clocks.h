#pragma once

#include "joulecast/forecast/prepared_operation.h"
#include "joulecast/model/predictor.h"
#include "joulecast/physics/clock_place.h"

namespace joulecast {

// Models of devices whose operations were measured at several clocks. Law, features and power of an operation hold at
// its clocks: arithmetic takes 1/x of its time at the highest core clock, bytes bytes_slowdown() times as long, and
// what forests learn beside that sees both clocks.

/// Where the clocks of a point lie among those of the device; a clock that it does not tell counts as the highest. All
/// 1 for a model of one clock.
ClockPlace place_of(const DeviceModel& device, const OperatingPoint& point);
ClockPlace place_of(const ClockParameters& parameters, double sm_clock_mhz, double memory_clock_mhz);

/// Watts above idle power by the shares of the call's time, at the operation's clocks:
///
///     v^2 (flop_w F + x (busy_w B + active_w B A + on_w)) + byte_w M
///
/// F = flop_s / t and M = byte_s / t with both at the highest clocks, t the seconds of a call, B = work_share(), A =
/// active_share(), v relative_voltage(). The voltage of the memory does not follow the core's.
double dynamic_watts(const DeviceModel& device, const PreparedOperation& operation, const Law& law, double seconds);

/// Facts of the device's power at those clocks and without its limit: idle power by clock, no cap. For a model of one
/// clock those of power_facts_of().
PowerFacts power_facts_at(const DeviceModel& device, const ClockPlace& clocks);

}  // namespace joulecast
