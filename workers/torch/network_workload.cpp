#include "workers/torch/network_workload.h"

#include <algorithm>

#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "joulecast/graph/record.h"
#include "workers/torch/content.h"

namespace joulecast::torch_worker {

bool runs_on_device(const Node& node) {
    return family(node.operation) != Family::symbolic && node.operation.target.find("::_assert") == std::string::npos;
}

TensorType made_type(const GraphInput& input) {
    TensorType type = input.type;
    type.requires_grad = false;
    return input.kind == GraphInput::Kind::parameter ? as_parameter(std::move(type)) : type;
}

Network::Network(const Graph& graph, TensorMaker& maker) : place_(maker.place()) {
    if (!graph.has_edges) {
        throw Unsupported("graph " + graph.name + " has no edges: a bag of operations cannot be run as a network");
    }
    const auto filling = input_contents(graph);
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
        inputs_.push_back(maker.make(made_type(graph.inputs[i]), filling[i]));
    }
    values_ = inputs_;
    for (const auto& node : graph.nodes) {
        first_value_.push_back(values_.size());
        values_.resize(values_.size() + node.outputs.size());
    }
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
        if (runs_on_device(graph.nodes[node])) add_step(graph, node);
    }
    for (const auto& ref : graph.outputs) outputs_.push_back(slot(ref));
    plan_releases();
}

std::size_t Network::slot(const ValueRef& ref) const {
    const auto output = static_cast<std::size_t>(ref.output);
    return ref.node < 0 ? output : first_value_[static_cast<std::size_t>(ref.node)] + output;
}

void Network::add_step(const Graph& graph, std::size_t index) {
    const Node& node = graph.nodes[index];
    const auto types = tensors(node.operation);
    if (types.size() != node.inputs.size()) {
        throw Unsupported("node " + std::to_string(index) + " (" + node.operation.target + ") has " +
                          std::to_string(types.size()) + " tensors but " + std::to_string(node.inputs.size()) +
                          " edges");
    }
    Step step{Call(node.operation, place_), node.operation.target, {}, first_value_[index], node.outputs.size(), {}};
    for (const auto& ref : node.inputs) {
        type_of(graph, ref);  // throws for a reference out of the graph
        step.arguments.push_back(slot(ref));
    }
    steps_.push_back(std::move(step));
}

void Network::plan_releases() {
    std::vector<bool> needed(values_.size(), false);
    for (std::size_t i = 0; i < inputs_.size(); ++i) needed[i] = true;
    for (const std::size_t output : outputs_) needed[output] = true;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
        const auto last_use = [&](std::size_t value) {
            if (!needed[value]) step->last_used.push_back(value);
            needed[value] = true;
        };
        for (const std::size_t value : step->arguments) last_use(value);
        // A result that nobody reads is dropped at once.
        for (std::size_t i = 0; i < step->results; ++i) last_use(step->first_result + i);
    }
}

void Network::run(const Step& step) {
    arguments_.clear();
    for (const std::size_t value : step.arguments) arguments_.push_back(values_[value]);
    Stack stack = step.call.stack(arguments_);
    arguments_.clear();
    step.call.issue(stack);
    results_.clear();
    flatten(stack, results_);
    // Trailing results that the graph does not name (masks, reserved space) are dropped.
    const std::size_t count = std::min(step.results, results_.size());
    for (std::size_t i = 0; i < count; ++i) values_[step.first_result + i] = std::move(results_[i]);
    results_.clear();
    for (const std::size_t value : step.last_used) values_[value].reset();
}

std::vector<at::Tensor> Network::forward() {
    for (const auto& step : steps_) {
        try {
            run(step);
        } catch (const c10::OutOfMemoryError&) {
            throw;
        } catch (const c10::Error& error) {
            TORCH_CHECK(false, step.name, ": ", error.what_without_backtrace());
        }
    }
    std::vector<at::Tensor> outputs;
    for (const std::size_t output : outputs_) {
        if (values_[output].defined()) outputs.push_back(values_[output]);
    }
    for (std::size_t i = inputs_.size(); i < values_.size(); ++i) values_[i].reset();
    return outputs;
}

std::vector<at::Tensor> Network::parameters() const {
    std::vector<at::Tensor> result;
    for (const auto& input : inputs_) {
        if (input.requires_grad()) result.push_back(input);
    }
    return result;
}

void Network::clear_gradients() const {
    for (const auto& input : inputs_) {
        if (input.requires_grad()) input.mutable_grad().reset();
    }
}

std::int64_t Network::resident_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& input : inputs_) bytes += static_cast<std::int64_t>(input.nbytes());
    return bytes;
}

void NetworkInference::run(std::int64_t calls, bool /*hot*/) {
    const c10::InferenceMode inference;
    for (std::int64_t i = 0; i < calls; ++i) network_.forward();
}

void NetworkTraining::run(std::int64_t calls, bool /*hot*/) {
    const at::AutoGradMode grad(true);
    for (std::int64_t i = 0; i < calls; ++i) {
        network_.clear_gradients();
        const std::vector<at::Tensor> outputs = network_.forward();
        if (!backward_) continue;
        at::Tensor loss;
        for (const auto& output : outputs) {
            if (!output.requires_grad()) continue;
            const at::Tensor sum = output.sum();
            loss = loss.defined() ? loss + sum : sum;
        }
        if (!loss.defined()) continue;
        torch::autograd::backward({loss});
        if (update_ != nullptr) update_->step();
    }
}

}  // namespace joulecast::torch_worker
