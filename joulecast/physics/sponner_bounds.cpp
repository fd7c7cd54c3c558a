#include "joulecast/physics/sponner_bounds.h"

#include <algorithm>
#include <array>
#include <functional>

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

bool is_layer(const Operation& operation) {
    const Family kind = family(operation);
    return kind == Family::convolution || kind == Family::matmul || kind == Family::pooling;
}

/// A bag has no outputs: the record knows them.
double layer_bytes(const Node& node, const Workspace& workspace) {
    double bytes = workspace ? workspace(node.operation) : 0;
    for (const TensorType* tensor : tensors(node.operation)) bytes += static_cast<double>(byte_count(*tensor));
    const Record* record = find_record(node.operation.target);
    const bool told = !node.outputs.empty() || record == nullptr;
    for (const TensorType& output : told ? node.outputs : record->outputs(node.operation))
        bytes += static_cast<double>(byte_count(output));
    return bytes;
}

}  // namespace

std::optional<SponnerBounds> sponner_bounds(const Graph& graph, const Workspace& workspace) {
    SponnerBounds bounds;
    double sum = 0;
    std::array<double, 2> largest{0, 0};
    for (const Node& node : graph.nodes) {
        if (!is_layer(node.operation)) continue;
        const double bytes = layer_bytes(node, workspace);
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
