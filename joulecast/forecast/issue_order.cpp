#include "joulecast/forecast/issue_order.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/forecast/optimizer_update.h"
#include "joulecast/graph/operation_key.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/checkpointing.h"

namespace joulecast {
namespace {

double share_of(double part, double rest) {
    return part + rest > 0 ? part / (part + rest) : 0.5;
}

/// Products go by their FLOPs, all else by its bytes.
double forward_work(const Operation& operation) {
    const Counts forward = forward_counts(operation);
    const Counts backward = backward_counts(operation);
    if (forward.flop + backward.flop > 0)
        return share_of(static_cast<double>(forward.flop), static_cast<double>(backward.flop));
    return share_of(static_cast<double>(forward.bytes_read) + static_cast<double>(forward.bytes_written),
                    static_cast<double>(backward.bytes_read) + static_cast<double>(backward.bytes_written));
}

/// One launch forward, one for each gradient backward.
double forward_launches(const Operation& operation) {
    const auto types = tensors(operation);
    const auto gradients = std::ranges::count_if(types, [](const TensorType* type) { return type->requires_grad; });
    return 1.0 / (1.0 + static_cast<double>(gradients));
}

CallKind kind_of_node(const Operation& operation) {
    CallKind kind;
    kind.operation = operation;
    kind.synchronises = waits_for_device(operation);
    if (mode(operation) == Mode::training) {
        kind.forward_work = forward_work(operation);
        kind.forward_issue = forward_launches(operation);
    }
    return kind;
}

/// A gradient is given back to a tensor by all that the records know, and by what has no record.
bool has_backward(const Operation& operation) {
    if (mode(operation) != Mode::training) return false;
    const Record* record = find_record(operation.target);
    return record == nullptr || record->backward != nullptr;
}

TensorType without_gradient(TensorType type) {
    type.requires_grad = false;
    return type;
}

class Ordering {
  public:
    Ordering(const Graph& graph, const TrainingSetup& training, Device::Kind device)
        : graph_(graph), training_(training) {
        add_nodes();
        if (graph.mode != Mode::training) {
            refuse_training();
            return;
        }
        if (graph.has_edges) add_backward();
        const std::vector<TensorType> parameters = trained_parameters();
        const bool needs_parameters = training.optimizer != Optimizer::none || training.accumulation > 1;
        if (needs_parameters && parameters.empty())
            throw Error("nothing in " + graph.name + " is trained: " +
                        (graph.has_edges ? "no gradient flows to a parameter"
                                         : "a list of operations without edges does not name its parameters") +
                        ". Leave out --optimizer and --accumulate");
        repeat(parameters);
        add_update(update_calls(parameters, training, device));
    }

    IssueOrder take() { return std::move(order_); }

  private:
    void refuse_training() const {
        if (training_.optimizer != Optimizer::none || training_.accumulation > 1 || training_.checkpointing)
            throw Error("an optimizer, gradient accumulation and checkpointing need training, but " + graph_.name +
                        " is forecast for inference. Add --mode training");
    }

    void add_nodes() {
        std::unordered_map<std::vector<std::uint64_t>, std::uint32_t, KeyHash> places;
        std::vector<std::uint64_t> key;
        kind_of_.reserve(graph_.nodes.size());
        if (graph_.has_edges) order_.calls.reserve(2 * graph_.nodes.size());
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const Node& node = graph_.nodes[i];
            key.clear();
            append_key(node.operation, key);
            const auto [found, is_new] = places.try_emplace(key, static_cast<std::uint32_t>(order_.kinds.size()));
            if (is_new) order_.kinds.push_back(kind_of_node(node.operation));
            order_.kinds[found->second].count += node.count;
            kind_of_.push_back(found->second);
            if (graph_.has_edges)
                order_.calls.push_back({found->second, static_cast<std::int32_t>(i), StepPart::forward});
        }
    }

    /// The kind that adds a tensor of this type to another in place.
    std::uint32_t addition(const TensorType& type, StepPart part) {
        const auto [found, is_new] =
            additions_.try_emplace({type.dtype, type.sizes, type.strides, part}, order_.kinds.size());
        if (is_new) {
            const TensorType plain = without_gradient(type);
            CallKind kind;
            kind.operation = {"aten::add_.Tensor", {{"self", plain}, {"other", plain}}};
            kind.part = part;
            order_.kinds.push_back(std::move(kind));
        }
        return static_cast<std::uint32_t>(found->second);
    }

    void add_call(std::uint32_t kind, StepPart part) {
        ++order_.kinds[kind].count;
        order_.calls.push_back({kind, -1, part});
    }

    void add_backward() {
        std::map<std::pair<std::int32_t, std::int32_t>, int> arrived;
        // The loss reads what the network returns.
        for (const ValueRef& output : graph_.outputs) {
            if (output.node >= 0) arrived[{output.node, output.output}] = 1;
        }
        for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
            const Node& node = graph_.nodes[i];
            if (!has_backward(node.operation)) {
                whole_forward(i);
                continue;
            }
            order_.calls.push_back({kind_of_[i], static_cast<std::int32_t>(i), StepPart::backward});
            const auto types = tensors(node.operation);
            for (std::size_t k = 0; k < types.size() && k < node.inputs.size(); ++k) {
                if (!types[k]->requires_grad) continue;
                const ValueRef& from = node.inputs[k];
                if (++arrived[{from.node, from.output}] > 1)
                    add_call(addition(type_of(graph_, from), StepPart::gradient_sum), StepPart::gradient_sum);
            }
        }
    }

