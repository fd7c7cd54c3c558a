#include "joulecast/model/fusion_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/error.h"
#include "joulecast/graph/graph_json.h"
#include "joulecast/model/fusion_calls.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;

/// conv2d, batch_norm, relu_, dropout, then two readers of its result and their sum.
const Graph& block() {
    static const Graph graph = graph_from_json(R"call({"schema":"joulecast.graph/1","name":"block","has_edges":true,
"inputs":[{"name":"x","kind":"user_input","type":"f32[1,3,8,8]"},{"name":"w","kind":"parameter","type":"f32[4,3,1,1]"},
{"name":"m","kind":"buffer","type":"f32[4]"}],
"nodes":[
{"operation":"aten::conv2d(input=f32[1,3,8,8], weight=f32[4,3,1,1])","inputs":["input.0","input.1"],"outputs":["f32[1,4,8,8]"]},
{"operation":"aten::batch_norm(input=f32[1,4,8,8], running_mean=f32[4], running_var=f32[4], training=false, momentum=0.1, eps=1e-05, cudnn_enabled=true)","inputs":["0.0","input.2","input.2"],"outputs":["f32[1,4,8,8]"]},
{"operation":"aten::relu_(self=f32[1,4,8,8])","inputs":["1.0"],"outputs":["f32[1,4,8,8]"]},
{"operation":"aten::dropout(input=f32[1,4,8,8], p=0.5, train=false)","inputs":["2.0"],"outputs":["f32[1,4,8,8]"]},
{"operation":"aten::sigmoid(self=f32[1,4,8,8])","inputs":["3.0"],"outputs":["f32[1,4,8,8]"]},
{"operation":"aten::add.Tensor(self=f32[1,4,8,8], other=f32[1,4,8,8])","inputs":["3.0","4.0"],"outputs":["f32[1,4,8,8]"]},
{"operation":"aten::sqrt(self=f32[4])","inputs":["input.2"],"outputs":["f32[4]"]}],
"outputs":["5.0"]})call");
    return graph;
}

std::vector<NetworkKernel> kernels(std::vector<std::vector<std::int32_t>> nodes) {
    std::vector<NetworkKernel> list;
    for (auto& of_one : nodes) list.push_back({"Kernel", std::move(of_one)});
    return list;
}

TEST(FusionGroups, KernelsThatShareANodeAreOneGroup) {
    const auto groups = groups_of_kernels(block(), kernels({{0, 1}, {1, 2}, {4}, {}, {5}}));
    EXPECT_THAT(groups, ElementsAre(0, 0, 0, not_run, 4, 5, not_run));
}

TEST(FusionGroups, AKernelOfNodesThatAreNotThereIsRefused) {
    EXPECT_THROW(groups_of_kernels(block(), kernels({{0, 7}})), FormatError);
    EXPECT_THROW(groups_of_kernels(block(), kernels({{-1}})), FormatError);
}

TEST(FusionGroups, AsksWithWhatIsKnownOfBothCalls) {
    std::vector<std::string> running, joining;
    fusion_groups(block(), [&](const FusionQuestion& asked) {
        (asked.producer < 0 ? running : joining).push_back(asked.keys.front());
        return asked.node == 3 && asked.producer < 0;  // the dropout is not run, nothing is fused
    });
    EXPECT_THAT(running, ElementsAre("absent|conv2d|runs|input|batch_norm", "absent|batch_norm|runs=|conv2d|relu",
                                     "absent|relu|runs=|batch_norm|dropout", "absent|dropout|runs=|relu|add+sigmoid",
                                     "absent|sigmoid|runs=|dropout|add", "absent|add|runs=|dropout|",
                                     "absent|sqrt|constant=|input|"));
    // Beyond the dropout stands the relu, which two read through it. Three tensors go into a batch norm.
    EXPECT_THAT(joining, ElementsAre("join|conv2d:2|batch_norm|one|first|0|1|4|relu",
                                     "join|batch_norm:3|relu|one|first|0|1|4|dropout",
                                     "join|relu:1|sigmoid|many|first|0|1|4|add", "join|relu:1|add|many|first|0|2|4|",
                                     "join|sigmoid:1|add|one|first|1|2|4|"));
}

