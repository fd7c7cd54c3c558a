#include "joulecast/physics/sponner_bounds.h"

#include <algorithm>
#include <array>
#include <functional>

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

/// The record alone tells: what family() says beyond it is of views and copies.
bool is_layer(const Record* record) {
    if (record == nullptr) return false;
    return record->family == Family::convolution || record->family == Family::matmul ||
           record->family == Family::pooling;
}

/// A bag has no outputs: the record knows them.
double layer_bytes(const Node& node, const Record& record, const Workspace& workspace) {
    double bytes = workspace ? workspace(node.operation) : 0;
    for (const TensorType* tensor : tensors(node.operation)) bytes += static_cast<double>(byte_count(*tensor));
    const auto add = [&bytes](const std::vector<TensorType>& outputs) {
        for (const TensorType& output : outputs) bytes += static_cast<double>(byte_count(output));
    };
    if (node.outputs.empty()) {
        add(record.outputs(node.operation));
    } else {
        add(node.outputs);
    }
    return bytes;
}

}  // namespace

std::optional<SponnerBounds> sponner_bounds(const Graph& graph, const Workspace& workspace) {
    SponnerBounds bounds;
    double sum = 0;
    std::array<double, 2> largest{0, 0};
    for (const Node& node : graph.nodes) {
        const Record* record = find_record(node.operation.target);
        if (!is_layer(record)) continue;
        const double bytes = layer_bytes(node, *record, workspace);
        bounds.layers += node.count;
        sum += bytes * static_cast<double>(node.count);
        for (std::int64_t call = 0; call < std::min<std::int64_t>(node.count, 2); ++call) {
            if (bytes > largest[1]) largest[1] = bytes;
            std::sort(largest.begin(), largest.end(), std::greater<>());
        }
    }
    if (bounds.layers == 0) return std::nullopt;
    bounds.optimistic_bytes = 2 * sum / static_cast<double>(bounds.layers);
    bounds.pessimistic_bytes = largest[0] + largest[1];
    return bounds;
}

}  // namespace joulecast
