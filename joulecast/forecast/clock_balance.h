#pragma once

#include <span>

#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/physics/clock_curve.h"
#include "joulecast/physics/kernel_levels.h"

namespace joulecast {

/// A call as a kernel of a workload's list; all zero for what computes nothing.
ListedKernel listed_kernel(const PreparedOperation& operation, const Device& device, Math math);

/// How a call's arithmetic and bytes balance on the device at its highest clocks, by its counts, in seconds of what
/// networks reach of the data sheet's rates; latency is left 0, since only the call's time tells it. All zero for what
/// computes nothing.
KernelTime clock_balance(const PreparedOperation& operation, const Device& device, Math math);

/// The kernel's parts so that it takes `kernel_s` at the clocks x and y: what arithmetic and bytes do not explain is
/// latency, up to some microseconds, and beyond that both are slower alike.
KernelTime with_latency(const KernelTime& balance, double kernel_s, const ClockParameters& parameters, double x,
                        double y);

/// Time and power of a single call over the clocks, from one point: there its kernel takes `kernel_s`, its host
/// `host_s`. What trees learned of whole workloads says nothing of it.
WorkloadCurve curve_of_call(const KernelTime& balance, double kernel_s, double host_s, ClockParameters parameters,
                            const ClockedPoint& known);

/// What the device works for a call: where that is not known apart, its time beyond what the host takes to issue it.
/// Seconds.
double kernel_seconds(const OperationForecast& operation);

/// NetworkForecast::compute_share of these calls at the highest clocks; NaN of none with a balance.
double compute_share(std::span<const OperationForecast> operations);

}  // namespace joulecast
