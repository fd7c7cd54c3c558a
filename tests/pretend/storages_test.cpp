#include "workers/pretend/storages.h"

#include <gtest/gtest.h>

#include "joulecast/error.h"

namespace joulecast::pretend {
namespace {

/// relu(relu(x)): 4 KiB each.
Graph two_relus(Mode mode) {
    const bool training = mode == Mode::training;
    Graph graph;
    graph.mode = mode;
    graph.inputs = {{"x", GraphInput::Kind::parameter, {Dtype::f32, {1024}, {}, training}, {}}};
    for (int i = 0; i < 2; ++i) {
        Node node;
        node.operation = parse_operation(training ? "aten::relu(self=f32[1024]~)" : "aten::relu(self=f32[1024])");
        node.inputs = {{i - 1, 0}};
        node.outputs = {{Dtype::f32, {1024}, {}, training}};
        graph.nodes.push_back(node);
    }
    graph.outputs = {{1, 0}};
    return graph;
}

TEST(Storages, AResultLivesToItsLastReader) {
    EXPECT_EQ(peak_bytes(two_relus(Mode::inference), 0), 2 * 4096);
}

TEST(Storages, TrainingKeepsWhatBackwardReadsAndAddsGradients) {
    // Both results are kept, and two gradients are made: the first result's, and the parameter's before that is freed.
    const double peak = peak_bytes(two_relus(Mode::training), 0);
    EXPECT_EQ(peak, 4 * 4096);
    EXPECT_EQ(peak_bytes(two_relus(Mode::training), 2), peak + 2 * 4096);
}

TEST(Storages, ATensorThatIsReadTwiceHasOneGradient) {
    Graph graph = two_relus(Mode::training);
    graph.nodes[1].inputs = {{-1, 0}};
    graph.outputs = {{0, 0}, {1, 0}};
    EXPECT_EQ(peak_bytes(graph, 0), 3 * 4096);
}

TEST(Storages, ViewsAndInPlaceCallsTakeNothing) {
    EXPECT_EQ(peak_bytes(parse_operation("aten::view(self=f32[4,4], size=[16])")), 0);
    EXPECT_EQ(peak_bytes(parse_operation("aten::relu_(self=f32[1024])")), 0);
    EXPECT_EQ(peak_bytes(parse_operation("aten::relu(self=f32[1024])")), 4096);
}

TEST(Storages, EdgesThatLeadNowhereAreRefused) {
    Graph graph = two_relus(Mode::inference);
    graph.nodes[0].inputs = {{1, 0}};
    EXPECT_THROW(Storages{graph}, FormatError);
    graph.nodes[0].inputs = {{-1, 5}};
    EXPECT_THROW(Storages{graph}, FormatError);
    graph.nodes[0].inputs = {};
    EXPECT_THROW(Storages{graph}, FormatError);
}

}  // namespace
}  // namespace joulecast::pretend
