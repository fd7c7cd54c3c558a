#pragma once

#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/graph/graph.h"
#include "joulecast/predict/model.h"
#include "joulecast/predict/predictor.h"

namespace joulecast {

class ForwardKernels;

/// An operation with all that forecasts need of it, computed once.
struct PreparedOperation {
    Operation operation;
    std::string signature;
    Dimensions dimensions;
    Roofline roofline;  ///< on the device asked for

    Family family() const { return dimensions.family; }
};

PreparedOperation prepare(const Operation& operation, const Device& device, Math math);
/// On the device of the model, as its setting multiplies.
PreparedOperation prepare(const Operation& operation, const DeviceModel& device);
/// The same operation on another device.
PreparedOperation on(PreparedOperation operation, const Device& device, Math math);

/// Of log(time): repeated measurements of one operation differ by about a percent, and no forecast is better than that.
inline constexpr double least_half_width = 0.01;
/// A factor of ten: where a model knows as little as that, the roofline would do.
inline constexpr double largest_half_width = 2.3;

/// A forecast of log(metric) by a learned model.
struct LogForecast {
    double log_value = 0;
    double half_width = 0;  ///< of the 90 % interval, in log
    double scale = 0;       ///< spread of the members + 0.01: what held-out errors are measured in
    bool inside = false;    ///< target and main sizes lie within what was trained
    /// Of a time on a device that was never measured: that of the kernel, launching left out.
    double kernel_s = std::numeric_limits<double>::quiet_NaN();
};

/// Absent where the family has no model, or the operation no law.
std::optional<LogForecast> forecast_log(const DeviceModel& device, std::span<const Feature* const> columns,
                                        const PreparedOperation& operation, Metric metric);

/// The same by one model of the device and a row of features as given, whatever the operation's own are: what a
/// forecast would be if they were others.
std::optional<LogForecast> forecast_log(const DeviceModel& device, const FamilyModel& model,
                                        std::span<const Feature* const> columns, const PreparedOperation& operation,
                                        const std::vector<float>& row);

/// The same as the model's parts are read in each of several ways, as it would be after a choice among them; empty
/// where the operation has no law.
std::vector<LogForecast> forecast_log(const DeviceModel& device, const FamilyModel& model,
                                      std::span<const Feature* const> columns, const PreparedOperation& operation,
                                      const std::vector<float>& row, std::span<const Reading> readings);

/// What the features of an operation look at, as a model of this device is asked: valid as long as all three.
FeatureContext feature_context(const DeviceModel& device, const FamilyModel& model, const PreparedOperation& operation,
                               std::optional<Law> law);

/// The row that the models of this device are asked with.
std::vector<float> feature_row(const DeviceModel& device, const FamilyModel& model,
                               std::span<const Feature* const> columns, const PreparedOperation& operation);

/// The base that a model's logarithm is relative to, in log; absent without a law.
std::optional<double> log_base(Base base, const DeviceModel& device, const PreparedOperation& operation);

/// What the host spends on issuing a call that took `call_s`: the fitted floor of its kind, and all of it for a view.
double issue_seconds(const DeviceModel& device, const PreparedOperation& operation, double call_s);

/// What a memory plan holds for a single call anyway: its outputs, and in training the gradients of its inputs.
double planned_bytes(const PreparedOperation& operation);

/// Peak memory is learned relative to the planned bytes (in predictors of version 1: to the bytes written), both raised
/// by a page: many operations need nothing.
inline constexpr double memory_offset_bytes = 4096;

/// Seconds per call of a measurement, as forecasts count it.
double measured_seconds(const Measurement& measurement);
/// Whether a row can be learned from: ok or unstable, with a positive time.
bool is_usable(const Measurement& measurement);

/// What was measured of one operation; power unknown() where there was no meter.
struct MeasuredOperation {
    Estimate<Seconds> time;
    Estimate<Watts> power;
};

/// Measured on one device and setting, by signature: operations found here need no forecast.
using MeasuredOperations = std::map<std::string, MeasuredOperation>;

/// Watts while the operation or the network ran again and again; NaN where there was no meter.
double measured_watts(const Measurement& measurement);
double measured_watts(const NetworkMeasurement& measurement);
/// Joules of a run of the network; NaN where there was no meter.
double measured_joules(const NetworkMeasurement& measurement);

/// Several rows of one operation: their median; the interval covers their spread and the widest of their own.
MeasuredOperations measured_operations(std::span<const OperationRow> rows);

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
