#pragma once

#include "joulecast/graph/operation.h"

namespace joulecast {

/// Of the square tiles of attention's scores, those on and below the diagonal: (n + 1) / 2n of n rows of tiles, which
/// are all that kernels compute where it is causal. FLOPs count the others as if there. 1 for all other calls.
double share_below_diagonal(const Operation& attention, double edge_of_tile);

}  // namespace joulecast
