#pragma once

#include <optional>

#include "joulecast/device/device.h"
#include "joulecast/features/dimensions.h"
#include "joulecast/graph/operation.h"

namespace joulecast {

/// Parts of eager_kernels.h: cycles of a unit that PyTorch's eager kernels take for calls that move elements about,
/// 0 where bytes tell. Both passes in training.

/// An average over whole planes, which is a sum of many short rows.
bool is_mean_of_planes(const Operation& operation, const Dimensions& size);

/// Pooling by windows, averages over planes, enlarging.
double pooling_cycles(const Operation& operation, const Dimensions& size);

/// Bilinear, bicubic and trilinear enlarging of planes that lie one behind the other. Each place of the result has a
/// thread, which takes all images and channels in turn: few places keep few units at work, however many channels there
/// are.
struct Interpolation {
    double planes = 0;  ///< images times channels
    double places = 0;  ///< of the result, in each
    double blocks = 0;  ///< of threads
};

/// Absent for all other calls.
std::optional<Interpolation> interpolation(const Operation& operation, const Dimensions& size);

/// What it takes of the clock, whatever the number of units beyond its blocks.
double interpolation_cycles_in_turn(const Operation& operation, const Dimensions& size, const Device& device);

/// Of each element that is copied into the order of its result from where it lies now.
double cycles_of_ordered_element(const TensorType& from);

/// Copies into another order or type, joining, rolling, padding.
double copy_cycles(const Operation& operation, const Dimensions& size);

/// Sums and their like.
double reduction_cycles(const Operation& operation, const Dimensions& size);

}  // namespace joulecast
