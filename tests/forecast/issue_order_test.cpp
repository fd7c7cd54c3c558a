#include "joulecast/forecast/issue_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "joulecast/error.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using testing::synthetic_graph;

/// x -> relu -> a; a + linear(a): what relu gives has two readers.
Graph branching() {
    Graph graph;
    graph.name = "branching";
    graph.inputs.resize(2);
    graph.inputs[0].type = {Dtype::f32, {4, 8}};
    graph.inputs[1].type = {Dtype::f32, {8, 8}};
    graph.inputs[1].kind = GraphInput::Kind::parameter;
    const auto add = [&](const char* text, std::vector<ValueRef> inputs) {
        Node node;
        node.operation = parse_operation(text);
        node.inputs = std::move(inputs);
        node.outputs = {{Dtype::f32, {4, 8}}};
        graph.nodes.push_back(node);
    };
    add("aten::linear(input=f32[4,8], weight=f32[8,8])", {{-1, 0}, {-1, 1}});
    add("aten::relu(self=f32[4,8])", {{0, 0}});
    add("aten::linear(input=f32[4,8], weight=f32[8,8])", {{1, 0}, {-1, 1}});
    add("aten::add.Tensor(self=f32[4,8], other=f32[4,8])", {{1, 0}, {2, 0}});
    graph.outputs = {{3, 0}};
    return graph;
}

std::vector<std::string> texts(const IssueOrder& order) {
    std::vector<std::string> all;
    for (const IssuedCall& call : order.calls) {
        const std::string& target = order.kinds[call.kind].operation.target;
        all.push_back(std::string(name(call.part)) + " " + target.substr(std::string("aten::").size()));
    }
    return all;
}

TEST(IssueOrder, IsThatOfTheGraphInInference) {
    const IssueOrder order = issue_order(branching(), {}, Device::Kind::cpu);
    EXPECT_THAT(texts(order),
                ::testing::ElementsAre("forward linear", "forward relu", "forward linear", "forward add.Tensor"));
    EXPECT_EQ(order.kinds.size(), 3U) << "both linear layers are alike";
    EXPECT_EQ(order.kinds[0].count, 2);
    EXPECT_EQ(order.kinds[0].forward_work, 1);
}

TEST(IssueOrder, GoesBackwardInReverseAndAddsGradientsThatMeet) {
    const IssueOrder order = issue_order(to_training(branching()), {}, Device::Kind::cpu);
    // relu's output is read by linear and add: their gradients are added once. The weight is read twice, too.
    EXPECT_THAT(texts(order),
                ::testing::ElementsAre("forward linear", "forward relu", "forward linear", "forward add.Tensor",
                                       "backward add.Tensor", "backward linear", "gradient sum add_.Tensor",
                                       "backward relu", "backward linear", "gradient sum add_.Tensor"));
    // The first linear layer has no gradient for the input: another operation than the second.
    const auto sums =
        std::ranges::count_if(order.kinds, [](const CallKind& kind) { return kind.part == StepPart::gradient_sum; });
    EXPECT_EQ(sums, 2);
}

TEST(IssueOrder, SplitsWorkByWhatItsRecordCounts) {
    const IssueOrder order = issue_order(to_training(branching()), {}, Device::Kind::cpu);
    // The first layer: one product forward, one backward (of the weight); the second: one and two.
    EXPECT_NEAR(order.kinds[order.calls[0].kind].forward_work, 1.0 / 2, 1e-12);
    EXPECT_NEAR(order.kinds[order.calls[2].kind].forward_work, 1.0 / 3, 1e-12);
    EXPECT_NEAR(order.kinds[order.calls[2].kind].forward_issue, 1.0 / 3, 1e-12);
}

TEST(IssueOrder, CountsEveryCallItLists) {
    const Graph graph = synthetic_graph("densenet121", 2, Mode::training);
    TrainingSetup training;
    training.optimizer = Optimizer::adam;
    training.accumulation = 3;
    training.checkpointing = true;
    const IssueOrder order = issue_order(graph, training, Device::Kind::cpu);
    std::vector<std::int64_t> listed(order.kinds.size(), 0);
    for (const IssuedCall& call : order.calls) listed[call.kind] += call.part == StepPart::backward ? 0 : 1;
    for (std::size_t i = 0; i < listed.size(); ++i) EXPECT_EQ(listed[i], order.kinds[i].count) << i;
}

