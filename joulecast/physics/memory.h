#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/graph/record.h"

namespace joulecast {

/// Parts of a step in the order in which they run; recomputed calls are those that checkpointing repeats.
enum class Pass { forward, recompute, backward, update };

std::string_view name(Pass pass);

/// What is alive while one call runs.
struct MemoryMoment {
    Pass pass = Pass::forward;
    std::int32_t node = -1;      ///< of the graph; -1 for the optimizer's update
    double bytes = 0;            ///< above resident_bytes, the call's own scratch included
    double workspace_bytes = 0;  ///< of these, the call's scratch
};

/// Bytes a network needs, in the terms in which they are measured.
struct MemoryPlan {
    double resident_bytes = 0;           ///< parameters, buffers, constants and inputs: there before the call
    double parameter_bytes = 0;          ///< of these
    double buffer_bytes = 0;             ///< of these, constants too
    double input_bytes = 0;              ///< of these
    double output_bytes = 0;             ///< of the graph's outputs, where they are no inputs
    double peak_bytes = 0;               ///< the most that is alive at once above resident_bytes
    double activation_bytes = 0;         ///< of the peak: what calls hand on and keep, and gradients of that
    double saved_bytes = 0;              ///< training: kept from forward to backward (part of the peak)
    double gradient_bytes = 0;           ///< of parameters, at the end of the backward pass
    double optimizer_bytes = 0;          ///< the optimizer's state, there all along (part of the peak)
    double workspace_bytes = 0;          ///< scratch of the call at the peak (part of it)
    double library_bytes = 0;            ///< what cuBLAS took and keeps, beside peak and resident
    std::size_t peak_at = 0;             ///< where in `timeline`
    std::vector<MemoryMoment> timeline;  ///< memory over time, call by call
    /// What a caching allocator takes from the device for all that, resident_bytes included (caching_allocator.h); NaN
    /// where blocks are given back at once, as on a CPU.
    double reserved_bytes = std::numeric_limits<double>::quiet_NaN();
};

/// Scratch memory of one call beyond its outputs, in bytes.
using Workspace = std::function<double(const Operation&)>;

/// What a training step keeps beside what its graph says.
struct StepMemory {
    double state_copies = 0;        ///< of every trained parameter, kept by the optimizer between steps
    double update_copies = 0;       ///< of every trained parameter, scratch of the update
    bool one_by_one = false;        ///< the update takes parameter by parameter: scratch of the largest alone
    std::int64_t accumulation = 1;  ///< micro-batches; above 1 the gradients are there from the step's begin
    bool checkpointing = false;     ///< as checkpoint_segments() says
};

/// How blocks are handed out.
struct Allocation {
    double rounding_bytes =
        1;                 ///< blocks are multiples of that (64 on a CPU is what the system takes, not what counts)
    bool caching = false;  ///< simulate reserved_bytes
    /// What a library of matrix products takes of the allocator for each thread that calls it, and keeps: forward and
    /// backward calls come from two.
    double library_bytes = 0;
};

struct MemorySettings {
    Workspace workspace = {};
    StepMemory step = {};
    Allocation allocation = {};
    bool python_holds = false;  ///< beside what is read, what held_by_python() says
    /// What autograd keeps of a call whose kernels on this device differ from those that the records are of (CUDA's,
    /// fused); absent, and without it: what they say.
    std::function<std::optional<KeptTensors>(const Operation&)> kept = {};
};

/// Plans the tensors of an eager run: outputs live from their node to their last reader, views and in-place calls share
/// the storage of their first tensor, the caller's inputs stay. Training keeps what Record::saved names until its
/// backward call; backward walks the nodes in reverse. The caller holds the graph's outputs until the step ends and
/// gives a gradient for each of them. Gradients live from their first writer to the backward call of their tensor's
/// producer, those of parameters to the step's end; a view's gradient is a view, and so is an addition's; a second
/// summand stands beside the sum until it is added (torch.autograd adds in place where nobody else holds the first).
/// Absent for a bag of operations: without edges nothing is known of lifetimes.
std::optional<MemoryPlan> plan_memory(const Graph& graph, const MemorySettings& settings = {});
inline std::optional<MemoryPlan> plan_memory(const Graph& graph, const Workspace& workspace) {
    return plan_memory(graph, MemorySettings{.workspace = workspace});
}

/// In place: the base name ends with an underscore ("aten::relu_").
bool is_in_place(const Operation& operation);

}  // namespace joulecast
