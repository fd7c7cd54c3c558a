#pragma once

#include "joulecast/graph/autocast.h"
#include "joulecast/graph/graph.h"

namespace joulecast {

/// The calls that a network makes after network.to(memory_format=torch.channels_last), given images that lie so:
/// parameters, buffers and, of a network of images, inputs of four dimensions lie with their channels last, and every
/// call is given and returns what torch's rules make of that (graph/strides.h). Copies that become necessary, and those
/// that no longer are, follow from it. On a GPU some copies are made inside of other calls and stand before these as
/// aten::contiguous: a convolution turns what comes contiguous, group_norm and the paddings that are no constant take
/// nothing but that.
///
/// The graph is one before autocast(). Throws UnsupportedError for a bag of operations, and where a call does not take
/// such tensors, as in torch: a view() of them.
Graph with_channels_last(const Graph& graph, AutocastDevice device);

}  // namespace joulecast
