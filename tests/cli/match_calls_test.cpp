#include "cli/match_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joulecast::cli {
namespace {

struct Call {
    std::string operation;
    std::string module;
    std::int64_t count = 1;
};

Graph graph(const std::vector<Call>& calls) {
    Graph graph;
    graph.has_edges = false;
    for (const Call& call : calls) {
        Node node;
        node.operation = parse_operation(call.operation);
        node.module_path = call.module;
        node.count = call.count;
        graph.nodes.push_back(node);
    }
    return graph;
}

/// "a(...) 1 -> b(...) 1", "-" for an absent side.
std::vector<std::string> lines(const Graph& before, const Graph& after) {
    std::vector<std::string> lines;
    const auto side = [](const std::optional<Operation>& operation, std::int64_t calls) {
        return operation ? signature(*operation) + " " + std::to_string(calls) : std::string("-");
    };
    for (const CallChange& change : match_calls(before, after))
        lines.push_back(side(change.before, change.calls_before) + " -> " + side(change.after, change.calls_after));
    return lines;
}

TEST(MatchCalls, TheSameOperationIsOneLineWithItsCalls) {
    EXPECT_THAT(lines(graph({{"aten::relu(self=f32[8])", "a", 3}}),
                      graph({{"aten::relu(self=f32[8])", "a", 2}, {"aten::relu(self=f32[8])", "b", 2}})),
                ::testing::ElementsAre("aten::relu(self=f32[8]) 3 -> aten::relu(self=f32[8]) 4"));
}

TEST(MatchCalls, AChangedCallKeepsItsModule) {
    // Equal calls in m2 and m3; the one in m1 became wider.
    EXPECT_THAT(lines(graph({{"aten::relu(self=f32[8])", "m1"},
                             {"aten::relu(self=f32[8])", "m2"},
                             {"aten::relu(self=f32[8])", "m3"}}),
                      graph({{"aten::relu(self=f32[16])", "m1"},
                             {"aten::relu(self=f32[8])", "m2"},
                             {"aten::relu(self=f32[8])", "m3"}})),
                ::testing::UnorderedElementsAre("aten::relu(self=f32[8]) 2 -> aten::relu(self=f32[8]) 2",
                                                "aten::relu(self=f32[8]) 1 -> aten::relu(self=f32[16]) 1"));
}

TEST(MatchCalls, AnotherTargetOrModuleIsAddedAndDropped) {
    EXPECT_THAT(lines(graph({{"aten::relu(self=f32[8])", "m1"}}), graph({{"aten::tanh(self=f32[8])", "m1"}})),
                ::testing::UnorderedElementsAre("aten::relu(self=f32[8]) 1 -> -", "- -> aten::tanh(self=f32[8]) 1"));
    EXPECT_THAT(lines(graph({{"aten::relu(self=f32[8])", "m1"}}), graph({{"aten::relu(self=f32[9])", "m2"}})),
                ::testing::UnorderedElementsAre("aten::relu(self=f32[8]) 1 -> -", "- -> aten::relu(self=f32[9]) 1"));
}

TEST(MatchCalls, ACallInPlaceAndOneThatIsNotAreTheSameCallChanged) {
    EXPECT_THAT(lines(graph({{"aten::add_.Tensor(self=f32[8], other=f32[8])", "m1"}}),
                      graph({{"aten::add.Tensor(self=f32[8], other=f32[8])", "m2"}})),
                ::testing::ElementsAre("aten::add_.Tensor(self=f32[8], other=f32[8]) 1 -> "
                                       "aten::add.Tensor(self=f32[8], other=f32[8]) 1"));
}

TEST(MatchCalls, WithoutModulesTheOrderDecides) {
    EXPECT_THAT(lines(graph({{"aten::relu(self=f32[1])", "m1"}, {"aten::relu(self=f32[2])", "m2"}}),
                      graph({{"aten::relu(self=f32[3])", ""}, {"aten::relu(self=f32[4])", ""}})),
                ::testing::ElementsAre("aten::relu(self=f32[1]) 1 -> aten::relu(self=f32[3]) 1",
                                       "aten::relu(self=f32[2]) 1 -> aten::relu(self=f32[4]) 1"));
}

TEST(MatchCalls, CountsAreNeverCountedOneByOne) {
    const std::int64_t many = std::int64_t{1} << 61;
    EXPECT_THAT(lines(graph({{"aten::relu(self=f32[8])", "", many}}), graph({{"aten::relu(self=f32[8])", "", many}})),
                ::testing::SizeIs(1));
}

TEST(ChangedArguments, NamesWhatDiffers) {
    const auto changes = changed_arguments("aten::conv2d(input=f32[1,3,8,8], weight=f32[4,3,3,3], stride=[2,2])",
                                           "aten::conv2d(input=f32[1,3,8,8], weight=f32[4,3,5,5], bias=f32[4])");
    ASSERT_EQ(changes.size(), 3);
    EXPECT_EQ(changes[0].name + changes[0].before + changes[0].after, "weightf32[4,3,3,3]f32[4,3,5,5]");
    EXPECT_EQ(changes[1].name + changes[1].before + "|" + changes[1].after, "stride[2,2]|");
    EXPECT_EQ(changes[2].name + changes[2].before + "|" + changes[2].after, "bias|f32[4]");
}

}  // namespace
}  // namespace joulecast::cli
