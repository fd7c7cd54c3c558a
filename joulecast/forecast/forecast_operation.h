#pragma once

#include <span>
#include <vector>

#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/measured_operations.h"
#include "joulecast/forecast/prepared_operation.h"
#include "joulecast/graph/graph.h"

namespace joulecast {

class ForwardKernels;

/// What the host spends on issuing a call that took `call_s`: the fitted floor of its kind, and all of it for a view.
double issue_seconds(const DeviceModel& device, const PreparedOperation& operation, double call_s);

/// Cost of one call: measured, else the family's model, else the roofline with a wide interval, and never zero for
/// what is not known (Evidence::unknown then, and the value is the bytes' time). Symbolic nodes cost nothing in C++.
/// Power: measured, else the family's model, else by how busy the call keeps the device, with a wide interval. On a
/// device without any measured power: a GPU's by the physical model (device_power.h), of others unknown.
OperationForecast forecast_operation(const DeviceModel& device, std::span<const Feature* const> columns,
                                     const PreparedOperation& operation, const MeasuredOperations& measured);
/// The same with the forward passes that were forecast before, to which it adds its own.
OperationForecast forecast_operation(const DeviceModel& device, std::span<const Feature* const> columns,
                                     PreparedOperation&& operation, const MeasuredOperations& measured,
                                     ForwardKernels& known);
/// The different operations of a graph, in its order, each with how often it is called.
std::vector<OperationForecast> forecast_operations(const DeviceModel& device, std::span<const Feature* const> columns,
                                                   const Graph& graph, const MeasuredOperations& measured);

}  // namespace joulecast
