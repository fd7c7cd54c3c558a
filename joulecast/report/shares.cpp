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

namespace {

struct KnownCost {
    const OperationForecast* forecast = nullptr;
    std::int64_t left = 0;  ///< calls that no node was found for yet
};

/// By signature; several of one are its roles in the kernels of an engine that fuses calls.
using KnownCosts = std::map<std::string, std::vector<KnownCost>>;

KnownCosts costs_of(const NetworkForecast& network) {
    KnownCosts costs;
    for (const OperationForecast& operation : network.operations) {
        std::vector<KnownCost>& known = costs[signature(operation.operation)];
        if (known.empty() || !operation.role.empty()) known.emplace_back();
        known.back().forecast = &operation;
        known.back().left += operation.count;
    }
    return costs;
}

/// One that has calls left.
KnownCost& next_of(std::vector<KnownCost>& known) {
    const auto left = std::ranges::find_if(known, [](const KnownCost& cost) { return cost.left > 0; });
    return left == known.end() ? known.back() : *left;
}

}  // namespace

std::vector<CallShare> call_shares(const ReportedForecast& forecast) {
    KnownCosts costs = costs_of(forecast.network);
    std::vector<CallShare> calls;
    for (const Node& node : forecast.graph.nodes) {
        CallShare& call = calls.emplace_back();
        call.op = short_target(node.operation);
        call.module = node.module_path;
        call.source = node.source_line;
        call.family = family(node.operation);
        const auto found = costs.find(signature(node.operation));
        if (found == costs.end()) continue;
        KnownCost& cost = next_of(found->second);
        set_cost(call, *cost.forecast, node.count);
        cost.left -= node.count;
    }
    for (const auto& [text, known] : costs) {
        for (const KnownCost& cost : known) {
            if (cost.left <= 0) continue;
            CallShare& call = calls.emplace_back();
            call.op = short_target(cost.forecast->operation);
            call.module = step_module;
            call.family = family(cost.forecast->operation);
            set_cost(call, *cost.forecast, cost.left);
        }
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
