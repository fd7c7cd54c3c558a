#include "joulecast/physics/tensor_lifetimes.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/checkpointing.h"
#include "joulecast/physics/held_by_python.h"

namespace joulecast {
namespace {

using Position = std::ptrdiff_t;
using Place = std::ptrdiff_t;  ///< of a block
constexpr std::ptrdiff_t nowhere = -1;

/// What of a node decides lifetimes.
struct CallFacts {
    const Record* record = nullptr;
    bool shares = false;   ///< its outputs lie in its first tensor
    bool trains = false;   ///< has a backward call
    bool is_view = false;  ///< its backward call is a view, too
    Position repeated = nowhere;
    Position backward = nowhere;
};

/// In-place calls, and views and copies that write nothing (reshape of a contiguous tensor).
bool shares_storage(const Node& node, Family kind) {
    if (node.inputs.empty()) return false;
    if (is_in_place(node.operation)) return true;
    if (kind != Family::view && kind != Family::copy) return false;
    return kind == Family::view || forward_counts(node.operation).bytes_written == 0;
}

/// The gradient of a summand is that of the sum, unless it was broadcast or is of another type.
bool passes_gradient(const Node& node, const TensorType& operand) {
    const std::string_view target = node.operation.target;
    const bool adds = target.starts_with("aten::add.") || target.starts_with("aten::add_.");
    if (!adds || node.outputs.size() != 1 || find_argument(node.operation, "alpha")) return false;
    return operand.sizes == node.outputs.front().sizes && operand.dtype == node.outputs.front().dtype;
}

/// Walks a step in the order in which its calls run.
class StepWalk {
  public:
    StepWalk(const Graph& graph, const MemorySettings& settings) : graph_(graph), settings_(settings) {
        place_inputs();
        describe_calls();
        schedule();
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) run_forward(i);
        if (settings.python_holds) {
            for (const HeldValue& held : held_by_python(graph))
                touch(block_[value_of(held.value)], static_cast<Position>(held.last_call));
        }
        for (const ValueRef& output : graph.outputs) touch(block_[value_of(output)], end());
        if (graph.mode == Mode::training) run_backward();
        for (std::size_t at = 0; at < steps_.size(); ++at) add_workspace(at);
    }

    TensorLifetimes lifetimes() && {
        const double output = output_bytes();
        return {.steps = std::move(steps_),
                .blocks = std::move(blocks_),
                .trained_inputs = std::move(trained_inputs_),
                .trained_bytes = trained_bytes_,
                .gradient_bytes = gradient_bytes_,
                .output_bytes = output};
    }

  private:
    Position end_of_forward() const { return static_cast<Position>(graph_.nodes.size()) - 1; }
    Position end() const { return static_cast<Position>(steps_.size()) - 1; }

    double rounded(double bytes) const {
        const double rounding = settings_.allocation.rounding_bytes;
        return rounding > 1 ? std::ceil(bytes / rounding) * rounding : bytes;
    }
    double bytes_of(const TensorType& type) const { return rounded(static_cast<double>(byte_count(type))); }

    Place take(double bytes, Position at) {
        blocks_.push_back({bytes, at, at});
        holders_.push_back(0);
        return static_cast<Place>(blocks_.size()) - 1;
    }
    void touch(Place place, Position at) {
        if (place == nowhere) return;  // the caller's own
        Position& last = blocks_[static_cast<std::size_t>(place)].last;
        last = std::max(last, at);
    }

    std::size_t value_of(ValueRef ref) const {
        type_of(graph_, ref);  // throws when the reference points outside
        const auto output = static_cast<std::size_t>(ref.output);
        return ref.node < 0 ? output : first_value_[static_cast<std::size_t>(ref.node)] + output;
    }

    void place_inputs() {
        std::size_t values = graph_.inputs.size();
        for (const Node& node : graph_.nodes) {
            first_value_.push_back(values);
            values += node.outputs.size();
        }
        block_.assign(values, nowhere);
        repeated_block_.assign(values, nowhere);
        gradient_.assign(values, nowhere);
    }

    double output_bytes() const {
        std::vector<Place> places;
        for (const ValueRef& output : graph_.outputs) places.push_back(block_[value_of(output)]);
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
        double bytes = 0;
        for (const Place place : places) bytes += place == nowhere ? 0 : blocks_[static_cast<std::size_t>(place)].bytes;
        return bytes;
    }

    void describe_calls() {
        for (const Node& node : graph_.nodes) {
            const Family kind = family(node.operation);
            CallFacts facts;
            facts.record = find_record(node.operation.target);
            facts.shares = shares_storage(node, kind);
            facts.trains = graph_.mode == Mode::training && mode(node.operation) == Mode::training;
            facts.is_view = kind == Family::view && node.outputs.size() == 1;
            calls_.push_back(facts);
        }
    }

    void push_step(Pass pass, std::size_t node) { steps_.push_back({pass, static_cast<std::int32_t>(node), 0, 0}); }

