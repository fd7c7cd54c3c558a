#pragma once

#include <span>
#include <vector>

#include "joulecast/model/predictor.h"

namespace joulecast {

/// The device's own effect if it is among them, else the others' median. NaN for none.
double middle_effect(std::span<const DeviceEffect> effects, const Device& device);

/// What networks on such a device are off by beyond their operations, as a standard deviation, before one was measured:
/// NeuSight's GPUs left out in turn.
inline constexpr double network_deviation = 0.05;

/// What a network's operations are off by together, as the standard deviation that its 90 % interval stands for.
double deviation_of_networks(const ResidualProcess& residual, const ResidualProcess::Belief& belief);

/// The model of a device from its data sheet. Throws Error for a sheet without float32 peak, bandwidth or units, and
/// for a device of another kind.
DeviceModel instantiate(PooledModel pooled, const Device& device);

/// Whether its sheet has what instantiate() needs.
bool has_needed_figures(const Device& device);

/// The models of a device by those of its kind, for each way of multiplying float32 (float32_math.h). Throws as
/// instantiate() does.
std::vector<DeviceModel> instantiate_all(std::vector<PooledModel> pooled, const Device& device);

}  // namespace joulecast
