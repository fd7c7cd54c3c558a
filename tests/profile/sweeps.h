#pragma once

#include <string>
#include <vector>

#include "joulecast/profile/plan.h"

namespace joulecast::testing {

inline Operation relu_row(std::int64_t batch) {
    TensorType type;
    type.sizes = {batch, 8};
    return {"aten::relu", {{"self", type}}};
}

/// A bag of relu_row calls, one per (batch, count).
inline Variation bag(const std::string& name, const std::vector<std::pair<std::int64_t, std::int64_t>>& calls) {
    Variation variation;
    variation.model = variation.graph.name = name;
    variation.graph.has_edges = false;
    for (const auto& [batch, count] : calls) {
        Node node;
        node.operation = relu_row(batch);
        node.count = count;
        variation.graph.nodes.push_back(node);
    }
    return variation;
}

inline PlanSettings fake_settings() {
    PlanSettings settings;
    settings.device.id = settings.point.device = "cpu-fake";
    settings.device.peak_flop_per_s_fp32 = 1e9;
    settings.device.bandwidth_bytes_per_s = 1e9;
    settings.point.threads = 2;
    return settings;
}

}  // namespace joulecast::testing