TEST(IssueOrder, AccumulatesGradientsFromTheSecondPassOn) {
    TrainingSetup training;
    training.accumulation = 4;
    const IssueOrder order = issue_order(to_training(branching()), training, Device::Kind::cpu);
    EXPECT_EQ(std::ranges::count(texts(order), "accumulation add_.Tensor"), 3) << "one parameter, three times";
    EXPECT_EQ(std::ranges::count(texts(order), "backward relu"), 4);
}

TEST(IssueOrder, RunsTheForwardCallsOfACheckpointedBlockAgainBeforeItsBackwardCalls) {
    Graph graph = to_training(branching());
    graph.nodes[0].module_path = "stem";
    graph.nodes[1].module_path = "blocks.0.act";
    graph.nodes[2].module_path = "blocks.0.proj";
    graph.nodes[3].module_path = "head";
    TrainingSetup training;
    training.checkpointing = true;
    const IssueOrder order = issue_order(graph, training, Device::Kind::cpu);
    EXPECT_THAT(texts(order), ::testing::ElementsAre("forward linear", "forward relu", "forward linear",
                                                     "forward add.Tensor", "backward add.Tensor", "forward relu",
                                                     "forward linear", "backward linear", "gradient sum add_.Tensor",
                                                     "backward relu", "backward linear", "gradient sum add_.Tensor"));
    EXPECT_EQ(order.calls[5].node, 1) << "the same calls of the graph";
    EXPECT_EQ(order.calls[6].node, 2);
    EXPECT_EQ(order.kinds[order.calls[5].kind].forward_work, 1) << "without gradients";
    training.accumulation = 3;
    const IssueOrder thrice = issue_order(graph, training, Device::Kind::cpu);
    EXPECT_EQ(std::ranges::count(texts(thrice), "forward relu"), 6);
    EXPECT_EQ(thrice.kinds[order.calls[5].kind].count, 3);
}

TEST(IssueOrder, KnowsWhatMakesTheHostWait) {
    Graph graph = branching();
    Node node;
    for (const char* text : {"aten::nonzero(self=f32[4,8])", "aten::item(self=f32[])",
                             "aten::index.Tensor(self=f32[4,8], indices=[bool[4]])",
                             "aten::index.Tensor(self=f32[4,8], indices=[i64[4]])"}) {
        node.operation = parse_operation(text);
        graph.nodes.push_back(node);
    }
    const IssueOrder order = issue_order(graph, {}, Device::Kind::gpu);
    std::vector<bool> waits;
    for (std::size_t i = 4; i < order.calls.size(); ++i) waits.push_back(order.kinds[order.calls[i].kind].synchronises);
    EXPECT_THAT(waits, ::testing::ElementsAre(true, true, true, false));
    EXPECT_FALSE(order.kinds[0].synchronises);
}

TEST(IssueOrder, OfABagIsNotKnown) {
    EXPECT_TRUE(issue_order(without_edges(branching()), {}, Device::Kind::cpu).calls.empty());
}

TEST(IssueOrder, RefusesATrainingThatTheGraphCannotMake) {
    TrainingSetup adam;
    adam.optimizer = Optimizer::adam;
    const auto refused = [&](const Graph& graph) -> std::string {
        try {
            issue_order(graph, adam, Device::Kind::cpu);
        } catch (const Error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(refused(branching()), HasSubstr("checkpointing need training"));
    EXPECT_THAT(refused(without_edges(to_training(branching()))), HasSubstr("does not name its parameters"));
    TrainingSetup never;
    never.accumulation = 0;
    EXPECT_THROW(issue_order(to_training(branching()), never, Device::Kind::cpu), UsageError);
}

}  // namespace
}  // namespace joulecast
