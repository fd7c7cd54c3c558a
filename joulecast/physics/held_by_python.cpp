#include "joulecast/physics/held_by_python.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace joulecast {
namespace {

/// A module between its first call and its return.
struct RunningModule {
    std::string_view path;
    std::size_t first = 0;
    std::size_t end = 0;  ///< one past its last call
};

bool is_within(std::string_view path, std::string_view module) {
    return path.starts_with(module) && (path.size() == module.size() || path[module.size()] == '.');
}

RunningModule run_from(const Graph& graph, std::size_t first, std::string_view module) {
    std::size_t end = first + 1;
    while (end < graph.nodes.size() && is_within(graph.nodes[end].module_path, module)) ++end;
    return {module, first, end};
}

}  // namespace

std::vector<HeldValue> held_by_python(const Graph& graph) {
    std::vector<HeldValue> held;
    std::vector<RunningModule> running;  // outermost first
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        const std::string_view path = node.module_path;
        while (!running.empty() && running.back().end <= i) running.pop_back();
        for (std::size_t at = running.empty() ? 0 : running.back().path.size() + 1; at < path.size(); ++at) {
            at = std::min(path.find('.', at), path.size());
            running.push_back(run_from(graph, i, path.substr(0, at)));
        }
        for (const ValueRef& input : node.inputs) {
            if (input.node < 0) continue;
            // The outermost module that it came into: it holds longest.
            const auto module = std::ranges::find_if(running, [&](const RunningModule& candidate) {
                return input.node < static_cast<std::int32_t>(candidate.first);
            });
            if (module != running.end()) held.push_back({input, module->end - 1});
        }
    }
    return held;
}

}  // namespace joulecast
