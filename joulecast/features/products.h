#pragma once

#include "joulecast/features/dimensions.h"
#include "joulecast/graph/operation.h"
#include "joulecast/physics/tiles.h"

namespace joulecast {

/// The matrix products of an operation on a device of so many units: a convolution's with images and places as rows
/// (implicit GEMM), attention's two, in training those of the gradients that it computes. None where there is none, for
/// depth-wise convolutions and for results narrower than 8 columns, which no library computes so.
Products products(const Operation& operation, const Dimensions& dimensions, int units);

}  // namespace joulecast
