#pragma once

#include <optional>
#include <string>
#include <vector>

#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/issue_order.h"
#include "joulecast/graph/graph.h"
#include "joulecast/model/fusion_groups.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

// A network under an engine that fuses calls. Its kernels do groups of calls (model/fusion_groups.h). Of each group the
// call with most arithmetic, or else most bytes, is the anchor; the others are fused into it. Each call has a role:
//   "convolution"           runs alone or is the anchor, by its family ("convolution/depthwise")
//   "convolution+relu"      a relu that is fused into a convolution
//   "copy by transpose"     a view for torch that this engine copies
//   "not run"               in no kernel: folded into weights, or a view for the engine too
// A call takes what it takes alone times the factor of its role, which was fitted to measured networks.

inline constexpr const char* role_not_run = "not run";

/// Of a role that no measured network had: a call that runs takes what it takes alone; of one that is fused this share.
inline constexpr double share_of_fused = 0.2;
double usual_factor(const std::string& role);

/// What a node of the graph is in the kernels of its engine.
struct CallRole {
    std::string text;
    double factor = 1;                    ///< of what the call takes alone
    double moved_bytes = 0;               ///< of a view that the engine copies
    std::optional<double> kernel_s = {};  ///< as CallKind::kernel_s; absent: the call itself runs

    auto operator<=>(const CallRole&) const = default;
};

/// Of a call that runs alone: "matmul", "convolution/depthwise".
std::string role_by_family(const Operation& operation);

/// The order with kinds of calls split by the role of their node. The order is that of the graph in inference, with
/// edges.
IssueOrder with_roles(const IssueOrder& order, const std::vector<CallRole>& of_nodes);
/// The same by groups; all factors are 1, but 0 for what is not run.
IssueOrder with_roles(const IssueOrder& order, const Graph& graph, const FusionGroups& groups);

/// The order as the model's rules and factors have it.
IssueOrder with_fusion(const IssueOrder& order, const Graph& graph, const FusionModel& fusion);

/// How the device's engine fuses the network; nullptr where it is not known to: other precisions, training, and lists
/// of calls without edges.
const FusionModel* fusion_of(const DeviceModel& device, const Graph& graph, const std::string& precision);

/// What was fused, for reports.
FusedCalls fused_calls(const IssueOrder& order, const FusionModel& fusion);

}  // namespace joulecast
