#include "joulecast/forecast/fused_calls.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "joulecast/graph/family.h"
#include "joulecast/model/fusion_calls.h"
#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

/// By which the anchor of a group is chosen.
std::pair<std::int64_t, std::int64_t> work_of(const Operation& operation) {
    const Counts counts = forward_counts(operation);
    return {counts.flop, counts.bytes_read + counts.bytes_written};
}

/// Bytes that an engine without strides moves for a view: none where the numbers stay in their order.
double moved_bytes(const Graph& graph, const Node& node) {
    if (family(node.operation) != Family::view) return 0;
    const Moved elements = moved(graph, node);
    if (elements == Moved::no || elements == Moved::same || elements == Moved::kept) return 0;
    std::int64_t bytes = 0;
    for (const TensorType& output : node.outputs) bytes += byte_count(output);
    return 2 * static_cast<double>(bytes);
}

/// The anchor of each group, by the group.
std::map<std::int32_t, std::size_t> anchors_of(const Graph& graph, const FusionGroups& groups) {
    std::map<std::int32_t, std::size_t> anchors;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (groups[i] == not_run) continue;
        const auto [found, is_new] = anchors.try_emplace(groups[i], i);
        if (!is_new && work_of(graph.nodes[i].operation) > work_of(graph.nodes[found->second].operation))
            found->second = i;
    }
    return anchors;
}

std::vector<CallRole> roles_of(const Graph& graph, const FusionGroups& groups) {
    const auto anchors = anchors_of(graph, groups);
    std::vector<CallRole> roles;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const Node& node = graph.nodes[i];
        if (groups[i] == not_run) {
            roles.push_back({.text = role_not_run, .factor = 0});
        } else if (const std::size_t anchor = anchors.at(groups[i]); anchor != i) {
            roles.push_back({.text = role_by_family(graph.nodes[anchor].operation) + "+" + plain_name(node.operation)});
        } else if (const double bytes = moved_bytes(graph, node); bytes > 0) {
            roles.push_back({.text = "copy by " + plain_name(node.operation), .moved_bytes = bytes});
        } else {
            roles.push_back({.text = role_by_family(node.operation)});
        }
    }
    return roles;
}

}  // namespace

double usual_factor(const std::string& role) {
    if (role == role_not_run) return 0;
    return role.find('+') == std::string::npos ? 1 : share_of_fused;
}

std::string role_by_family(const Operation& operation) {
    const Family kind = family(operation);
    return std::string(name(kind)) + (kind == Family::convolution && is_depthwise(operation) ? "/depthwise" : "");
}

IssueOrder with_roles(const IssueOrder& order, const std::vector<CallRole>& of_nodes) {
    IssueOrder split;
    std::map<std::pair<std::uint32_t, CallRole>, std::uint32_t> places;
    for (IssuedCall call : order.calls) {
        const CallRole& role = of_nodes.at(static_cast<std::size_t>(call.node));
        const auto next = static_cast<std::uint32_t>(split.kinds.size());
        const auto [place, is_new] = places.try_emplace({call.kind, role}, next);
        if (is_new) {
            CallKind kind = order.kinds[call.kind];
            kind.count = 0;
            kind.role = role.text;
            kind.role_factor = role.factor;
            kind.moved_bytes = role.moved_bytes;
            if (role.kernel_s) kind.kernel_s = *role.kernel_s;
            split.kinds.push_back(std::move(kind));
        }
        call.kind = place->second;
        ++split.kinds[call.kind].count;
        split.calls.push_back(call);
    }
    return split;
}

IssueOrder with_roles(const IssueOrder& order, const Graph& graph, const FusionGroups& groups) {
    return with_roles(order, roles_of(graph, groups));
}

IssueOrder with_fusion(const IssueOrder& order, const Graph& graph, const FusionModel& fusion) {
    IssueOrder split = with_roles(order, graph, fusion_groups(graph, fusion));
    for (CallKind& kind : split.kinds) {
        const FusionFactor* fitted = find_factor(fusion, kind.role);
        kind.role_factor = fitted != nullptr ? fitted->factor : usual_factor(kind.role);
    }
    return split;
}

const FusionModel* fusion_of(const DeviceModel& device, const Graph& graph, const std::string& precision) {
    if (graph.mode != Mode::inference || !graph.has_edges) return nullptr;
    const auto found = std::ranges::find(device.fusions, precision, &FusionModel::precision);
    if (found != device.fusions.end()) return &*found;
    return precision == "default" ? fusion_of(device, graph, "fp32") : nullptr;  // as network_correction() has it
}

FusedCalls fused_calls(const IssueOrder& order, const FusionModel& fusion) {
    FusedCalls found;
    found.framework = fusion.framework;
    found.networks = fusion.networks;
    found.sigma = fusion.sigma;
    for (const CallKind& kind : order.kinds) {
        const Family of = family(kind.operation);
        if (costs_nothing(of)) continue;
        if (kind.role == role_not_run)
            found.not_run += kind.count;
        else if (kind.role.find('+') != std::string::npos)
            found.fused += kind.count;
        else
            found.alone += kind.count;
    }
    return found;
}

}  // namespace joulecast
