#pragma once

#include <optional>
#include <span>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/model/predictor.h"
#include "joulecast/physics/fit_physical_power.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// What a device does while a network of `seconds` runs again and again at `relative_clock`. Its kernels' times are not
/// known one by one: each is taken as long as its arithmetic or its bytes at two thirds of the data sheet's rates, and
/// two microseconds, and all of them together as no longer than the network. Symbolic sizes cost nothing.
Activity activity(const Graph& graph, const Device& device, Math math, double seconds, double relative_clock);

/// Rows with a measured power; none of a CPU, or of a device whose sheet lacks figures. The model has the laws that
/// tell a call's issuing from its work, and the setting's clock and limit.
std::vector<KernelPowerSample> power_samples(const DeviceModel& device, std::span<const TrainingRow> rows);

/// The network's mean power; absent as above. The clock is the one it was measured at, where that is known.
std::optional<KernelPowerSample> power_sample(const Device& device, const TrainingNetwork& network);

/// The model for devices on which no power was measured: fitted to the samples where they are of six devices or more,
/// which is one for each of its numbers, else the shipped one.
PhysicalPower physical_power_from(std::span<const KernelPowerSample> samples);

}  // namespace joulecast