    /// Forward; backward in reverse, each segment run again before the first of its backward calls; the update.
    void schedule() {
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) push_step(Pass::forward, i);
        if (graph_.mode != Mode::training) return;
        std::vector<Segment> segments;
        if (settings_.step.checkpointing) segments = checkpoint_segments(graph_);
        for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
            if (!segments.empty() && i < segments.back().first) segments.pop_back();
            if (!calls_[i].trains) continue;
            if (!segments.empty() && i < segments.back().end && calls_[segments.back().first].repeated == nowhere) {
                for (std::size_t k = segments.back().first; k < segments.back().repeated_end; ++k) {
                    calls_[k].repeated = static_cast<Position>(steps_.size());
                    push_step(Pass::recompute, k);
                }
            }
            calls_[i].backward = static_cast<Position>(steps_.size());
            push_step(Pass::backward, i);
        }
        const StepMemory& step = settings_.step;
        if (step.state_copies > 0 || step.update_copies > 0) steps_.push_back({Pass::update, -1, 0, 0});
    }

    /// Blocks for the outputs of a call in one of its runs; `blocks` are those of that run.
    void place_outputs(std::size_t index, Position at, std::vector<Place>& blocks, Place of_first_input) {
        const Node& node = graph_.nodes[index];
        for (std::size_t k = 0; k < node.outputs.size(); ++k) {
            const std::size_t value = first_value_[index] + k;
            blocks[value] = calls_[index].shares ? of_first_input : take(bytes_of(node.outputs[k]), at);
        }
    }

    void run_forward(std::size_t index) {
        const Node& node = graph_.nodes[index];
        const auto at = static_cast<Position>(index);
        for (const ValueRef& input : node.inputs) {
            if (input.node >= at)
                throw FormatError("the nodes of graph " + graph_.name + " are not in topological order");
            touch(block_[value_of(input)], at);
        }
        place_outputs(index, at, block_, node.inputs.empty() ? nowhere : block_[value_of(node.inputs.front())]);
        if (calls_[index].trains && calls_[index].repeated == nowhere) keep_saved(index, at);
    }

    /// What a value lies in when a segment runs again: what it was before, where it comes from outside.
    Place block_again(std::size_t value) {
        if (repeated_block_[value] != nowhere) return repeated_block_[value];
        keep(block_[value]);
        return block_[value];
    }

    void run_again(std::size_t index, Position at) {
        const Node& node = graph_.nodes[index];
        for (const ValueRef& input : node.inputs) touch(block_again(value_of(input)), at);
        place_outputs(index, at, repeated_block_,
                      node.inputs.empty() ? nowhere : block_again(value_of(node.inputs.front())));
        if (calls_[index].trains) keep_saved(index, at);
    }

    void keep(Place place) {
        if (place != nowhere) blocks_[static_cast<std::size_t>(place)].kept = true;
    }

    /// The tensors of the call, and what has no place in the graph: dropout's mask, max pooling's indices.
    KeptTensors kept_by(const Operation& operation, const Record* record) const {
        if (!record) return {};
        if (settings_.kept) {
            if (auto on_device = settings_.kept(operation)) return std::move(*on_device);
        }
        KeptTensors kept;
        if (record->hidden_bytes) kept.hidden_bytes = static_cast<double>(record->hidden_bytes(operation));
        if (record->saved) kept.saved = record->saved(operation);
        return kept;
    }

    void keep_saved(std::size_t index, Position at) {
        const Node& node = graph_.nodes[index];
        const CallFacts& call = calls_[index];
        const KeptTensors kept = kept_by(node.operation, call.record);
        if (kept.hidden_bytes > 0) {
            const Place hidden = take(rounded(kept.hidden_bytes), at);
            keep(hidden);
            touch(hidden, call.backward);
        }
        const std::size_t inputs = node.inputs.size();
        for (const std::int32_t saved : kept.saved) {
            const auto k = static_cast<std::size_t>(saved);
            if (saved < 0 || k >= inputs + node.outputs.size()) continue;
            const std::size_t value = k < inputs ? value_of(node.inputs[k]) : first_value_[index] + k - inputs;
            const Place place = call.repeated == nowhere ? block_[value] : block_again(value);
            keep(place);
            touch(place, call.backward);
        }
    }

    void run_backward() {
        for (const ValueRef& output : graph_.outputs) {
            const bool flows = output.node >= 0 && calls_[static_cast<std::size_t>(output.node)].trains;
            const std::size_t value = value_of(output);
            if (flows && is_floating(type_of(graph_, output).dtype) && gradient_[value] == nowhere)
                hold(value, take(bytes_of(type_of(graph_, output)), end_of_forward() + 1));
        }
        for (std::size_t at = graph_.nodes.size(); at < steps_.size(); ++at) {
            const auto node = static_cast<std::size_t>(steps_[at].node);
            if (steps_[at].pass == Pass::recompute) run_again(node, static_cast<Position>(at));
            if (steps_[at].pass == Pass::backward) run_backward_of(node, static_cast<Position>(at));
        }
        for (std::size_t i = 0; i < graph_.inputs.size(); ++i) end_gradient_of(i);
    }

    void end_gradient_of(std::size_t input) {
        if (gradient_[input] == nowhere) return;
        touch(gradient_[input], end());
        trained_inputs_.push_back(input);
        gradient_bytes_ += blocks_[static_cast<std::size_t>(gradient_[input])].bytes;
        const double parameter = bytes_of(graph_.inputs[input].type);
        trained_bytes_ += parameter;
        largest_trained_ = std::max(largest_trained_, parameter);
    }

    void hold(std::size_t value, Place place) {
        gradient_[value] = place;
        if (value < graph_.inputs.size()) blocks_[static_cast<std::size_t>(place)].of_parameter = true;
        ++holders_[static_cast<std::size_t>(place)];
    }

    void run_backward_of(std::size_t index, Position at) {
        const Node& node = graph_.nodes[index];
        Place flowing = nowhere;
        for (std::size_t k = 0; k < node.outputs.size(); ++k) {
            const Place gradient = gradient_[first_value_[index] + k];
            if (gradient == nowhere) continue;
            touch(gradient, at);
            --holders_[static_cast<std::size_t>(gradient)];
            flowing = gradient;
        }
        if (flowing == nowhere) return;  // nothing that the loss depends on
        const auto types = tensors(node.operation);
        for (std::size_t k = 0; k < types.size() && k < node.inputs.size(); ++k) {
            if (!types[k]->requires_grad) continue;
            const ValueRef input = node.inputs[k];
            const std::size_t value = value_of(input);
            if (input.node < 0 && graph_.inputs[value].kind != GraphInput::Kind::parameter) continue;
            const bool passes = calls_[index].is_view || passes_gradient(node, *types[k]);
            const Place summand = passes ? flowing : take(bytes_of(type_of(graph_, input)), at);
            // A linear layer's weight enters its product transposed, and its gradient leaves so: seen with torch 2.13.
            if (!passes && k == 1 && node.operation.target == "aten::linear")
                blocks_[static_cast<std::size_t>(summand)].transposed = true;
            add_gradient(value, summand, at);
        }
    }

    void add_gradient(std::size_t value, Place summand, Position at) {
        if (gradient_[value] == nowhere) {
            if (value >= graph_.inputs.size() || settings_.step.accumulation <= 1) return hold(value, summand);
            hold(value, take(bytes_of_value(value), 0));  // what the micro-batches before came to
        }
        const Place sum = gradient_[value];
        touch(sum, at);
        touch(summand, at);
        const bool is_its_own = holders_[static_cast<std::size_t>(sum)] == 1;
        if (is_its_own && !blocks_[static_cast<std::size_t>(sum)].transposed) return;  // in place
        --holders_[static_cast<std::size_t>(sum)];
        hold(value, take(bytes_of_value(value), at));
    }

    double bytes_of_value(std::size_t value) const {
        if (value < graph_.inputs.size()) return bytes_of(graph_.inputs[value].type);
        const auto node = std::upper_bound(first_value_.begin(), first_value_.end(), value) - first_value_.begin() - 1;
        const auto index = static_cast<std::size_t>(node);
        return bytes_of(graph_.nodes[index].outputs[value - first_value_[index]]);
    }

    void add_workspace(std::size_t at) {
        MemoryMoment& moment = steps_[at];
        if (moment.pass == Pass::update) {
            const StepMemory& step = settings_.step;
            moment.workspace_bytes = step.update_copies * (step.one_by_one ? largest_trained_ : trained_bytes_);
        } else if (settings_.workspace) {
            // Of a training call scratch is measured over both passes; it is not known in which it is taken.
            const Operation& operation = graph_.nodes[static_cast<std::size_t>(moment.node)].operation;
            moment.workspace_bytes = rounded(settings_.workspace(operation));
        }
    }

    const Graph& graph_;
    const MemorySettings& settings_;
    std::vector<CallFacts> calls_;
    std::vector<MemoryMoment> steps_;
    std::vector<MemoryBlock> blocks_;
    std::vector<int> holders_;              ///< of each block: values whose gradient it is
    std::vector<std::size_t> first_value_;  ///< of each node; the inputs' come before
    std::vector<Place> block_;              ///< of each value
    std::vector<Place> repeated_block_;     ///< of each value that is computed again
    std::vector<Place> gradient_;           ///< of each value
    std::vector<std::size_t> trained_inputs_;
    double gradient_bytes_ = 0;
    double trained_bytes_ = 0;
    double largest_trained_ = 0;
};

}  // namespace

TensorLifetimes tensor_lifetimes(const Graph& graph, const MemorySettings& settings) {
    return StepWalk(graph, settings).lifetimes();
}

}  // namespace joulecast
