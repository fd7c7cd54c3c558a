#pragma once

#include "joulecast/graph/graph.h"

namespace joulecast {

/// The graph with its linear layers as products of f8e4m3fn: aten::linear, and aten::addmm with a parameter, whose
/// sizes are multiples of 16 (the kernel takes no others) become aten::_scaled_mm. Their weights are parameters of that
/// type, stored as they are multiplied; their activations are divided by a scale known beforehand and cast before every
/// such call. What comes out is of the type that came before. The rest of the graph stays as it is. Scales are further
/// inputs of the graph. Weights that something else uses too (tied embeddings) keep their type, and so do their calls.
/// Throws Error for a bag of operations, and for a graph in which no linear layer can be such a product.
Graph with_fp8_linears(const Graph& graph);

}  // namespace joulecast
