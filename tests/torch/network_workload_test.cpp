#include "workers/torch/network_workload.h"

#include <gtest/gtest.h>

#include "tests/torch/called.h"
#include "workers/torch/peak_memory.h"

namespace joulecast::torch_worker {
namespace {

Node node(const std::string& text, std::vector<ValueRef> inputs, std::vector<TensorType> outputs) {
    Node result;
    result.operation = parse_operation(text);
    result.inputs = std::move(inputs);
    result.outputs = std::move(outputs);
    return result;
}

constexpr std::int64_t kib_floats = 256;  // 1 KiB of float32

/// x -> relu, n times in a row, each output 1 KiB.
Graph chain(int length) {
    Graph graph;
    graph.name = "chain";
    const TensorType type{Dtype::f32, {kib_floats}};
    graph.inputs = {{"x", GraphInput::Kind::user_input, type, {}}};
    for (int i = 0; i < length; ++i) {
        graph.nodes.push_back(
            node("aten::relu(self=f32[256])", {i == 0 ? ValueRef{-1, 0} : ValueRef{i - 1, 0}}, {type}));
    }
    graph.outputs = {{length - 1, 0}};
    return graph;
}

/// y = relu(x W^T + b), W and b trained.
Graph trained() {
    Graph graph;
    graph.mode = Mode::training;
    graph.inputs = {{"x", GraphInput::Kind::user_input, {Dtype::f32, {8, 16}}, {}},
                    {"w", GraphInput::Kind::parameter, {Dtype::f32, {4, 16}}, {}},
                    {"b.bias", GraphInput::Kind::parameter, {Dtype::f32, {4}}, {}}};
    graph.nodes = {node("aten::linear(input=f32[8,16], weight=f32[4,16]~, bias=f32[4]~)", {{-1, 0}, {-1, 1}, {-1, 2}},
                        {{Dtype::f32, {8, 4}}}),
                   node("aten::relu_(self=f32[8,4]~)", {{0, 0}}, {{Dtype::f32, {8, 4}}})};
    graph.outputs = {{1, 0}};
    return graph;
}

TEST(Network, ComputesWhatTheGraphSays) {
    TensorMaker maker(1);
    Network network(trained(), maker);
    const auto& in = network.inputs();
    const at::Tensor expected = at::relu(at::linear(in[0], in[1], in[2]));
    const auto outputs = network.forward();
    ASSERT_EQ(outputs.size(), 1U);
    EXPECT_TRUE(at::allclose(outputs[0], expected));
}

// As a module runs under inference_mode: its parameters require gradients.
TEST(NetworkInference, TakesTheKernelsThatParametersTake) {
    Graph graph;
    graph.inputs = {{"x", GraphInput::Kind::user_input, {Dtype::f32, {6, 4, 8}}, {}},
                    {"w", GraphInput::Kind::parameter, {Dtype::f32, {16, 8}}, {}}};
    graph.nodes = {
        node("aten::transpose.int(self=f32[6,4,8], dim0=0, dim1=1)", {{-1, 0}}, {{Dtype::f32, {4, 6, 8}, {8, 32, 1}}}),
        node("aten::linear(input=f32[4,6,8]{8,32,1}, weight=f32[16,8])", {{0, 0}, {-1, 1}},
             {{Dtype::f32, {4, 6, 16}}})};
    graph.outputs = {{1, 0}};
    TensorMaker maker(1);
    Network network(graph, maker);
    NetworkInference workload(network);
    EXPECT_FALSE(called([&] { workload.run(1, false); }).contains("aten::bmm"));
    EXPECT_FALSE(network.inputs()[0].requires_grad());
}

// With means of one each ReLU behind a batch norm let less through, and none of the later ones anything at all.
TEST(Network, ValuesLiveThroughManyBatchNorms) {
    Graph graph;
    const TensorType image{Dtype::f32, {1, 8, 16, 16}};
    graph.inputs = {{"x", GraphInput::Kind::user_input, image, {}}};
    ValueRef last{-1, 0};
    const auto made = [&graph](GraphInput::Kind kind, Sizes sizes) {
        graph.inputs.push_back({"w", kind, {Dtype::f32, std::move(sizes)}, {}});
        return ValueRef{-1, static_cast<std::int32_t>(graph.inputs.size()) - 1};
    };
    const auto call = [&](const std::string& text, std::vector<ValueRef> inputs) {
        graph.nodes.push_back(node(text, std::move(inputs), {image}));
        last = {static_cast<std::int32_t>(graph.nodes.size()) - 1, 0};
    };
    for (int layer = 0; layer < 10; ++layer) {
        const ValueRef kernel = made(GraphInput::Kind::parameter, {8, 8, 3, 3});
        call("aten::conv2d(input=f32[1,8,16,16], weight=f32[8,8,3,3], padding=[1,1])", {last, kernel});
        const std::vector<ValueRef> channels{made(GraphInput::Kind::parameter, {8}),
                                             made(GraphInput::Kind::parameter, {8}),
                                             made(GraphInput::Kind::buffer, {8}), made(GraphInput::Kind::buffer, {8})};
        call(
            "aten::batch_norm(input=f32[1,8,16,16], weight=f32[8], bias=f32[8], running_mean=f32[8], "
            "running_var=f32[8], training=false, momentum=0.1, eps=1e-05, cudnn_enabled=true)",
            {last, channels[0], channels[1], channels[2], channels[3]});
        call("aten::relu(self=f32[1,8,16,16])", {last});
    }
    graph.outputs = {last};
    TensorMaker maker(1);
    const at::Tensor result = Network(graph, maker).forward().at(0);
    EXPECT_GT((result > 0).to(at::kFloat).mean().item<float>(), 0.2F);
    EXPECT_GT(result.std(std::vector<std::int64_t>{2, 3}).max().item<float>(), 1e-3F);  // no constant planes
}

TEST(Network, ReleasesTensorsAfterTheirLastUse) {
    TensorMaker maker(1);
    Network network(chain(10), maker);
    NetworkInference workload(network);
    // The input of a node and its output; all ten at once would be 10 KiB.
    EXPECT_EQ(peak_memory([&] { workload.run(1, false); }), 2048);
}

TEST(Network, ResidentBytesAreThoseOfItsInputs) {
    TensorMaker maker(1);
    EXPECT_EQ(Network(trained(), maker).resident_bytes(), 4 * (8 * 16 + 4 * 16 + 4));
}

TEST(Network, ChecksAndSymbolicArithmeticDoNotRun) {
    Graph graph = chain(1);
    graph.nodes.push_back(node("operator::mul(a=2, b=3)", {}, {}));
    graph.nodes.push_back(node("aten::sym_size.int(self=f32[256], dim=0)", {{-1, 0}}, {}));
    TensorMaker maker(1);
    EXPECT_EQ(Network(graph, maker).forward().size(), 1U);
}

TEST(Network, AnUnknownNodeIsNamed) {
    Graph graph = chain(1);
    graph.nodes[0].operation.target = "aten::nonsense";
    TensorMaker maker(1);
    EXPECT_THROW(Network(graph, maker), Unsupported);
    graph.has_edges = false;
    EXPECT_THROW(Network(graph, maker), Unsupported);
}

TEST(NetworkTraining, FillsTheGradientsOfParametersAfreshEachStep) {
    TensorMaker maker(1);
    Network network(trained(), maker);
    NetworkTraining workload(network, true);
    workload.run(1, false);
    const at::Tensor once = network.inputs()[1].grad().clone();
    workload.run(2, false);
    EXPECT_TRUE(at::allclose(network.inputs()[1].grad(), once));  // not three times as large
    EXPECT_FALSE(network.inputs()[0].grad().defined());
}

TEST(NetworkTraining, AnOptimizerMovesTheWeightsOncePerStep) {
    TensorMaker maker(1);
    Network network(trained(), maker);
    ASSERT_EQ(network.parameters().size(), 2U);  // w and b, not x
    const at::Tensor before = network.parameters()[0].detach().clone();
    OptimizerStep update(Optimizer::sgd, network.parameters(), UpdateStyle::loop, 0.125);
    NetworkTraining workload(network, true, &update);
    workload.run(1, false);
    const at::Tensor gradient = network.parameters()[0].grad();
    EXPECT_TRUE(at::allclose(network.parameters()[0].detach(), before - 0.125 * gradient));
    EXPECT_FALSE(at::equal(network.parameters()[0].detach(), before));
}

TEST(NetworkTraining, ForwardAloneMakesNoGradients) {
    TensorMaker maker(1);
    Network network(trained(), maker);
    NetworkTraining(network, false).run(1, false);
    EXPECT_FALSE(network.inputs()[1].grad().defined());
}

}  // namespace
}  // namespace joulecast::torch_worker
