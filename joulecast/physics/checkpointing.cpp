#include "joulecast/physics/checkpointing.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Modules that have modules of their own which call something.
using Containers = std::set<std::string, std::less<>>;

Containers containers_of(const Graph& graph) {
    Containers found;
    for (const Node& node : graph.nodes) {
        for (std::size_t dot = node.module_path.rfind('.'); dot != std::string::npos && dot > 0;
             dot = node.module_path.rfind('.', dot - 1)) {
            if (!found.insert(node.module_path.substr(0, dot)).second) break;
        }
    }
    return found;
}

/// The block that a module belongs to; empty for none.
std::string_view block_of(std::string_view path, const Containers& containers) {
    std::size_t block_end = 0;
    bool after_number = false;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        const std::string_view component = path.substr(begin, end - begin);
        const bool plain = !component.empty() && std::all_of(component.begin(), component.end(), is_digit);
        const bool numbered = std::any_of(component.begin(), component.end(), is_digit) &&
                              containers.find(path.substr(0, end)) != containers.end();
        if (block_end > 0 && (!numbered || (after_number && !plain))) break;
        if (numbered) block_end = end;
        after_number = numbered && plain;
        begin = end + 1;
    }
    return path.substr(0, block_end);
}

bool keeps_something(const Operation& operation) {
    if (mode(operation) != Mode::training) return false;
    const Record* record = find_record(operation.target);
    if (!record) return false;
    if (record->hidden_bytes && record->hidden_bytes(operation) > 0) return true;
    return record->saved && !record->saved(operation).empty();
}

Operation without_gradients(Operation operation) {
    for (TensorType* tensor : tensors(operation)) tensor->requires_grad = false;
    return operation;
}

}  // namespace

std::vector<Segment> checkpoint_segments(const Graph& graph) {
    std::vector<Segment> segments;
    if (graph.mode != Mode::training || !graph.has_edges) return segments;
    const Containers containers = containers_of(graph);
    const auto block = [&](std::size_t node) { return block_of(graph.nodes[node].module_path, containers); };
    for (std::size_t first = 0; first < graph.nodes.size();) {
        Segment segment{first, first, first, std::string(block(first))};
        std::size_t keeping = 0;
        while (segment.end < graph.nodes.size() && block(segment.end) == segment.module_path) {
            if (keeps_something(graph.nodes[segment.end].operation)) {
                ++keeping;
                segment.repeated_end = segment.end + 1;
            }
            ++segment.end;
        }
        first = segment.end;
        if (!segment.module_path.empty() && keeping > 1) segments.push_back(std::move(segment));
    }
    return segments;
}

Graph with_repeated_calls(Graph graph, std::span<const Segment> segments) {
    for (const Segment& segment : segments) {
        std::map<std::int32_t, std::int32_t> again;  // node of the segment, its repetition
        for (std::size_t i = segment.first; i < segment.repeated_end; ++i) {
            Node node = graph.nodes[i];
            node.operation = without_gradients(std::move(node.operation));
            for (ValueRef& input : node.inputs) {
                if (const auto found = again.find(input.node); found != again.end()) input.node = found->second;
            }
            again[static_cast<std::int32_t>(i)] = static_cast<std::int32_t>(graph.nodes.size());
            graph.nodes.push_back(std::move(node));
        }
    }
    return graph;
}

}  // namespace joulecast
