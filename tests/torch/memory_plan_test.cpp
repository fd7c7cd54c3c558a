// What joulecast plans against what torch's allocator hook sees, on small graphs.
#include <gtest/gtest.h>

#include "joulecast/graph/record.h"
#include "joulecast/physics/memory.h"
#include "workers/torch/network_workload.h"
#include "workers/torch/peak_memory.h"

namespace joulecast::torch_worker {
namespace {

/// A trained vector of 2^16 floats and calls on it.
class Calls {
  public:
    Calls() {
        graph_.mode = Mode::training;
        graph_.inputs = {{"p", GraphInput::Kind::parameter, {Dtype::f32, {length}, {}, true}, {}}};
    }

    ValueRef unary(const std::string& target, ValueRef input) {
        return add("aten::" + target + "(self=f32[65536]~)", {input});
    }
    ValueRef binary(const std::string& target, ValueRef left, ValueRef right) {
        return add("aten::" + target + "(self=f32[65536]~, other=f32[65536]~)", {left, right});
    }
    Graph done(ValueRef output) {
        graph_.outputs = {output};
        return graph_;
    }

    static constexpr ValueRef p{-1, 0};
    static constexpr std::int64_t length = 65536;

  private:
    ValueRef add(const std::string& text, std::vector<ValueRef> inputs) {
        Node node;
        node.operation = parse_operation(text);
        node.inputs = std::move(inputs);
        node.outputs = find_record(node.operation.target)->outputs(node.operation);
        for (TensorType& output : node.outputs) output.requires_grad = true;
        graph_.nodes.push_back(node);
        return {static_cast<std::int32_t>(graph_.nodes.size()) - 1, 0};
    }

    Graph graph_;
};

/// Peaks in vectors, as planned and as seen. The loss is a sum, whose gradient is one number and no vector as the plan
/// has it: at no peak here is it alive.
void expect_peak(const Graph& graph) {
    constexpr double vector = 4 * Calls::length;
    MemorySettings settings;
    settings.kept = kept_on_cpu;
    const double planned = plan_memory(graph, settings)->peak_bytes / vector;
    TensorMaker maker(1);
    Network network(graph, maker);
    NetworkTraining workload(network, true);
    const auto seen = static_cast<double>(peak_memory([&] { workload.run(1, false); })) / vector;
    EXPECT_NEAR(planned, seen, 0.01);  // the sum itself is a few bytes
}

TEST(MemoryPlan, IsWhatTorchTakesForAChain) {
    Calls calls;
    ValueRef last = Calls::p;
    for (int i = 0; i < 4; ++i) last = calls.unary("exp", last);
    expect_peak(calls.done(last));
}

TEST(MemoryPlan, IsWhatTorchTakesWhereGradientsMeet) {
    Calls calls;
    const auto a = calls.unary("exp", Calls::p);
    const auto left = calls.unary("exp", calls.unary("exp", a));
    const auto right = calls.unary("tanh", a);
    expect_peak(calls.done(calls.unary("exp", calls.binary("mul.Tensor", left, right))));
}

TEST(MemoryPlan, IsWhatTorchTakesForInference) {
    Calls calls;
    const auto a = calls.unary("exp", Calls::p);
    const auto b = calls.unary("exp", a);
    Graph graph = calls.done(calls.binary("add.Tensor", a, calls.unary("exp", b)));
    graph.mode = Mode::inference;
    for (Node& node : graph.nodes) {
        for (TensorType* tensor : tensors(node.operation)) tensor->requires_grad = false;
    }
    TensorMaker maker(1);
    Network network(graph, maker);
    NetworkInference workload(network);
    EXPECT_EQ(static_cast<double>(peak_memory([&] { workload.run(1, false); })), plan_memory(graph)->peak_bytes);
}

}  // namespace
}  // namespace joulecast::torch_worker
