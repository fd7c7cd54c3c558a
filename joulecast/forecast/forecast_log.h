#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

/// Power above idle counts as this share of idle power at least: below it is nothing but the meter's noise.
inline constexpr double least_dynamic_share = 0.02;

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
    bool is_own = false;  ///< of the same: told by measurements of the device itself, of which there are some
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

/// Peak memory is learned relative to the planned bytes (in predictors of version 1: to the bytes written), both raised
/// by a page: many operations need nothing.
inline constexpr double memory_offset_bytes = 4096;

}  // namespace joulecast
