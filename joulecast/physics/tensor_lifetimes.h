#pragma once

#include <cstddef>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/physics/memory.h"

namespace joulecast {

/// A block of memory and the first and last of the steps that it is alive in.
struct MemoryBlock {
    double bytes = 0;
    std::ptrdiff_t first = 0;
    std::ptrdiff_t last = 0;
    bool kept = false;          ///< from forward to backward
    bool transposed = false;    ///< a gradient that torch does not add to in place
    bool of_parameter = false;  ///< a parameter's gradient
};

/// Every block that a step of a network takes above its inputs, and for how long.
struct TensorLifetimes {
    std::vector<MemoryMoment> steps;          ///< calls in the order in which they run; of bytes their scratch alone
    std::vector<MemoryBlock> blocks;          ///< in the order in which they are taken
    std::vector<std::size_t> trained_inputs;  ///< of the graph: those that get a gradient
    double trained_bytes = 0;                 ///< of these
    double gradient_bytes = 0;                ///< of their gradients
    double output_bytes = 0;                  ///< of the graph's outputs, where they are no inputs
};

/// By the rules that plan_memory() tells, for a graph with edges. Throws FormatError where its nodes are in no
/// topological order.
TensorLifetimes tensor_lifetimes(const Graph& graph, const MemorySettings& settings);

}  // namespace joulecast
