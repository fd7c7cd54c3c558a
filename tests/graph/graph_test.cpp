#include "joulecast/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/error.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

Node node(const std::string& text, std::vector<ValueRef> inputs) {
    Node result;
    result.operation = parse_operation(text);
    result.inputs = std::move(inputs);
    result.outputs = find_record(result.operation.target)->outputs(result.operation);
    return result;
}

SymbolicSize symbolic(SymbolicSize::Place place, std::int32_t index, std::int32_t position, const char* expression) {
    return {place, index, position, Expression::parse(expression)};
}

GraphInput input(const char* name, GraphInput::Kind kind, TensorType type) {
    return {name, kind, std::move(type), {}};
}

/// images -> conv2d -> batch_norm -> dropout -> argmax, then a reshape by the symbol; batch 2.
Graph small_network() {
    using Place = SymbolicSize::Place;
    using Kind = GraphInput::Kind;
    Graph graph;
    graph.name = "small";
    graph.symbols["s0"] = {2, 1, 64};
    graph.inputs = {input("images", Kind::user_input, {Dtype::f32, {2, 3, 8, 8}}),
                    input("conv.weight", Kind::parameter, {Dtype::f32, {4, 3, 3, 3}}),
                    input("norm.weight", Kind::parameter, {Dtype::f32, {4}}),
                    input("norm.mean", Kind::buffer, {Dtype::f32, {4}}),
                    input("norm.count", Kind::parameter, {Dtype::i64, {}})};
    graph.inputs[0].symbolic = {{0, Expression::symbol("s0")}};
    graph.nodes = {
        node("aten::conv2d(input=f32[2,3,8,8], weight=f32[4,3,3,3])", {{-1, 0}, {-1, 1}}),
        node("aten::batch_norm(input=f32[2,4,6,6], weight=f32[4], bias=none, running_mean=f32[4], running_var=none, "
             "training=false, momentum=0.1, eps=1e-05, cudnn_enabled=false)",
             {{0, 0}, {-1, 2}, {-1, 3}}),
        node("aten::dropout(input=f32[2,4,6,6], p=0.5, train=false)", {{1, 0}}),
        node("aten::argmax(self=f32[2,4,6,6], dim=1)", {{2, 0}}),
        node("aten::reshape(self=i64[2,6,6], shape=[2,36])", {{3, 0}})};
    const auto batch_of = [](Place place) { return symbolic(place, 0, 0, "s0"); };
    for (Node& each : graph.nodes) {
        each.symbolic = {batch_of(Place::input_tensor), batch_of(Place::output_tensor)};
    }
    graph.nodes[4].symbolic.push_back(symbolic(Place::argument, 1, 0, "s0"));
    graph.outputs = {{4, 0}};
    return graph;
}

TEST(Graph, NamesTheTypeOfAnyValue) {
    const Graph graph = small_network();
    EXPECT_EQ(type_of(graph, {-1, 1}).sizes, (Integers{4, 3, 3, 3}));
    EXPECT_EQ(type_of(graph, {0, 0}).sizes, (Integers{2, 4, 6, 6}));
}

TEST(Graph, RefusesValuesOutsideOfIt) {
    const Graph graph = small_network();
    for (const ValueRef ref : {ValueRef{-1, 5}, {-2, 0}, {5, 0}, {0, 1}, {0, -1}}) {
        EXPECT_THROW(type_of(graph, ref), FormatError) << ref.node << ":" << ref.output;
    }
}

TEST(WithSymbol, ReshapesInputsTensorsOutputsAndArguments) {
    const Graph graph = with_symbol(small_network(), "s0", 5);
    EXPECT_EQ(graph.symbols.at("s0").value, 5);
    EXPECT_EQ(graph.inputs[0].type.sizes[0], 5);
    EXPECT_EQ(signature(graph.nodes[0].operation), "aten::conv2d(input=f32[5,3,8,8], weight=f32[4,3,3,3])");
    EXPECT_EQ(signature(graph.nodes[4].operation), "aten::reshape(self=i64[5,6,6], shape=[5,36])");
    EXPECT_EQ(graph.nodes[4].outputs[0].sizes, (Integers{5, 36}));
    for (const Node& each : graph.nodes) {
        EXPECT_EQ(find_record(each.operation.target)->outputs(each.operation), each.outputs) << each.operation.target;
    }
}

TEST(WithSymbol, NamesTheSymbolsThereAre) {
    try {
        with_symbol(small_network(), "batch", 5);
        FAIL() << "an unknown symbol was accepted";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("batch"));
        EXPECT_THAT(error.what(), HasSubstr("it has s0"));
    }
}

TEST(WithSymbol, RefusesAValueOutOfRange) {
    EXPECT_THROW(with_symbol(small_network(), "s0", 0), Error);
    EXPECT_THROW(with_symbol(small_network(), "s0", 65), Error);
    EXPECT_NO_THROW(with_symbol(small_network(), "s0", 64));
}

TEST(WithSymbol, RefusesPatchesThatPointOutsideOfTheNode) {
    using Place = SymbolicSize::Place;
    for (const auto& patch : {symbolic(Place::input_tensor, 9, 0, "s0"), symbolic(Place::input_tensor, 0, 9, "s0"),
                              symbolic(Place::output_tensor, 1, 0, "s0"), symbolic(Place::argument, 7, 0, "s0"),
                              symbolic(Place::argument, 0, 0, "s0"), symbolic(Place::argument, -1, 0, "s0")}) {
        Graph graph = small_network();
        graph.nodes[0].symbolic = {patch};
        EXPECT_THROW(with_symbol(graph, "s0", 5), FormatError);
    }
}

