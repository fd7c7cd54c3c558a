#include "joulecast/report/shares.h"

#include <algorithm>
#include <cstdint>
#include <map>

namespace joulecast {

namespace {

std::string short_target(const Operation& operation) {
    const std::string& target = operation.target;
    return target.starts_with("aten::") ? target.substr(6) : target;
}

/// Adds the cost of `count` calls.
void set_cost(CallShare& call, const OperationForecast& cost, std::int64_t count) {
    const auto calls = static_cast<double>(count);
    call.time_s = cost.cost.device_time.value.value() * calls;
    call.energy_j = cost.energy.value.value() * calls;
}

}  // namespace

WorkKind work_kind(Family family) {
    switch (family) {
        case Family::convolution:
            return {"convolution", 1};
        case Family::matmul:
            return {"matrix products", 2};
        case Family::normalization:
            return {"normalisation", 3};
        case Family::attention:
        case Family::softmax:
            return {"attention and softmax", 4};
        case Family::elementwise:
        case Family::pooling:
        case Family::reduction:
        case Family::loss:
            return {"element-wise, pooling, reductions", 5};
        default:
            return {"copies, indexing, the rest", 6};
    }
}

std::vector<CallShare> call_shares(const ReportedForecast& forecast) {
    struct KnownCost {
        const OperationForecast* forecast = nullptr;
        std::int64_t left = 0;  ///< calls that no node was found for yet
    };
    std::map<std::string, KnownCost> costs;
    for (const OperationForecast& operation : forecast.network.operations) {
        KnownCost& cost = costs[signature(operation.operation)];
        cost.forecast = &operation;
        cost.left += operation.count;
    }
    std::vector<CallShare> calls;
    for (const Node& node : forecast.graph.nodes) {
        CallShare& call = calls.emplace_back();
        call.op = short_target(node.operation);
        call.module = node.module_path;
        call.source = node.source_line;
        call.family = family(node.operation);
        const auto found = costs.find(signature(node.operation));
        if (found == costs.end()) continue;
        set_cost(call, *found->second.forecast, node.count);
        found->second.left -= node.count;
    }
    for (const auto& [text, cost] : costs) {
        if (cost.left <= 0) continue;
        CallShare& call = calls.emplace_back();
        call.op = short_target(cost.forecast->operation);
        call.module = step_module;
        call.family = family(cost.forecast->operation);
        set_cost(call, *cost.forecast, cost.left);
    }
    return calls;
}

std::vector<NamedShare> shares_by(const std::vector<CallShare>& calls, std::string (*name_of)(const CallShare&)) {
    std::map<std::string, NamedShare> by_name;
    for (const CallShare& call : calls) {
        const std::string called = name_of(call);
        if (called.empty()) continue;
        NamedShare& share = by_name[called];
        share.name = called;
        share.time_s += call.time_s;
        share.energy_j += call.energy_j;
    }
    std::vector<NamedShare> sorted;
    for (auto& [called, share] : by_name) sorted.push_back(std::move(share));
    std::ranges::stable_sort(sorted, [](const NamedShare& a, const NamedShare& b) { return a.time_s > b.time_s; });
    return sorted;
}

}  // namespace joulecast
