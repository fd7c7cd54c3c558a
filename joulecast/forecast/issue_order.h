#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "joulecast/forecast/training_setup.h"
#include "joulecast/graph/graph.h"

namespace joulecast {

/// One kind of call of a network: all calls of it cost the same.
struct CallKind {
    Operation operation;
    std::int64_t count = 0;
    StepPart part = StepPart::forward;  ///< forward: a node, in training with its backward pass
    double forward_work = 1;            ///< share of its work that is forward; 1 in inference
    double forward_issue = 1;           ///< share of its launches that are forward
    bool synchronises = false;          ///< the host waits for what it finds: item, nonzero

    // Of an optimizer's update for lists of parameters, which `operation` stands in for: an element-wise call over as
    // many elements as all of them have.
    std::string called;   ///< the call it stands in for: "aten::_foreach_add_"; empty: it is what is called
    double work = 1;      ///< bytes that the call moves over those of `operation`
    double launches = 1;  ///< kernels that one call launches

    // Under an engine whose fusion is known (fused_calls.h).
    std::string role = {};   ///< in the kernel that does it; empty: not known
    double role_factor = 1;  ///< of what the call takes alone
    double moved_bytes = 0;  ///< of a view that the engine copies
    /// What the kernel of generated code takes that the call stands for (compiled_calls.h); NaN: the call itself runs.
    double kernel_s = std::numeric_limits<double>::quiet_NaN();
};

inline constexpr std::int64_t most_accumulation = 1024;

/// A call in the order in which the host issues them.
struct IssuedCall {
    std::uint32_t kind = 0;
    std::int32_t node = -1;  ///< of the graph; -1: the update's, or a sum of gradients
    StepPart part = StepPart::forward;
};

/// What a network calls, and in which order: forward; in training then backward through the nodes in reverse, with an
/// addition wherever a further gradient of a tensor arrives (torch/csrc/autograd/input_buffer.cpp adds in place), all
/// of it as often as gradients accumulate, and the optimizer's update. With checkpointing each block's forward calls
/// come again before the first of its backward calls.
struct IssueOrder {
    std::vector<CallKind> kinds;    ///< those of the graph first, as count_operations() has them
    std::vector<IssuedCall> calls;  ///< empty for a bag of operations, whose order nobody knows
};

/// Throws Error for an optimizer or accumulation where the graph is one of inference or has no parameter that a
/// gradient flows to (a bag does not tell its parameters), and for an accumulation beyond most_accumulation.
IssueOrder issue_order(const Graph& graph, const TrainingSetup& training, Device::Kind kind);

}  // namespace joulecast
