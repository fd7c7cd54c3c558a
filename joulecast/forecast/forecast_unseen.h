#pragma once

#include <optional>
#include <span>
#include <vector>

#include "joulecast/forecast/forecast_log.h"
#include "joulecast/forecast/forward_kernels.h"

namespace joulecast {

/// A backward pass at the forward one's efficiency is off by about this much (standard deviation of the log; a
/// judgement from two GPUs' nodes), and those of a network all the same way.
inline constexpr double backward_deviation = 0.15;

/// Time of a call on a device that was never measured (DeviceModel::unseen): its kernel, by the model over other
/// devices and what is known of their errors, and its launch. A call in training whose kind was measured in inference
/// alone: its backward pass at the forward one's share of the roofline, and the gradients of its weights added to those
/// that are there. Absent where the family has no model or law. Forward passes that are known are not forecast anew.
std::optional<LogForecast> forecast_unseen(const DeviceModel& device, std::span<const Feature* const> columns,
                                           const PreparedOperation& operation, ForwardKernels& known);

}  // namespace joulecast
