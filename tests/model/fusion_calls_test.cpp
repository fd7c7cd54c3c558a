#include "joulecast/model/fusion_calls.h"

#include <gtest/gtest.h>

#include "joulecast/graph/graph_json.h"

namespace joulecast {
namespace {

/// Of a graph of that call alone, its tensors inputs of the network.
Graph only(const std::string& call) {
    Graph graph;
    graph.name = "only";
    graph.has_edges = true;
    Node node;
    node.operation = parse_operation(call);
    for (const TensorType* tensor : tensors(node.operation)) {
        node.inputs.push_back({-1, static_cast<std::int32_t>(graph.inputs.size())});
        graph.inputs.emplace_back().type = *tensor;
    }
    node.outputs = find_record(node.operation.target)->outputs(node.operation);
    graph.nodes.push_back(node);
    graph.outputs = {{0, 0}};
    return graph;
}

Moved moved_by(const std::string& call) {
    const Graph graph = only(call);
    return moved(graph, graph.nodes.front());
}

TEST(FusionCalls, ViewsAndCopiesHandOnTheirElementsInSomeOrder) {
    EXPECT_EQ(moved_by("aten::cat(tensors=[f32[2,3]], dim=1)"), Moved::same);
    EXPECT_EQ(moved_by("aten::contiguous(self=f32[2,3]{1,2})"), Moved::same);
    EXPECT_EQ(moved_by("aten::view(self=f32[2,3], size=[6])"), Moved::kept);
    EXPECT_EQ(moved_by("aten::transpose.int(self=f32[1,1,12,64], dim0=1, dim1=2)"), Moved::kept);
    EXPECT_EQ(moved_by("aten::permute(self=f32[2,3,4], dims=[0,2,1])"), Moved::permuted);
    EXPECT_EQ(moved_by("aten::slice.Tensor(self=f32[4,3], end=2)"), Moved::part);
    EXPECT_EQ(moved_by("aten::chunk(self=f32[4,3], chunks=2)"), Moved::part);
    EXPECT_EQ(moved_by("aten::expand(self=f32[1,3], size=[4,3])"), Moved::more);
    EXPECT_EQ(moved_by("aten::cat(tensors=[f32[2,3],f32[2,3]], dim=1)"), Moved::more);
}

// Attention hands on its result as torch laid it out, so that torch's transposition behind it ends up contiguous. An
// engine without strides moves all the same.
TEST(FusionCalls, OrderIsThatOfTheElementsNotOfMemory) {
    EXPECT_EQ(moved_by("aten::transpose.int(self=f32[1,12,8,64]{6144,64,768,1}, dim0=1, dim1=2)"), Moved::permuted);
    EXPECT_EQ(moved_by("aten::view(self=f32[2,3,4]{12,1,3}, size=[2,3,2,2])"), Moved::kept);
}

TEST(FusionCalls, RollKeepsNoOrder) {
    EXPECT_EQ(moved_by("aten::roll(self=f32[4,3], shifts=[1], dims=[0])"), Moved::permuted);
}

TEST(FusionCalls, KindsAreWhatEnginesFuseAlike) {
    const auto kind = [](const std::string& call) { return fusion_calls(only(call)).front(); };
    EXPECT_EQ(kind("aten::relu(self=f32[4])").kind, "elementwise");
    EXPECT_EQ(kind("aten::view(self=f32[2,3], size=[6])").kind, "move");
    EXPECT_EQ(kind("aten::copy_(self=f32[4], src=f32[4])").kind, "write");
    EXPECT_EQ(kind("aten::linear(input=f32[2,3], weight=f32[4,3])").kind, "matmul");
    EXPECT_TRUE(kind("aten::relu(self=f32[4])").is_pointwise());
    EXPECT_FALSE(kind("aten::copy_(self=f32[4], src=f32[4])").is_pointwise());
    EXPECT_EQ(kind("aten::slice.Tensor(self=f32[4,3], end=2)").settings, "(end=2)");
}

TEST(FusionCalls, WhatIsMadeOfSizesDependsOnNoInput) {
    EXPECT_TRUE(fusion_calls(only("aten::zeros_like(self=f32[4])")).front().is_constant);
    EXPECT_FALSE(fusion_calls(only("aten::relu(self=f32[4])")).front().is_constant);
}

TEST(FusionCalls, NamesAreThoseOfCallsOutOfPlace) {
    EXPECT_EQ(plain_name(parse_operation("aten::add_.Tensor(self=f32[1], other=f32[1])")), "add");
    EXPECT_EQ(plain_name(parse_operation("mylib::warp(self=f32[1])")), "warp");
}

}  // namespace
}  // namespace joulecast