    /// No backward call is issued for it.
    void whole_forward(std::size_t node) {
        order_.kinds[kind_of_[node]].forward_work = 1;
        order_.kinds[kind_of_[node]].forward_issue = 1;
    }

    /// Those that a gradient flows to.
    std::vector<TensorType> trained_parameters() const {
        std::set<std::int32_t> trained;
        for (const Node& node : graph_.nodes) {
            if (!has_backward(node.operation)) continue;
            const auto types = tensors(node.operation);
            for (std::size_t k = 0; k < types.size() && k < node.inputs.size(); ++k) {
                if (node.inputs[k].node < 0 && types[k]->requires_grad) trained.insert(node.inputs[k].output);
            }
        }
        std::vector<TensorType> parameters;
        for (const std::int32_t input : trained) {
            const GraphInput& graph_input = graph_.inputs.at(static_cast<std::size_t>(input));
            if (graph_input.kind == GraphInput::Kind::parameter)
                parameters.push_back(without_gradient(graph_input.type));
        }
        return parameters;
    }

    /// Forward and backward as often as gradients accumulate; from the second time on they are added to those before.
    void repeat(const std::vector<TensorType>& parameters) {
        if (training_.accumulation == 1) return;
        const std::vector<IssuedCall> once = order_.calls;
        for (CallKind& kind : order_.kinds) kind.count *= training_.accumulation;
        for (std::int64_t i = 1; i < training_.accumulation; ++i) {
            order_.calls.insert(order_.calls.end(), once.begin(), once.end());
            for (const TensorType& type : parameters)
                add_call(addition(type, StepPart::accumulation), StepPart::accumulation);
        }
    }

    void add_update(UpdateCalls update) {
        const auto first = static_cast<std::uint32_t>(order_.kinds.size());
        std::move(update.kinds.begin(), update.kinds.end(), std::back_inserter(order_.kinds));
        for (const std::uint32_t kind : update.order) order_.calls.push_back({first + kind, -1, StepPart::update});
    }

    const Graph& graph_;
    const TrainingSetup& training_;
    IssueOrder order_;
    std::vector<std::uint32_t> kind_of_;  ///< by node
    std::map<std::tuple<Dtype, Sizes, Strides, StepPart>, std::size_t> additions_;
};

/// Puts the repetitions, which are nodes behind those of the graph, before the first backward call of their segment.
class Repetitions {
  public:
    Repetitions(std::size_t nodes, std::span<const Segment> segments)
        : nodes_(static_cast<std::int32_t>(nodes)), segments_(segments) {
        for (const Segment& segment : segments_) {
            for (std::size_t i = segment.first; i < segment.repeated_end; ++i)
                repeated_.push_back(static_cast<std::int32_t>(i));
        }
    }

    std::vector<IssuedCall> in_place(const std::vector<IssuedCall>& calls) {
        std::vector<IssuedCall> placed;
        placed.reserve(calls.size());
        std::vector<IssuedCall> waiting;
        std::size_t segments_left = segments_.size();
        for (IssuedCall call : calls) {
            if (call.part == StepPart::forward && call.node >= nodes_) {
                call.node = repeated_[static_cast<std::size_t>(call.node - nodes_)];
                waiting.push_back(call);
                segments_left = segments_.size();
                continue;
            }
            if (call.part == StepPart::backward) {
                while (segments_left > 0 && call.node < end_of(segments_left - 1))
                    move_calls(segments_[--segments_left], waiting, placed);
            }
            placed.push_back(call);
        }
        placed.insert(placed.end(), waiting.begin(), waiting.end());  // of blocks that no gradient reached
        return placed;
    }

  private:
    std::int32_t end_of(std::size_t segment) const { return static_cast<std::int32_t>(segments_[segment].end); }

    static void move_calls(const Segment& segment, std::vector<IssuedCall>& from, std::vector<IssuedCall>& to) {
        const auto count = static_cast<std::ptrdiff_t>(segment.repeated_end - segment.first);
        to.insert(to.end(), from.end() - count, from.end());
        from.erase(from.end() - count, from.end());
    }

    std::int32_t nodes_;
    std::span<const Segment> segments_;
    std::vector<std::int32_t> repeated_;  ///< of each repetition, its node of the graph
};

}  // namespace

IssueOrder issue_order(const Graph& graph, const TrainingSetup& training, Device::Kind kind) {
    if (training.accumulation < 1 || training.accumulation > most_accumulation)
        throw UsageError("gradients accumulate over 1 to " + std::to_string(most_accumulation) + " passes, not " +
                         std::to_string(training.accumulation));
    const std::vector<Segment> segments = training.checkpointing ? checkpoint_segments(graph) : std::vector<Segment>();
    if (segments.empty()) return Ordering(graph, training, kind).take();
    IssueOrder order = Ordering(with_repeated_calls(graph, segments), training, kind).take();
    order.calls = Repetitions(graph.nodes.size(), segments).in_place(order.calls);
    return order;
}

}  // namespace joulecast
