#include "joulecast/physics/memory.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "joulecast/graph/family.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/caching_allocator.h"
#include "joulecast/physics/tensor_lifetimes.h"

namespace joulecast {
namespace {

/// A plan with what is there before the step.
MemoryPlan resident(const Graph& graph) {
    MemoryPlan plan;
    for (const GraphInput& input : graph.inputs) {
        const auto bytes = static_cast<double>(byte_count(input.type));
        plan.resident_bytes += bytes;
        if (input.kind == GraphInput::Kind::parameter) {
            plan.parameter_bytes += bytes;
        } else {
            (input.kind == GraphInput::Kind::user_input ? plan.input_bytes : plan.buffer_bytes) += bytes;
        }
    }
    return plan;
}

/// What is alive at each of the steps, the optimizer's state all along, and the peak.
void add_up(MemoryPlan& plan, const TensorLifetimes& lifetimes) {
    std::vector<double> change(lifetimes.steps.size() + 1, 0.0);
    for (const MemoryBlock& block : lifetimes.blocks) {
        change[static_cast<std::size_t>(block.first)] += block.bytes;
        change[static_cast<std::size_t>(block.last) + 1] -= block.bytes;
    }
    plan.timeline = lifetimes.steps;
    double live = plan.optimizer_bytes;
    for (std::size_t at = 0; at < plan.timeline.size(); ++at) {
        live += change[at];
        MemoryMoment& moment = plan.timeline[at];
        moment.bytes = live + moment.workspace_bytes;
        if (moment.bytes <= plan.peak_bytes) continue;
        plan.peak_bytes = moment.bytes;
        plan.peak_at = at;
        plan.workspace_bytes = moment.workspace_bytes;
    }
}

double saved_bytes(const std::vector<MemoryBlock>& blocks, std::size_t forward_steps) {
    double bytes = 0;
    for (const MemoryBlock& block : blocks) {
        if (block.kept && block.first < static_cast<std::ptrdiff_t>(forward_steps)) bytes += block.bytes;
    }
    return bytes;
}

/// Of the peak, which the plan has.
double activation_bytes(const MemoryPlan& plan, const std::vector<MemoryBlock>& blocks) {
    const auto peak = static_cast<std::ptrdiff_t>(plan.peak_at);
    double bytes = plan.peak_bytes - plan.workspace_bytes - plan.optimizer_bytes;
    for (const MemoryBlock& block : blocks) {
        if (block.of_parameter && block.first <= peak && peak <= block.last) bytes -= block.bytes;
    }
    return bytes;
}

/// No device has as much as cannot be counted in whole bytes.
bool can_be_replayed(const Graph& graph, const TensorLifetimes& lifetimes, double state_bytes) {
    constexpr double most_bytes = 1e17;
    double bytes = state_bytes;
    for (const MemoryBlock& block : lifetimes.blocks) bytes += block.bytes;
    for (const MemoryMoment& moment : lifetimes.steps) bytes += moment.workspace_bytes;
    for (const GraphInput& input : graph.inputs) bytes += static_cast<double>(byte_count(input.type));
    return bytes < most_bytes;
}

/// Blocks by a step of theirs, in their order.
class BlocksByStep {
  public:
    BlocksByStep(const TensorLifetimes& lifetimes, std::ptrdiff_t MemoryBlock::* step)
        : begin_(lifetimes.steps.size() + 1, 0), blocks_(lifetimes.blocks.size()) {
        const auto of = [step](const MemoryBlock& block) { return static_cast<std::size_t>(block.*step); };
        for (const MemoryBlock& block : lifetimes.blocks) ++begin_[of(block) + 1];
        std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
        std::vector<std::size_t> next = begin_;
        for (std::size_t i = 0; i < blocks_.size(); ++i) blocks_[next[of(lifetimes.blocks[i])]++] = i;
    }
    std::span<const std::size_t> at(std::size_t step) const {
        return std::span(blocks_).subspan(begin_[step], begin_[step + 1] - begin_[step]);
    }

