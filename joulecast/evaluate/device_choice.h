#pragma once

#include <span>
#include <string>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/evaluate/clock_choice.h"
#include "joulecast/evaluate/cross_validate.h"

namespace joulecast {

/// How well forecasts choose among devices on which the same network (sizes, mode, precision, engine and host) was
/// measured: what the device that is best by forecast costs more than the one that is best as measured. `networks` are
/// forecasts of devices while they were left out; of several measurements of a network on a device the first counts.
/// Beside them rules that need no forecast:
///
///   newest device, largest bandwidth   by the data sheet
///   least TDP                          the cheapest to run, by the data sheet
///
/// For time, and where energy was measured and forecast on all its devices, for energy, energy times time, and energy
/// within 1.1 and 1.2 times what the fastest device takes. A rule has no line for networks on a device whose sheet
/// lacks its figure. Empty where no network was measured on two devices.
std::vector<ClockRegret> device_regrets(std::span<const NetworkAccuracy> networks, std::span<const Device> devices);

}  // namespace joulecast
