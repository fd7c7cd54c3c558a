#include "workers/pretend/storages.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "joulecast/error.h"
#include "joulecast/graph/record.h"

namespace joulecast::pretend {
namespace {

constexpr double block_bytes = 512;
/// Of a convolution's input, what its algorithm copies.
constexpr double convolution_scratch_share = 0.08;

double rounded(double bytes) {
    return std::ceil(bytes / block_bytes) * block_bytes;
}

double storage_bytes(const TensorType& type) {
    return static_cast<double>(span(type)) * static_cast<double>(element_bytes(type.dtype));
}

bool shares_memory(const Operation& operation) {
    return writes_in_place(operation) || family(operation) == Family::view;
}

double hidden_bytes(const Operation& operation) {
    const Record* record = find_record(operation.target);
    if (record == nullptr || record->hidden_bytes == nullptr) return 0;
    return static_cast<double>(record->hidden_bytes(operation));
}

/// Memory over a run of a network.
class Run {
  public:
    Run(const Graph& graph, const Storages& storages)
        : graph_(graph), storages_(storages), last_reader_(storages.count(), -1), keeper_(storages.count(), -1) {
        const auto nodes = static_cast<std::ptrdiff_t>(graph.nodes.size());
        for (std::ptrdiff_t i = 0; i < nodes; ++i) note(i);
        for (const ValueRef output : graph.outputs) last_reader_[storages.of(output)] = nodes;
    }

    double peak() {
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) forward(i);
        if (graph_.mode == Mode::training) {
            gradient_.assign(storages_.count(), false);
            for (std::size_t i = graph_.nodes.size(); i-- > 0;) backward(i);
        }
        return peak_;
    }

  private:
    /// Who reads its tensors last, and who keeps them for its backward call.
    void note(std::ptrdiff_t at) {
        const Node& node = graph_.nodes[static_cast<std::size_t>(at)];
        for (const ValueRef input : node.inputs) last_reader_[storages_.of(input)] = at;
        for (const std::size_t made : storages_.made_by(static_cast<std::size_t>(at))) last_reader_[made] = at;
        const Record* record = find_record(node.operation.target);
        if (mode(node.operation) != Mode::training || record == nullptr || record->saved == nullptr) return;
        for (const std::int32_t saved : record->saved(node.operation)) keep(at, node, static_cast<std::size_t>(saved));
    }
    void keep(std::ptrdiff_t at, const Node& node, std::size_t saved) {
        const bool is_input = saved < node.inputs.size();
        if (!is_input && saved - node.inputs.size() >= node.outputs.size()) return;
        const ValueRef value =
            is_input ? node.inputs[saved]
                     : ValueRef{static_cast<std::int32_t>(at), static_cast<std::int32_t>(saved - node.inputs.size())};
        std::ptrdiff_t& keeper = keeper_[storages_.of(value)];
        // Backward runs from the last node to the first: the first that keeps it frees it.
        keeper = keeper < 0 ? at : std::min(keeper, at);
    }

    void take(double bytes) {
        alive_ += bytes;
        peak_ = std::max(peak_, alive_);
    }
    double size(std::size_t storage) const { return rounded(storages_.bytes(storage)); }

    void forward(std::size_t at) {
        const Operation& operation = graph_.nodes[at].operation;
        for (const std::size_t made : storages_.made_by(at)) take(size(made));
        peak_ = std::max(peak_, alive_ + scratch_bytes(operation));
        if (mode(operation) == Mode::training) take(rounded(hidden_bytes(operation)));
        const auto release = [&](std::size_t storage) {
            if (storages_.is_input(storage) || last_reader_[storage] != static_cast<std::ptrdiff_t>(at)) return;
            last_reader_[storage] = -2;  // once, though it may be named twice
            if (keeper_[storage] < 0) alive_ -= size(storage);
        };
        for (const ValueRef input : graph_.nodes[at].inputs) release(storages_.of(input));
        for (const std::size_t made : storages_.made_by(at)) release(made);
    }

