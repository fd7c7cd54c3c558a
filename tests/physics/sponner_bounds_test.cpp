#include "joulecast/physics/sponner_bounds.h"

#include <gtest/gtest.h>

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

Node node(const std::string& text, std::int64_t count = 1) {
    Node result;
    result.operation = parse_operation(text);
    result.outputs = find_record(result.operation.target)->outputs(result.operation);
    result.count = count;
    return result;
}

/// Three dense layers of 16, 32 and 8 rows: 4 * (rows * 10 + 10 * 10 + rows * 10) bytes each.
Graph layers() {
    Graph graph;
    graph.nodes = {node("aten::linear(input=f32[16,10], weight=f32[10,10])"), node("aten::relu(self=f32[16,10])"),
                   node("aten::linear(input=f32[32,10], weight=f32[10,10])"),
                   node("aten::linear(input=f32[8,10], weight=f32[10,10])")};
    return graph;
}
constexpr double small = 4 * (80 + 100 + 80), middle = 4 * (160 + 100 + 160), large = 4 * (320 + 100 + 320);

TEST(SponnerBounds, AreTwiceTheMeanLayerAndTheTwoLargest) {
    const auto bounds = sponner_bounds(layers());
    ASSERT_TRUE(bounds.has_value());
    EXPECT_EQ(bounds->layers, 3);  // activations are none
    EXPECT_DOUBLE_EQ(bounds->optimistic_bytes, 2 * (small + middle + large) / 3);
    EXPECT_EQ(bounds->pessimistic_bytes, large + middle);
}

TEST(SponnerBounds, CountTheWorkspaceOfEachLayer) {
    const auto bounds = sponner_bounds(layers(), [](const Operation&) { return 1000.0; });
    EXPECT_DOUBLE_EQ(bounds->optimistic_bytes, 2 * (small + middle + large + 3000) / 3);
    EXPECT_EQ(bounds->pessimistic_bytes, large + middle + 2000);
}

TEST(SponnerBounds, ACallOfABagCountsAsOftenAsItIsMade) {
    Graph bag = layers();
    bag.has_edges = false;
    bag.nodes[2].count = 3;
    for (Node& one : bag.nodes) one.outputs.clear();
    const auto bounds = sponner_bounds(bag);
    EXPECT_EQ(bounds->layers, 5);
    EXPECT_DOUBLE_EQ(bounds->optimistic_bytes, 2 * (small + middle + 3 * large) / 5);
    EXPECT_EQ(bounds->pessimistic_bytes, 2 * large);
}

TEST(SponnerBounds, AreAbsentWithoutALayer) {
    Graph graph;
    graph.nodes = {node("aten::relu(self=f32[16,10])")};
    EXPECT_FALSE(sponner_bounds(graph).has_value());
}

}  // namespace
}  // namespace joulecast
