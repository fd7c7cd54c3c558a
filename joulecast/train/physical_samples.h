#pragma once

#include <optional>
#include <span>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/model/predictor.h"
#include "joulecast/physics/fit_physical_power.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// What a device does while a network of `seconds` runs again and again at `relative_clock`, by the kernels that the
/// model forecasts of it: a network's power is forecast from the same. They are what the network's time went to,
/// however long they were thought to be. Absent where issuing them takes longer: how much of the time a kernel ran is a
/// guess then.
std::optional<Activity> activity(const DeviceModel& model, std::span<const Feature* const> columns, const Graph& graph,
                                 double seconds, double relative_clock);

/// Rows with a measured power; none of a CPU, or of a device whose sheet lacks figures. The model has the laws that
/// tell a call's issuing from its work, and the setting's clock and limit.
std::vector<KernelPowerSample> power_samples(const DeviceModel& device, std::span<const TrainingRow> rows);

/// The network's mean power; absent as above, and where its activity is. The clock is the one it was measured at, where
/// that is known.
std::optional<KernelPowerSample> power_sample(const DeviceModel& model, std::span<const Feature* const> columns,
                                              const TrainingNetwork& network);

/// The model for devices on which no power was measured: fitted to the samples where they are of six chips or more,
/// which is one for each of its numbers, else the shipped one.
PhysicalPower physical_power_from(std::span<const KernelPowerSample> samples);

}  // namespace joulecast
