#include "workers/torch/content.h"

#include <gtest/gtest.h>

namespace joulecast::torch_worker {
namespace {

std::vector<Content> contents_of(const std::string& text) {
    return contents(parse_operation(text));
}

TEST(Contents, IndicesStayWithinTheTable) {
    const auto found = contents_of("aten::embedding(weight=f32[50257,768], indices=i64[1,32])");
    EXPECT_EQ(found[1].kind, Content::Kind::index);
    EXPECT_EQ(found[1].high, 50257);
    EXPECT_TRUE(found[1].bound);
}

TEST(Contents, EachIndexTensorHasItsOwnDimension) {
    const auto found = contents_of("aten::index.Tensor(self=f32[10,20,30], indices=[none, i64[4], i64[4]])");
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[1].high, 20);
    EXPECT_EQ(found[2].high, 30);
}

TEST(Contents, GatherFollowsItsDimension) {
    EXPECT_EQ(contents_of("aten::gather(self=f32[10,20], dim=-1, index=i64[10,5])")[1].high, 20);
    EXPECT_EQ(contents_of("aten::index_select(self=f32[10,20], dim=0, index=i64[5])")[1].high, 10);
}

TEST(Contents, ClassesAreTheTargetsOfALoss) {
    EXPECT_EQ(contents_of("aten::cross_entropy_loss(self=f32[8,1000], target=i64[8])")[1].high, 1000);
}

TEST(Contents, VariancesAndRootsArePositive) {
    const auto found = contents_of(
        "aten::batch_norm(input=f32[2,4,8,8], weight=f32[4], bias=f32[4], running_mean=f32[4], running_var=f32[4], "
        "training=false, momentum=0.1, eps=1e-05, cudnn_enabled=true)");
    EXPECT_EQ(found[4].kind, Content::Kind::positive);
    EXPECT_EQ(found[3].kind, Content::Kind::normal);
    EXPECT_EQ(contents_of("aten::rsqrt(self=f32[4])")[0].kind, Content::Kind::positive);
}

TEST(Contents, RepeatedFactorsInPlaceAreSigns) {
    EXPECT_EQ(contents_of("aten::mul_.Tensor(self=f32[4], other=f32[4])")[1].kind, Content::Kind::sign);
    EXPECT_EQ(contents_of("aten::mul.Tensor(self=f32[4], other=f32[4])")[1].kind, Content::Kind::normal);
}

TEST(Contents, IntegersAreNotDividedByZero) {
    EXPECT_EQ(contents_of("aten::floor_divide(self=i64[4], other=i64[4])")[1].low, 1);
}

TEST(Contents, BagsBeginInOrderAndLengthsAddUp) {
    const auto bags = contents_of("aten::embedding_bag(weight=f32[10,4], indices=i64[6], offsets=i64[3])");
    EXPECT_EQ(bags[1].high, 10);
    EXPECT_EQ(bags[2].kind, Content::Kind::ascending);
    EXPECT_EQ(bags[2].high, 6);
    const auto repeats = contents_of("aten::repeat_interleave.Tensor(repeats=i64[4], output_size=9)");
    EXPECT_EQ(repeats[0].kind, Content::Kind::shares);
    EXPECT_EQ(repeats[0].high, 9);
}

TEST(Contents, PlacesOfPoolingLieWithinTheImage) {
    EXPECT_EQ(contents_of("aten::max_unpool2d(self=f32[1,2,4,4], indices=i64[1,2,4,4], output_size=[8,9])")[1].high,
              72);
}

TEST(Contents, ProbabilitiesLieBetweenZeroAndOne) {
    EXPECT_EQ(contents_of("aten::bernoulli(self=f32[4])")[0].kind, Content::Kind::unit);
    EXPECT_EQ(contents_of("aten::binary_cross_entropy(self=f32[4], target=f32[4])")[1].kind, Content::Kind::unit);
}

TEST(InputContents, TokenIdsAreFollowedThroughViewsToTheirTable) {
    Graph graph;
    graph.inputs = {{"ids", GraphInput::Kind::user_input, {Dtype::i64, {1, 8}}, {}},
                    {"table", GraphInput::Kind::parameter, {Dtype::f32, {30522, 64}}, {}}};
    Node view;
    view.operation = parse_operation("aten::view(self=i64[1,8], size=[-1,8])");
    view.inputs = {{-1, 0}};
    view.outputs = {{Dtype::i64, {1, 8}}};
    Node embedding;
    embedding.operation = parse_operation("aten::embedding(weight=f32[30522,64], indices=i64[1,8])");
    embedding.inputs = {{-1, 1}, {0, 0}};
    embedding.outputs = {{Dtype::f32, {1, 8, 64}}};
    graph.nodes = {view, embedding};
    EXPECT_EQ(input_contents(graph)[0].high, 30522);
}

TEST(InputContents, OfTwoTablesTheShorterBinds) {
    Graph graph;
    graph.inputs = {{"ids", GraphInput::Kind::user_input, {Dtype::i64, {8}}, {}},
                    {"long", GraphInput::Kind::parameter, {Dtype::f32, {100, 4}}, {}},
                    {"short", GraphInput::Kind::parameter, {Dtype::f32, {7, 4}}, {}}};
    for (const std::int32_t table : {1, 2}) {
        Node node;
        node.operation = {
            "aten::embedding",
            {{"weight", graph.inputs[static_cast<std::size_t>(table)].type}, {"indices", graph.inputs[0].type}}};
        node.inputs = {{-1, table}, {-1, 0}};
        graph.nodes.push_back(node);
    }
    EXPECT_EQ(input_contents(graph)[0].high, 7);
}

TEST(InputContents, WeightsAreScaledByTheirFanIn) {
    Graph graph;
    graph.inputs = {{"conv.weight", GraphInput::Kind::parameter, {Dtype::f32, {64, 16, 3, 3}}, {}},
                    {"norm.bias", GraphInput::Kind::parameter, {Dtype::f32, {64}}, {}}};
    const auto found = input_contents(graph);
    EXPECT_FLOAT_EQ(found[0].scale, 1.0F / 12.0F);  // 1 / sqrt(16 x 3 x 3)
    EXPECT_FLOAT_EQ(found[1].offset, 0.0F);
}

// Whatever the file calls it: what the call does with it counts.
TEST(InputContents, RunningMeansLieAroundZeroAndVariancesAreNone) {
    Graph graph;
    const TensorType channels{Dtype::f32, {64}};
    graph.inputs = {{"x", GraphInput::Kind::user_input, {Dtype::f32, {2, 64, 8, 8}}, {}}};
    for (const char* name : {"gain", "shift", "constant_7", "constant_8"})
        graph.inputs.push_back({name, GraphInput::Kind::buffer, channels, {}});
    Node node;
    node.operation = parse_operation(
        "aten::batch_norm(input=f32[2,64,8,8], weight=f32[64], bias=f32[64], running_mean=f32[64], "
        "running_var=f32[64], training=false, momentum=0.1, eps=1e-05, cudnn_enabled=true)");
    node.inputs = {{-1, 0}, {-1, 1}, {-1, 2}, {-1, 3}, {-1, 4}};
    graph.nodes = {node};
    const auto found = input_contents(graph);
    EXPECT_FLOAT_EQ(found[1].offset, 1.0F);
    EXPECT_FLOAT_EQ(found[2].offset, 0.0F);
    EXPECT_FLOAT_EQ(found[3].offset, 0.0F);
    EXPECT_EQ(found[4].kind, Content::Kind::positive);
}

}  // namespace
}  // namespace joulecast::torch_worker