    void backward(std::size_t at) {
        const Node& node = graph_.nodes[at];
        if (mode(node.operation) == Mode::training) {
            const auto types = tensors(node.operation);
            for (std::size_t i = 0; i < std::min(types.size(), node.inputs.size()); ++i) {
                const std::size_t storage = storages_.of(node.inputs[i]);
                if (!types[i]->requires_grad || gradient_[storage]) continue;
                gradient_[storage] = true;
                take(size(storage));
            }
            peak_ = std::max(peak_, alive_ + scratch_bytes(node.operation));
            alive_ -= rounded(hidden_bytes(node.operation));
        }
        for (const std::size_t made : storages_.made_by(at)) {
            if (gradient_[made]) alive_ -= size(made);
        }
        for (std::size_t storage = 0; storage < storages_.count(); ++storage) {
            if (keeper_[storage] != static_cast<std::ptrdiff_t>(at) || storages_.is_input(storage)) continue;
            if (last_reader_[storage] == -2) alive_ -= size(storage);
        }
    }

    const Graph& graph_;
    const Storages& storages_;
    std::vector<std::ptrdiff_t> last_reader_;  ///< -2: freed
    std::vector<std::ptrdiff_t> keeper_;
    std::vector<bool> gradient_;
    double alive_ = 0;
    double peak_ = 0;
};

}  // namespace

Storages::Storages(const Graph& graph) : inputs_(graph.inputs.size()), made_(graph.nodes.size()) {
    for (const GraphInput& input : graph.inputs) {
        storages_.push_back(bytes_.size());
        bytes_.push_back(storage_bytes(input.type));
    }
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        if (node.inputs.size() != tensors(node.operation).size())
            throw FormatError("node " + std::to_string(i) + " has not one edge for each of its tensors");
        const bool shares = !node.inputs.empty() && shares_memory(node.operation);
        const std::size_t shared = shares ? of(node.inputs.front()) : 0;
        for (const ValueRef input : node.inputs) of(input);
        first_result_.push_back(storages_.size());
        for (const TensorType& type : node.outputs) {
            if (!shares) made_[i].push_back(bytes_.size());
            storages_.push_back(shares ? shared : bytes_.size());
            if (!shares) bytes_.push_back(storage_bytes(type));
        }
    }
    for (const ValueRef output : graph.outputs) of(output);
}

std::size_t Storages::of(ValueRef value) const {
    const auto output = static_cast<std::size_t>(std::max(0, value.output));
    if (value.node < 0) {
        if (value.output < 0 || output >= inputs_) throw FormatError("an edge leads to no input");
        return storages_[output];
    }
    const auto node = static_cast<std::size_t>(value.node);
    if (node >= first_result_.size()) throw FormatError("an edge leads to a later node");
    const std::size_t end = node + 1 < first_result_.size() ? first_result_[node + 1] : storages_.size();
    if (value.output < 0 || first_result_[node] + output >= end) throw FormatError("an edge leads to no result");
    return storages_[first_result_[node] + output];
}

bool writes_in_place(const Operation& operation) {
    const std::size_t name = operation.target.rfind("::");
    const std::size_t dot = operation.target.find('.', name == std::string::npos ? 0 : name);
    const std::size_t end = std::min(dot, operation.target.size());
    return end > 0 && operation.target[end - 1] == '_';
}

double scratch_bytes(const Operation& operation) {
    const auto inputs = tensors(operation);
    if (family(operation) != Family::convolution || inputs.empty()) return 0;
    return rounded(convolution_scratch_share * storage_bytes(*inputs.front()));
}

double peak_bytes(const Operation& operation) {
    const Record* record = find_record(operation.target);
    double results = 0;
    if (record != nullptr && !shares_memory(operation)) {
        for (const TensorType& type : record->outputs(operation)) results += rounded(storage_bytes(type));
    }
    double peak = results + scratch_bytes(operation);
    if (mode(operation) == Mode::inference) return peak;
    peak += results + rounded(hidden_bytes(operation));  // the results' gradients
    for (const TensorType* type : tensors(operation)) {
        if (type->requires_grad) peak += rounded(storage_bytes(*type));
    }
    return peak;
}

double peak_bytes(const Graph& graph, double state_copies) {
    const Storages storages(graph);
    return Run(graph, storages).peak() + state_copies * trained_bytes(graph);
}

double resident_bytes(const Graph& graph) {
    double bytes = 0;
    for (const GraphInput& input : graph.inputs) bytes += storage_bytes(input.type);
    return bytes;
}

double trained_bytes(const Graph& graph) {
    double bytes = 0;
    for (const GraphInput& input : graph.inputs) {
        if (input.type.requires_grad) bytes += storage_bytes(input.type);
    }
    return bytes;
}

}  // namespace joulecast::pretend
