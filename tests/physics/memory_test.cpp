#include "joulecast/physics/memory.h"

#include <gtest/gtest.h>

#include "joulecast/error.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

/// A graph with one input of 256 floats (1024 bytes), built call by call.
class Builder {
  public:
    Builder() { graph_.inputs.push_back({"x", GraphInput::Kind::user_input, {Dtype::f32, {256}}, {}}); }

    ValueRef call(const std::string& text, std::vector<ValueRef> inputs) {
        Node node;
        node.operation = parse_operation(text);
        node.inputs = std::move(inputs);
        node.outputs = find_record(node.operation.target)->outputs(node.operation);
        graph_.nodes.push_back(node);
        return {static_cast<std::int32_t>(graph_.nodes.size()) - 1, 0};
    }
    Graph done(ValueRef output) {
        graph_.outputs = {output};
        return graph_;
    }

    static constexpr ValueRef x{-1, 0};

  private:
    Graph graph_;
};

TEST(PlanMemory, HoldsInputAndOutputOfEachCallOfAChain) {
    Builder b;
    const auto first = b.call("aten::relu(self=f32[256])", {Builder::x});
    const auto second = b.call("aten::relu(self=f32[256])", {first});
    const auto third = b.call("aten::relu(self=f32[256])", {second});
    const auto plan = plan_memory(b.done(third));
    EXPECT_EQ(plan->resident_bytes, 1024);
    EXPECT_EQ(plan->peak_bytes, 2048);  // the one read and the one written; the first is gone by the third call
}

TEST(PlanMemory, KeepsWhatASkipConnectionReadsLater) {
    Builder b;
    const auto first = b.call("aten::relu(self=f32[256])", {Builder::x});
    const auto second = b.call("aten::relu(self=f32[256])", {first});
    const auto third = b.call("aten::relu(self=f32[256])", {second});
    const auto sum = b.call("aten::add.Tensor(self=f32[256], other=f32[256])", {first, third});
    EXPECT_EQ(plan_memory(b.done(sum))->peak_bytes, 3 * 1024);  // at the third call: first, second and third
}

TEST(PlanMemory, GivesViewsAndInPlaceCallsNoStorage) {
    Builder b;
    const auto first = b.call("aten::relu(self=f32[256])", {Builder::x});
    const auto view = b.call("aten::view(self=f32[256], size=[16,16])", {first});
    const auto in_place = b.call("aten::relu_(self=f32[16,16])", {view});
    EXPECT_EQ(plan_memory(b.done(in_place))->peak_bytes, 1024);
}

TEST(PlanMemory, AddsTheScratchOfACallWhileItRuns) {
    Builder b;
    const auto first = b.call("aten::relu(self=f32[256])", {Builder::x});
    const auto workspace = [](const Operation&) { return 500.0; };
    EXPECT_EQ(plan_memory(b.done(first), workspace)->peak_bytes, 1524);
}

TEST(PlanMemory, KeepsSavedTensorsUntilTheirBackwardCall) {
    Builder b;
    const auto first = b.call("aten::exp(self=f32[256]~)", {Builder::x});
    const auto second = b.call("aten::exp(self=f32[256]~)", {first});
    Graph graph = b.done(second);
    graph.mode = Mode::training;
    const auto plan = plan_memory(graph);
    // exp saves its result. Backward of the second call: both results, and the gradient of the first.
    EXPECT_EQ(plan->peak_bytes, 3 * 1024);
    EXPECT_EQ(plan->saved_bytes, 2 * 1024);
}

TEST(PlanMemory, KnowsNothingOfABagOfOperations) {
    Graph bag;
    bag.has_edges = false;
    EXPECT_FALSE(plan_memory(bag).has_value());
}

TEST(PlanMemory, RefusesNodesOutOfOrder) {
    Builder b;
    const auto first = b.call("aten::relu(self=f32[256])", {Builder::x});
    Graph graph = b.done(first);
    graph.nodes[0].inputs[0] = {0, 0};  // reads its own output
    EXPECT_THROW(plan_memory(graph), FormatError);
}

TEST(IsInPlace, GoesByTheUnderscoreOfTheBaseName) {
    EXPECT_TRUE(is_in_place(parse_operation("aten::add_.Tensor(self=f32[2], other=f32[2])")));
    EXPECT_FALSE(is_in_place(parse_operation("aten::add.Tensor(self=f32[2], other=f32[2])")));
}

}  // namespace
}  // namespace joulecast
