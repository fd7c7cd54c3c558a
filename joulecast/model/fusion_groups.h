#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph/graph.h"
#include "joulecast/measure/measurement.h"
#include "joulecast/model/fusion_rules.h"

namespace joulecast {

/// Of each node of a graph, the first node that runs in one kernel with it; not_run where no kernel does it.
using FusionGroups = std::vector<std::int32_t>;
inline constexpr std::int32_t not_run = -1;

/// What decides how a graph is fused, asked node by node in the graph's order.
struct FusionQuestion {
    std::int32_t node = 0;
    std::int32_t producer = -1;     ///< does the node join its group? -1: is the node not run?
    std::vector<std::string> keys;  ///< what is known of both, the most telling first
    bool otherwise = false;         ///< the answer where nothing is known of such calls
};
/// A key that holds for kinds of calls: most networks must agree on it.
bool is_of_kinds(std::string_view key);
using FusionAnswer = std::function<bool(const FusionQuestion&)>;

/// The groups that the answers make. Keys hold what fusion_calls.h says of a call and of the group that it might join:
/// names of ATen calls without overload, in place or not; whether a value has one reader, how many tensors the calls
/// read, the rank of the value, who reads the result; and whether a call depends on no input of the network or hands on
/// a tensor of the same type. A group is known by the calls that it has so far. The last keys are of kinds of calls
/// (names in < >). Arithmetic on sizes is never run. The graph has edges.
FusionGroups fusion_groups(const Graph& graph, const FusionAnswer& answer);
/// By the rules of a model.
FusionGroups fusion_groups(const Graph& graph, const FusionModel& fusion);

/// The groups that an engine's kernels make: those that share a node are one. Throws FormatError for a kernel of nodes
/// that the graph does not have.
FusionGroups groups_of_kernels(const Graph& graph, std::span<const NetworkKernel> kernels);

/// Nodes whose group is the same in both, of all but arithmetic on sizes.
struct GroupsAgreement {
    std::int64_t nodes = 0;
    std::int64_t right = 0;
};
GroupsAgreement agreement(const Graph& graph, const FusionGroups& told, const FusionGroups& measured);
}  // namespace joulecast