TEST(FusionGroups, AGroupIsKnownByTheCallsThatItHas) {
    std::vector<std::string> keys;
    fusion_groups(block(), [&](const FusionQuestion& asked) {
        if (asked.producer >= 0 && asked.node == 5) keys.push_back(asked.keys[1]);
        return asked.producer >= 0;
    });
    EXPECT_THAT(keys, ElementsAre("join|conv2d+batch_norm+relu+dropout+sigmoid:1|add|many|first|0|2|4",
                                  "join|conv2d+batch_norm+relu+dropout+sigmoid+add:1|add|one|joined|1|2|4"));
}

TEST(FusionGroups, FollowsTheMostTellingRule) {
    FusionModel fusion;
    fusion.rules = {{"absent|dropout|runs=", true},
                    {"join|conv2d+batch_norm:3|<unary>|one|first", true},
                    {"join|convolution...conv2d:2|batch_norm|one|first|0|1|4", true},
                    {"join|relu:1|sigmoid|many|first|0|1|4", true}};
    // The sigmoid's rule is of a relu alone, and this one has joined a convolution.
    EXPECT_THAT(fusion_groups(block(), fusion), ElementsAre(0, 0, 0, not_run, 4, 5, not_run));
    fusion.rules[1].holds = false;
    EXPECT_THAT(fusion_groups(block(), fusion), ElementsAre(0, 0, 2, not_run, 2, 5, not_run));
}

// Walked again and again from each of its calls, a chain would take the square of its length.
TEST(FusionGroups, LongChainsAreWalkedOnce) {
    constexpr std::int32_t pairs = 30'000;
    Graph chain;
    chain.inputs.emplace_back().type = {Dtype::f32, {4}};
    Node dropout, relu;
    dropout.operation = parse_operation("aten::dropout(input=f32[4], p=0.5, train=false)");
    relu.operation = parse_operation("aten::relu(self=f32[4])");
    dropout.outputs = relu.outputs = {chain.inputs.front().type};
    std::vector<NetworkKernel> kernels;
    FusionGroups expected;
    for (std::int32_t i = 0; i < pairs; ++i) {
        dropout.inputs = {i == 0 ? ValueRef{} : ValueRef{2 * i - 2, 0}};
        relu.inputs = {{2 * i, 0}};
        chain.nodes.insert(chain.nodes.end(), {dropout, relu});
        kernels.push_back({"Pair", {2 * (pairs - i) - 2, 2 * (pairs - i) - 1}});
        if (i > 0) kernels.push_back({"Pair", {2 * (pairs - i) - 2, 2 * (pairs - i)}});
        expected.insert(expected.end(), {not_run, 2 * i + 1});
    }
    const auto groups =
        fusion_groups(chain, [](const FusionQuestion& asked) { return asked.producer < 0 && asked.node % 2 == 0; });
    EXPECT_EQ(groups, expected);
    EXPECT_EQ(groups_of_kernels(chain, kernels), FusionGroups(2 * pairs, 0));
}

TEST(FusionGroups, ANodeIsRightWhereItsWholeGroupIs) {
    const FusionGroups measured{0, 0, 0, not_run, 4, 5, not_run};
    EXPECT_EQ(agreement(block(), measured, measured).right, 7);
    const FusionGroups apart{0, 0, 2, not_run, 4, 5, 6};
    const GroupsAgreement found = agreement(block(), apart, measured);
    EXPECT_EQ(found.nodes, 7);
    EXPECT_EQ(found.right, 3);  // dropout, sigmoid, add
}

