#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/forecast/forecast_log.h"
#include "joulecast/forecast/prepared_operation.h"
#include "joulecast/model/predictor.h"

// Devices of which operations were measured, but too few for models of their own: the model over other devices, with
// their data sheet, is adjusted to them.
namespace joulecast {

/// A call that was measured on a device whose model is over others.
struct MeasuredCall {
    PreparedOperation operation;  ///< on whatever device
    double time_s = 0;
    bool is_of_device = false;  ///< the time is all of it the kernel's
};

/// What a model over others says of a call that was measured.
struct ToldCall {
    double kernel_s = 0;
    double launch_s = 0;  ///< what the measured time has beside the kernel; infinite where nobody knows
    ResidualPlace place;
};

/// `is_of_device`: the call's time is all of it the kernel's. Absent for views, and for what has no counts.
std::optional<ToldCall> told_call(const DeviceModel& model, std::span<const Feature* const> columns,
                                  const PreparedOperation& operation, bool is_of_device);

/// `columns` as everywhere: those of the predictor that the model is from. Adjusts a model over other devices to
/// operations measured on its device, at most as many as ResidualProcess takes; intervals narrow. Goes over what it was
/// adjusted to before. Does nothing without calls, and to models of a device's own.
void adjust_to(DeviceModel& model, std::span<const Feature* const> columns, std::span<const MeasuredCall> measured);

/// Whether an operation runs the same kernels under both: one that multiplies no float32 matrices does under any, and
/// so does attention that one kernel computes.
bool multiplies_alike(const Operation& operation, const Device& device, Math a, Math b);

/// Whether what a measured call was off by tells what the model is off by: calls that multiply matrices as the model
/// does, and all that multiply none. Products of 16 bits, which run alike whatever float32 does, are left out: they say
/// little of products in TF32 (an H200's ResNet-50 by default: 5 % too short without them, 10 % with).
bool tells_of(const DeviceModel& model, const Operation& operation, Math measured);

/// The calls that the model of a device learns from of those that a predictor keeps of it: the telling ones that
/// tell of the model. Throws FormatError for a signature that is none.
std::vector<MeasuredCall> telling_calls(const DeviceModel& model, std::span<const KeptDevice> kept);

/// Settings of that device among those that a predictor keeps, in order.
std::vector<KeptDevice> kept_of(const Predictor& predictor, const std::string& device);

/// The models of a device of which those are kept, by the models over others that are of its kind: for each way of
/// multiplying float32, as of instantiate_all(). `kept` is of one device, and not empty. Throws as instantiate() does.
std::vector<DeviceModel> start_from_others(std::span<const KeptDevice> kept, std::vector<PooledModel> pooled,
                                           std::span<const Feature* const> columns);

}  // namespace joulecast
