#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "joulecast/graph/graph.h"

namespace joulecast {

/// A run of calls of one module that torch.utils.checkpoint (use_reentrant=False) wraps: its forward pass keeps nothing
/// but what comes in, and the first of its backward calls runs it again.
struct Segment {
    std::size_t first = 0;
    std::size_t end = 0;           ///< one past its last call
    std::size_t repeated_end = 0;  ///< one past the last call that keeps something: torch stops there (early_stop)
    std::string module_path;
};

/// The blocks of a training graph that people checkpoint: consecutive calls of one numbered module that has modules of
/// its own and two calls at least that keep something for backward. Numbered are components with a digit; of a path
/// the first run of them counts, which ends where a plain number ends: "layer1.0" of "layer1.0.downsample.1",
/// "features.1.0" of "features.1.0.attn.qkv", "h.3" of "h.3.mlp.c_fc", "denseblock1.denselayer2". Layers of a plain
/// sequence (VGG's) are no blocks: to run one again would save nothing. Empty in inference, for a bag, and without
/// module paths.
std::vector<Segment> checkpoint_segments(const Graph& graph);

/// The graph and, behind it, the forward calls that backward repeats, without gradients: for what a step costs. Memory
/// is planned on the graph itself.
Graph with_repeated_calls(Graph graph, std::span<const Segment> segments);

}  // namespace joulecast
