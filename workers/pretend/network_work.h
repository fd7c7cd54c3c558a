#pragma once

#include "joulecast/measure/measurement.h"
#include "workers/pretend/card.h"
#include "workers/pretend/kernel.h"

namespace joulecast::pretend {

/// The optimizer's update as foreach kernels: passes over the parameters, and copies of them that it keeps.
struct Update {
    int passes = 0;
    double state_copies = 0;
};
Update update_of(Optimizer optimizer);

/// What a run of the network issues, in order: forward, and in training where `whole` backward from the last call to
/// the first, then the update. What each kernel finds in the last cache follows from the bytes touched since its
/// tensors were. Throws FormatError for edges that lead nowhere.
Work work_of(const Card& card, const Graph& graph, Optimizer optimizer, bool whole);

/// "" where the card computes all types of the graph and each of its calls is known; else why not.
std::string why_unsupported(const Card& card, const Graph& graph);

}  // namespace joulecast::pretend
