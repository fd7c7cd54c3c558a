#pragma once

#include "joulecast/graph/graph.h"

namespace joulecast {

/// Decomposed ATen (what torch's run_decompositions() leaves, and what other formats spell out) in the plain form that
/// the records describe: convolution becomes conv2d, view + addmm of a transposed weight + view becomes linear,
/// native_layer_norm with its first result alone becomes layer_norm, and so on. FLOPs, outputs and edges stay; nodes
/// whose results only the folded nodes took are gone. What fits no pattern is left as it is. Needs edges.
Graph fold_decomposed(Graph graph);

}  // namespace joulecast
