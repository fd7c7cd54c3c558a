#include "joulecast/physics/checkpointing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

/// A chain of calls that keep their result, made by the modules of these paths.
Graph chain(const std::vector<std::string>& paths, const std::string& call = "aten::exp(self=f32[256]~)") {
    Graph graph;
    graph.mode = Mode::training;
    graph.inputs = {{"p", GraphInput::Kind::parameter, {Dtype::f32, {256}, {}, true}, {}}};
    for (const std::string& path : paths) {
        Node node;
        node.operation = parse_operation(call);
        const auto before = static_cast<std::int32_t>(graph.nodes.size()) - 1;
        node.inputs = {{before, 0}};
        node.outputs = {{Dtype::f32, {256}, {}, true}};
        node.module_path = path;
        graph.nodes.push_back(node);
    }
    graph.outputs = {{static_cast<std::int32_t>(paths.size()) - 1, 0}};
    return graph;
}

std::vector<std::string> blocks_of(const std::vector<std::string>& paths) {
    std::vector<std::string> blocks;
    for (const Segment& segment : checkpoint_segments(chain(paths))) blocks.push_back(segment.module_path);
    return blocks;
}

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CheckpointSegments, AreTheNumberedModulesThatHaveModulesOfTheirOwn) {
    EXPECT_THAT(blocks_of({"conv1", "layer1.0.conv1", "layer1.0.bn1", "layer1.0.downsample.0", "layer1.0",
                           "layer1.1.conv1", "layer1.1", "fc"}),
                ElementsAre("layer1.0", "layer1.1"));
    EXPECT_THAT(blocks_of({"features.1.0.attn.qkv", "features.1.0.mlp.0", "features.1.1.norm1", "features.1.1.mlp.0"}),
                ElementsAre("features.1.0", "features.1.1"));
    EXPECT_THAT(blocks_of({"f.denseblock1.denselayer1.conv1", "f.denseblock1.denselayer1.conv2",
                           "f.denseblock1.denselayer2.conv1", "f.denseblock1.denselayer2.conv2"}),
                ElementsAre("f.denseblock1.denselayer1", "f.denseblock1.denselayer2"));
    EXPECT_THAT(blocks_of({"stage2.0.branch1.0", "stage2.0.branch2.3", "stage2.0"}), ElementsAre("stage2.0"));
}

TEST(CheckpointSegments, LayersOfAPlainSequenceAreNone) {
    EXPECT_THAT(blocks_of({"features.0", "features.1", "features.2"}), IsEmpty());
    EXPECT_THAT(blocks_of({"", "", ""}), IsEmpty());
}

TEST(CheckpointSegments, EachCallOfAModuleIsItsOwn) {
    EXPECT_THAT(blocks_of({"h.0.a", "h.0.b", "pool", "h.0.a", "h.0.b"}), ElementsAre("h.0", "h.0"));
}

TEST(CheckpointSegments, InferenceHasNone) {
    Graph graph = chain({"h.0.a", "h.0.b"});
    graph.mode = Mode::inference;
    EXPECT_THAT(checkpoint_segments(graph), IsEmpty());
}

TEST(CheckpointSegments, EndEarlyWhereNothingIsKeptAnyMore) {
    Graph graph = chain({"h.0.a", "h.0.b", "h.0"});
    graph.nodes[2].operation = parse_operation("aten::neg(self=f32[256]~)");  // its derivative needs nothing
    const auto segments = checkpoint_segments(graph);
    ASSERT_EQ(segments.size(), 1U);
    EXPECT_EQ(segments[0].first, 0U);
    EXPECT_EQ(segments[0].end, 3U);
    EXPECT_EQ(segments[0].repeated_end, 2U);
}

TEST(WithRepeatedCalls, RunsTheForwardCallsOfABlockAgainWithoutTheirBackward) {
    const Graph graph = chain({"in", "h.0.a", "h.0.b", "out"});
    const Graph costed = with_repeated_calls(graph, checkpoint_segments(graph));
    ASSERT_EQ(costed.nodes.size(), 6U);
    EXPECT_EQ(signature(costed.nodes[4].operation), "aten::exp(self=f32[256])");
    EXPECT_EQ(costed.nodes[4].inputs.at(0), (ValueRef{0, 0}));  // what came into the block
    EXPECT_EQ(costed.nodes[5].inputs.at(0), (ValueRef{4, 0}));  // what was computed again
    EXPECT_EQ(costed.outputs, graph.outputs);
}

}  // namespace
}  // namespace joulecast
