#pragma once

#include <string>

#include "joulecast/model/predictor.h"
#include "joulecast/physics/clock_place.h"

namespace joulecast {

/// An operation with all that forecasts need of it, computed once.
struct PreparedOperation {
    Operation operation;
    std::string signature;  ///< empty where prepare_unnamed() made it
    Dimensions dimensions;
    Roofline roofline;       ///< on the device asked for, at `clocks`
    ClockPlace clocks = {};  ///< of models trained at several clocks; of others all 1, whatever clock they hold at
    Math math = Math::ieee;  ///< how its f32 products are computed: ieee or tf32

    Family family() const { return dimensions.family; }
};

PreparedOperation prepare(const Operation& operation, const Device& device, Math math);
/// On the device of the model, as its setting multiplies.
PreparedOperation prepare(const Operation& operation, const DeviceModel& device);
PreparedOperation prepare(const Operation& operation, const DeviceModel& device, const ClockPlace& clocks);
/// The same without a signature, which takes longer to write than some forecasts do: for calls under whose name nothing
/// is kept.
PreparedOperation prepare_unnamed(const Operation& operation, const Device& device, Math math);
PreparedOperation prepare_unnamed(const Operation& operation, const DeviceModel& device, const ClockPlace& clocks);
/// The same operation on the same device at other clocks.
PreparedOperation at_clocks(PreparedOperation operation, const ClockPlace& clocks);
/// The roofline at the highest clocks.
Roofline roofline_at_highest(const PreparedOperation& operation);
/// The same operation on another device, at its highest clocks.
PreparedOperation on(PreparedOperation operation, const Device& device, Math math);

/// Of the numbers that the call computes with, where float32 is multiplied so.
NumberWidth number_width(const Operation& operation, Math math);
/// Its place among the errors of a model over others, on that device.
ResidualPlace residual_place(const PreparedOperation& operation, const Device& device);

/// Launches of a call, each of which its host issues: one, in training another for the gradient of the input, and one
/// for that of the weight. ResNet-50 in training took an H200's host 3.9 times what inference took, BERT 4.6 to 6
/// times. Kernels that torch calls within a call count half; in training, where each is recorded and has a backward
/// one, those of attention whole.
double launches(const PreparedOperation& operation, const Device& device);

/// Gradients that the backward pass computes apart: that of the input and that of the weight; 0 without one.
double gradients(const Dimensions& call);
double gradients(const PreparedOperation& operation);

/// What a memory plan holds for a single call anyway: its outputs, and in training the gradients of its inputs.
double planned_bytes(const PreparedOperation& operation);

}  // namespace joulecast
