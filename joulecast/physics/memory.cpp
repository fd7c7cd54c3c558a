#include "joulecast/physics/memory.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

using Position = std::ptrdiff_t;
constexpr Position never = -1;

/// A block of memory and when it is taken and given back. Positions 0 .. n-1 are the forward calls, 2n-1-i is the
/// backward call of node i.
struct Storage {
    double bytes = 0;
    bool resident = false;
    Position first = never;
    Position last = never;
    Position first_gradient = never;  ///< as positions grow: the first backward call that writes it
    bool parameter = false;           ///< its gradient stays until the step ends
};

/// In-place calls, and views and copies that write nothing (reshape of a contiguous tensor).
bool shares_storage(const Node& node) {
    if (node.inputs.empty()) return false;
    if (is_in_place(node.operation)) return true;
    const Family kind = family(node.operation);
    if (kind != Family::view && kind != Family::copy) return false;
    return kind == Family::view || forward_counts(node.operation).bytes_written == 0;
}

class Planner {
  public:
    Planner(const Graph& graph, const Workspace& workspace) : graph_(graph), workspace_(workspace) {
        for (const GraphInput& input : graph.inputs) add_resident(input);
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) place_outputs(i);
        for (const ValueRef& output : graph.outputs) storages_[storage_of(output)].last = end_of_forward();
        transient_.assign(2 * graph.nodes.size() + 1, 0.0);
        if (graph.mode == Mode::training) plan_backward();
    }

    MemoryPlan plan() {
        MemoryPlan plan;
        std::vector<double> change(transient_.size() + 1, 0.0);
        const auto hold = [&](Position first, Position last, double bytes) {
            change[static_cast<std::size_t>(first)] += bytes;
            change[static_cast<std::size_t>(std::max(first, last)) + 1] -= bytes;
        };
        const auto steps = static_cast<Position>(transient_.size()) - 1;
        for (const Storage& storage : storages_) {
            if (storage.resident) {
                plan.resident_bytes += storage.bytes;
            } else {
                hold(storage.first, storage.last, storage.bytes);
                if (storage.last > end_of_forward()) plan.saved_bytes += storage.bytes;
            }
            if (storage.first_gradient == never) continue;
            hold(storage.first_gradient, storage.parameter ? steps : backward_of(storage.first), storage.bytes);
        }
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            const Operation& operation = graph_.nodes[i].operation;
            if (workspace_) add_transient(static_cast<Position>(i), workspace_(operation));
            // Its scratch is taken once in each pass; measured together, it is not known in which.
            if (workspace_ && graph_.mode == Mode::training && mode(operation) == Mode::training) {
                add_transient(backward_of(static_cast<Position>(i)), workspace_(operation));
            }
        }
        double live = 0;
        for (std::size_t at = 0; at < transient_.size(); ++at) {
            live += change[at];
            plan.peak_bytes = std::max(plan.peak_bytes, live + transient_[at]);
        }
        return plan;
    }

  private:
    Position end_of_forward() const { return static_cast<Position>(graph_.nodes.size()) - 1; }
    Position backward_of(Position node) const { return 2 * static_cast<Position>(graph_.nodes.size()) - 1 - node; }
    void add_transient(Position at, double bytes) { transient_[static_cast<std::size_t>(at)] += bytes; }

    void add_resident(const GraphInput& input) {
        Storage storage;
        storage.bytes = static_cast<double>(byte_count(input.type));
        storage.resident = true;
        storage.parameter = input.kind == GraphInput::Kind::parameter;
        input_storage_.push_back(storages_.size());
        storages_.push_back(storage);
    }

    std::size_t storage_of(ValueRef ref) const {
        type_of(graph_, ref);  // throws when the reference points outside
        const auto output = static_cast<std::size_t>(ref.output);
        return ref.node < 0 ? input_storage_[output] : output_storage_[static_cast<std::size_t>(ref.node)][output];
    }

    void place_outputs(std::size_t index) {
        const Node& node = graph_.nodes[index];
        const auto at = static_cast<Position>(index);
        for (const ValueRef& input : node.inputs) {
            if (input.node >= at)
                throw FormatError("the nodes of graph " + graph_.name + " are not in topological order");
            Storage& storage = storages_[storage_of(input)];
            storage.last = std::max(storage.last, at);
        }
        auto& places = output_storage_.emplace_back();
        for (const TensorType& output : node.outputs) {
            if (shares_storage(node)) {
                places.push_back(storage_of(node.inputs.front()));
                continue;
            }
            Storage storage;
            storage.bytes = static_cast<double>(byte_count(output));
            storage.first = storage.last = at;
            places.push_back(storages_.size());
            storages_.push_back(storage);
        }
    }

    void plan_backward() {
        for (Position i = end_of_forward(); i >= 0; --i) {
            const Node& node = graph_.nodes[static_cast<std::size_t>(i)];
            if (mode(node.operation) != Mode::training) continue;
            keep_saved(node, i);
            if (family(node.operation) == Family::view) continue;  // gradients of views are views
            const auto types = tensors(node.operation);
            for (std::size_t k = 0; k < types.size() && k < node.inputs.size(); ++k) {
                if (types[k]->requires_grad) write_gradient(storages_[storage_of(node.inputs[k])], backward_of(i));
            }
        }
    }

    void write_gradient(Storage& storage, Position at) {
        if (storage.resident && !storage.parameter) return;
        if (storage.first_gradient == never) {
            storage.first_gradient = at;
        } else {
            add_transient(at, storage.bytes);  // a second summand stands beside the sum until it is added
        }
    }

    void keep_saved(const Node& node, Position index) {
        const Record* record = find_record(node.operation.target);
        if (record && record->hidden_bytes) keep_hidden(record->hidden_bytes(node.operation), index);
        if (!record || !record->saved) return;
        const std::size_t inputs = tensors(node.operation).size();
        for (const std::int32_t saved : record->saved(node.operation)) {
            const auto k = static_cast<std::size_t>(saved);
            if (saved < 0 || k >= inputs + node.outputs.size()) continue;
            const ValueRef ref =
                k < inputs ? node.inputs.at(k)
                           : ValueRef{static_cast<std::int32_t>(index), static_cast<std::int32_t>(k - inputs)};
            Storage& storage = storages_[storage_of(ref)];
            storage.last = std::max(storage.last, backward_of(index));
        }
    }

    /// What autograd keeps without a place in the graph: dropout's mask, max pooling's indices.
    void keep_hidden(std::int64_t bytes, Position index) {
        Storage storage;
        storage.bytes = static_cast<double>(bytes);
        storage.first = index;
        storage.last = backward_of(index);
        storages_.push_back(storage);
    }

    const Graph& graph_;
    const Workspace& workspace_;
    std::vector<Storage> storages_;
    std::vector<std::size_t> input_storage_;
    std::vector<std::vector<std::size_t>> output_storage_;
    std::vector<double> transient_;
};

}  // namespace

bool is_in_place(const Operation& operation) {
    const std::string_view target = operation.target;
    const std::string_view base = target.substr(0, target.find('.'));
    return base.size() > 1 && base.back() == '_' && base.substr(base.size() - 2) != "__";
}

std::optional<MemoryPlan> plan_memory(const Graph& graph, const Workspace& workspace) {
    if (!graph.has_edges) return std::nullopt;
    return Planner(graph, workspace).plan();
}

}  // namespace joulecast
