#pragma once

#include <string>

#include "joulecast/predict/model.h"

namespace joulecast {

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

/// What a memory plan holds for a single call anyway: its outputs, and in training the gradients of its inputs.
double planned_bytes(const PreparedOperation& operation);

}  // namespace joulecast