/// The keys that the last call of a graph is asked for, whether it joins or (node -1) whether it is run, where no other
/// call joins and those that `absent` names are not run.
std::vector<std::string> keys_of_last(const Graph& graph, std::int32_t producer, const std::string& absent = "") {
    std::vector<std::string> keys;
    const auto last = static_cast<std::int32_t>(graph.nodes.size()) - 1;
    fusion_groups(graph, [&](const FusionQuestion& asked) {
        if (asked.node == last && asked.producer == producer) keys = asked.keys;
        const Operation& operation = graph.nodes[static_cast<std::size_t>(asked.node)].operation;
        return asked.producer < 0 && plain_name(operation) == absent;
    });
    return keys;
}

/// relu, relu, cat of both, pooling.
Graph joined() {
    return graph_from_json(R"call({"schema":"joulecast.graph/1","name":"joined","has_edges":true,
"inputs":[{"name":"x","kind":"user_input","type":"f32[1,4,8,8]"},{"name":"y","kind":"user_input","type":"f32[1,4,8,8]"}],
"nodes":[
{"operation":"aten::relu(self=f32[1,4,8,8])","inputs":["input.0"],"outputs":["f32[1,4,8,8]"]},
{"operation":"aten::relu(self=f32[1,4,8,8])","inputs":["input.1"],"outputs":["f32[1,4,8,8]"]},
{"operation":"aten::cat(tensors=[f32[1,4,8,8],f32[1,4,8,8]], dim=1)","inputs":["0.0","1.0"],"outputs":["f32[1,8,8,8]"]},
{"operation":"aten::max_pool2d(self=f32[1,8,8,8], kernel_size=[2,2])","inputs":["2.0"],"outputs":["f32[1,8,4,4]"]}],
"outputs":["3.0"]})call");
}

TEST(FusionGroups, SaysThatACallReadsMoreThanItsProducerMade) {
    EXPECT_EQ(keys_of_last(joined(), 2).front(), "join|cat:2|max_pool2d|one|first|0|1|4|");
    // An engine that lets both pieces be written where they belong runs no cat.
    EXPECT_EQ(keys_of_last(joined(), 0, "cat").front(), "join|relu:1|max_pool2d|one|first|part|0|1|4|");
}

TEST(FusionGroups, EndsWithKeysOfKinds) {
    EXPECT_EQ(keys_of_last(joined(), 2).back(), "~join|point...<move>|max_pool2d|one|first");
    Graph pointwise = joined();
    pointwise.nodes.pop_back();
    EXPECT_EQ(keys_of_last(pointwise, 1).back(), "~join|point...<point>|<point>|one|first");
    for (const std::string& key : keys_of_last(pointwise, 1)) EXPECT_EQ(is_of_kinds(key), key.front() == '~');
}

TEST(FusionGroups, WhatHandsOnItsElementsInOrderIsNotRunUnlessARuleSaysSo) {
    const Graph graph = graph_from_json(R"call({"schema":"joulecast.graph/1","name":"turned","has_edges":true,
"inputs":[{"name":"x","kind":"user_input","type":"f32[1,1,12,64]"}],
"nodes":[
{"operation":"aten::transpose.int(self=f32[1,1,12,64], dim0=1, dim1=2)","inputs":["input.0"],"outputs":["f32[1,12,1,64]"]},
{"operation":"aten::transpose.int(self=f32[1,12,1,64], dim0=1, dim1=3)","inputs":["0.0"],"outputs":["f32[1,64,1,12]{768,1,768,64}"]}],
"outputs":["1.0"]})call");
    EXPECT_THAT(fusion_groups(graph, FusionModel{}), ElementsAre(not_run, 1));
    FusionModel runs_all;
    runs_all.rules = {{"absent|transpose:kept|runs", false}};
    EXPECT_THAT(fusion_groups(graph, runs_all), ElementsAre(0, 1));
}

}  // namespace
}  // namespace joulecast
