#pragma once

#include "joulecast/features/dimensions.h"
#include "joulecast/graph/operation.h"

namespace joulecast {

/// Parts of eager_kernels.h: cycles of a unit that PyTorch's eager kernels take for calls that move elements about,
/// 0 where bytes tell. Both passes in training.

/// An average over whole planes, which is a sum of many short rows.
bool is_mean_of_planes(const Operation& operation, const Dimensions& size);

/// Pooling by windows, averages over planes, enlarging.
double pooling_cycles(const Operation& operation, const Dimensions& size);

/// Of each element that is copied into the order of its result from where it lies now.
double cycles_of_ordered_element(const TensorType& from);

/// Copies into another order or type, joining, rolling, padding.
double copy_cycles(const Operation& operation, const Dimensions& size);

/// Sums and their like.
double reduction_cycles(const Operation& operation, const Dimensions& size);

}  // namespace joulecast