  private:
    std::vector<std::size_t> begin_;
    std::vector<std::size_t> blocks_;
};

void replay(const TensorLifetimes& lifetimes, CachingAllocator& allocator) {
    const std::vector<MemoryBlock>& blocks = lifetimes.blocks;
    const BlocksByStep taken(lifetimes, &MemoryBlock::first);
    const BlocksByStep given_back(lifetimes, &MemoryBlock::last);
    std::vector<CachingAllocator::Handle> handles(blocks.size());
    const auto whole = [](double bytes) { return static_cast<std::int64_t>(bytes); };
    for (std::size_t at = 0; at < lifetimes.steps.size(); ++at) {
        for (const std::size_t i : taken.at(at)) handles[i] = allocator.allocate(whole(blocks[i].bytes));
        const auto scratch = allocator.allocate(whole(lifetimes.steps[at].workspace_bytes));
        allocator.release(scratch);
        for (const std::size_t i : given_back.at(at)) allocator.release(handles[i]);
    }
}

double library_bytes(const Graph& graph, double of_thread) {
    const bool is_called = std::ranges::any_of(
        graph.nodes, [](const Node& node) { return recorded_family(node.operation) == Family::matmul; });
    if (!is_called) return 0;
    return graph.mode == Mode::training ? 2 * of_thread : of_thread;
}

/// Replays the step on a caching allocator, inputs and libraries first; with an optimizer twice, its state between.
double reserved_bytes(const Graph& graph, const TensorLifetimes& lifetimes, double state_copies, double of_libraries) {
    const double state_bytes = state_copies * lifetimes.trained_bytes;
    if (!can_be_replayed(graph, lifetimes, state_bytes)) return std::numeric_limits<double>::infinity();
    CachingAllocator allocator;
    for (const GraphInput& input : graph.inputs) allocator.allocate(byte_count(input.type));
    allocator.allocate(static_cast<std::int64_t>(of_libraries));
    replay(lifetimes, allocator);
    if (!(state_bytes > 0)) return static_cast<double>(allocator.reserved_bytes());
    for (const std::size_t input : lifetimes.trained_inputs) {
        for (double copy = 0; copy < state_copies; ++copy) allocator.allocate(byte_count(graph.inputs[input].type));
    }
    replay(lifetimes, allocator);
    return static_cast<double>(allocator.reserved_bytes());
}

}  // namespace

std::string_view name(Pass pass) {
    switch (pass) {
        case Pass::forward:
            return "forward";
        case Pass::recompute:
            return "recompute";
        case Pass::backward:
            return "backward";
        case Pass::update:
            break;
    }
    return "update";
}

bool is_in_place(const Operation& operation) {
    const std::string_view target = operation.target;
    const std::string_view base = target.substr(0, target.find('.'));
    return base.size() > 1 && base.back() == '_' && base.substr(base.size() - 2) != "__";
}

std::optional<MemoryPlan> plan_memory(const Graph& graph, const MemorySettings& settings) {
    if (!graph.has_edges) return std::nullopt;
    const TensorLifetimes lifetimes = tensor_lifetimes(graph, settings);
    MemoryPlan plan = resident(graph);
    plan.output_bytes = lifetimes.output_bytes;
    plan.gradient_bytes = lifetimes.gradient_bytes;
    plan.optimizer_bytes = settings.step.state_copies * lifetimes.trained_bytes;
    plan.saved_bytes = saved_bytes(lifetimes.blocks, graph.nodes.size());
    add_up(plan, lifetimes);
    plan.activation_bytes = activation_bytes(plan, lifetimes.blocks);
    plan.library_bytes = library_bytes(graph, settings.allocation.library_bytes);
    if (settings.allocation.caching)
        plan.reserved_bytes = reserved_bytes(graph, lifetimes, settings.step.state_copies, plan.library_bytes);
    return plan;
}

}  // namespace joulecast
