#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "joulecast/graph/graph.h"

namespace joulecast {

/// Bytes a network needs, in the terms in which they are measured.
struct MemoryPlan {
    double resident_bytes = 0;  ///< parameters, buffers, constants and inputs: there before the call
    double peak_bytes = 0;      ///< the most that is alive at once above that
    double saved_bytes = 0;     ///< training: kept from forward to backward (part of the peak)
};

/// Scratch memory of one call beyond its outputs, in bytes.
using Workspace = std::function<double(const Operation&)>;

/// Plans the tensors of an eager run: outputs live from their node to their last reader, views and in-place calls share
/// the storage of their first tensor, the caller's inputs stay. Training keeps what Record::saved names until its
/// backward call, which walks the nodes in reverse, gradients alive from their first writer to their last reader and
/// parameter gradients to the end. Absent for a bag of operations: without edges nothing is known of lifetimes.
std::optional<MemoryPlan> plan_memory(const Graph& graph, const Workspace& workspace = {});

/// In place: the base name ends with an underscore ("aten::relu_").
bool is_in_place(const Operation& operation);

}  // namespace joulecast
