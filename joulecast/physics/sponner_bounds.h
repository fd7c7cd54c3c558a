#pragma once

#include <cstdint>
#include <optional>

#include "joulecast/graph/graph.h"
#include "joulecast/physics/memory.h"

namespace joulecast {

/// The two estimates of a network's whole memory by Sponner, Waschneck, Kumar, "AI-Driven Performance Modeling for AI
/// Inference Workloads" (Electronics 2022, section 6), out of the estimates M_n of its n layers. Baselines: they know
/// nothing of which tensors live together.
struct SponnerBounds {
    double optimistic_bytes = 0;   ///< equation 3: 2 * (sum of M_n) / n
    double pessimistic_bytes = 0;  ///< the two largest M_n added
    std::int64_t layers = 0;       ///< n
};

/// M_n is what a call of its own needs: the tensors it is given (weights too), its outputs and its workspace, as their
/// compiler adds them up. Layers are the kinds they model: convolutions, matrix products (their dense layers) and
/// pooling; they neglect activation functions. In a bag a call counts as often as it is made. Absent without a layer.
std::optional<SponnerBounds> sponner_bounds(const Graph& graph, const Workspace& workspace = {});

}  // namespace joulecast