TEST(ToTraining, MarksWhatAGradientFlowsTo) {
    const Graph graph = to_training(small_network());
    EXPECT_EQ(graph.mode, Mode::training);
    // Images take no gradient, the convolution's weight does; so its output does.
    EXPECT_EQ(signature(graph.nodes[0].operation), "aten::conv2d(input=f32[2,3,8,8], weight=f32[4,3,3,3]~)");
    EXPECT_TRUE(graph.nodes[0].outputs[0].requires_grad);
    // Buffers are not marked, integer parameters cannot be.
    EXPECT_THAT(signature(graph.nodes[1].operation), HasSubstr("input=f32[2,4,6,6]~, weight=f32[4]~, bias=none, "
                                                               "running_mean=f32[4], "));
    EXPECT_FALSE(graph.inputs[4].type.requires_grad);
}

TEST(ToTraining, StopsAtOperationsWithoutGradient) {
    const Graph graph = to_training(small_network());
    EXPECT_EQ(signature(graph.nodes[3].operation), "aten::argmax(self=f32[2,4,6,6], dim=1)");
    EXPECT_FALSE(graph.nodes[3].outputs[0].requires_grad);
    EXPECT_EQ(mode(graph.nodes[4].operation), Mode::inference);
}

TEST(ToTraining, SwitchesNormsAndDropoutToTraining) {
    const Graph graph = to_training(small_network());
    EXPECT_EQ(std::get<bool>(*find_argument(graph.nodes[1].operation, "training")), true);
    EXPECT_EQ(std::get<bool>(*find_argument(graph.nodes[2].operation, "train")), true);
}

TEST(ToTraining, MarksEveryFloatingTensorOfABag) {
    Graph bag;
    bag.has_edges = false;
    bag.nodes.resize(1);
    bag.nodes[0].operation = parse_operation("aten::embedding(weight=f32[10,4], indices=i64[3])");
    EXPECT_EQ(signature(to_training(bag).nodes[0].operation), "aten::embedding(weight=f32[10,4]~, indices=i64[3])");
}

TEST(ToTraining, RefusesANodeWithoutItsEdges) {
    Graph graph = small_network();
    graph.nodes[0].inputs.pop_back();
    EXPECT_THROW(to_training(graph), FormatError);
}

TEST(WithDtype, CastsFloatsAndLeavesIntegers) {
    Graph graph = small_network();
    graph.nodes.push_back(node("aten::to.dtype(self=f32[2,3,8,8], dtype=f32)", {{-1, 0}}));
    const Graph cast = with_dtype(graph, Dtype::bf16);
    EXPECT_EQ(cast.inputs[0].type.dtype, Dtype::bf16);
    EXPECT_EQ(cast.inputs[4].type.dtype, Dtype::i64);
    EXPECT_EQ(signature(cast.nodes[0].operation), "aten::conv2d(input=bf16[2,3,8,8], weight=bf16[4,3,3,3])");
    EXPECT_EQ(cast.nodes[0].outputs[0].dtype, Dtype::bf16);
    EXPECT_EQ(signature(cast.nodes[4].operation), "aten::reshape(self=i64[2,6,6], shape=[2,36])");
    EXPECT_EQ(signature(cast.nodes[5].operation), "aten::to.dtype(self=bf16[2,3,8,8], dtype=bf16)");
}

TEST(WithDtype, RefusesIntegers) {
    EXPECT_THROW(with_dtype(small_network(), Dtype::i64), Error);
}

TEST(CountOperations, MergesEqualCallsInOrderOfAppearance) {
    Graph graph;
    graph.nodes = {node("aten::relu(self=f32[2])", {}), node("aten::tanh(self=f32[2])", {}),
                   node("aten::relu(self=f32[2])", {}), node("aten::relu(self=f32[3])", {})};
    graph.nodes[2].count = 4;
    const auto counted = count_operations(graph);
    ASSERT_EQ(counted.size(), 3U);
    EXPECT_EQ(signature(counted[0].operation), "aten::relu(self=f32[2])");
    EXPECT_EQ(counted[0].count, 5);  // 1 + 4
    EXPECT_EQ(counted[1].count, 1);
    EXPECT_EQ(signature(counted[2].operation), "aten::relu(self=f32[3])");
}

TEST(WithSymbol, KeepsTheOrderOfDenseTensorsThatHaveNoSymbolicStrides) {
    Graph graph;
    graph.symbols["batch"] = {8, 1, 64};
    graph.inputs.push_back(input("x", GraphInput::Kind::user_input, channels_last(Dtype::f32, {8, 3, 4, 5})));
    graph.inputs[0].symbolic = {{0, Expression::symbol("batch")}};
    EXPECT_EQ(with_symbol(graph, "batch", 2).inputs[0].type, channels_last(Dtype::f32, {2, 3, 4, 5}));
    graph.inputs[0].type = strided(Dtype::f32, {8, 3}, {7, 1});
    EXPECT_THROW(with_symbol(graph, "batch", 2), FormatError);
}

}  // namespace
}  // namespace joulecast
