#pragma once

#include <optional>

#include "joulecast/forecast/prepared_operation.h"

namespace joulecast {

// Convolutions over all channels that are computed in float32 proper. What was published of such kernels is of 3x3 and
// stride 1 on cards up to Volta (NeuSight), nearly all of sizes that are no multiple of anything.

/// The matrix product that cuDNN computes such a convolution by, as a linear layer: rows are places of the result,
/// columns its channels. Absent for other calls, and for 3x3 of stride 1 on cards before Ampere, which were measured as
/// convolutions.
std::optional<Operation> as_plain_product(const PreparedOperation& convolution, const Device& device);

/// Seconds that the product takes at least, as cuDNN computes it: tiles of 128 places by 64 channels, each of which one
/// unit sums over the whole depth. Two layers of 3x3 whose tiles leave units idle take an H100 and an
/// H200 1.02 to 1.06 times as long (datasets/h100-sxm.csv, h200-families.csv). 0 for other calls and before Ampere.
double least_in_tiles_s(const PreparedOperation& convolution, const Device& device);

/// Seconds of a forward pass of 3x3 and stride 1 by Winograd's transforms, with 4x4 results of each tile (Lavin and
/// Gray 2016) and the transformed tiles in memory: input and result once, all tiles written and read before and after
/// 36 matrix products, which need a quarter of the direct arithmetic and reach 0.8 of the peak; four kernels. Infinite
/// for other calls and on all but Ampere and Ada: Hopper's cuDNN does not take them. No number of it was fitted to the
/// layers of a thesis on an A30, but its form was chosen with them in sight (docs/decisions/0054).
double winograd_s(const PreparedOperation& convolution, const Device& device);

}  // namespace joulecast
