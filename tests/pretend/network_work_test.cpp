#include "workers/pretend/network_work.h"

#include <gtest/gtest.h>

#include "workers/pretend/law.h"

namespace joulecast::pretend {
namespace {

/// relu(relu(x)) of so many floats, the first result trained through.
Graph two_relus(std::int64_t size, bool training) {
    const std::string type = "f32[" + std::to_string(size) + "]" + (training ? "~" : "");
    Graph graph;
    graph.mode = training ? Mode::training : Mode::inference;
    graph.inputs = {{"x", GraphInput::Kind::parameter, {Dtype::f32, {size}, {}, training}, {}}};
    for (int i = 0; i < 2; ++i) {
        Node node;
        node.operation = parse_operation("aten::relu(self=" + type + ")");
        node.inputs = {{i - 1, 0}};
        node.outputs = {{Dtype::f32, {size}, {}, training}};
        graph.nodes.push_back(node);
    }
    graph.outputs = {{1, 0}};
    return graph;
}

Card card_a() {
    return built_in_cards().front();
}

TEST(NetworkWork, WhatWasJustWrittenIsFoundInTheCacheIfItFits) {
    const Work small = work_of(card_a(), two_relus(1024, false), Optimizer::none, true);
    ASSERT_EQ(small.size(), 2U);
    EXPECT_GT(small[1].kernels.front().cached, 0.99);
    // 64 MiB: the first input was touched 256 MiB ago, far more than the 24 MiB of the cache.
    const Work large = work_of(card_a(), two_relus(16 << 20, false), Optimizer::none, true);
    EXPECT_LT(large[0].kernels.front().cached, 0.01);
    // And so is what was just written: 128 MiB from the middle of the first call to that of the second.
    EXPECT_LT(large[1].kernels.front().cached, 0.01);
    EXPECT_GT(large[1].kernels.front().cached, large[0].kernels.front().cached);
}

TEST(NetworkWork, TrainingGoesBackwardFromTheLastCallAndUpdatesAtTheEnd) {
    const Graph graph = two_relus(1024, true);
    const Work step = work_of(card_a(), graph, Optimizer::adamw, true);
    ASSERT_EQ(step.size(), 5U);
    EXPECT_FALSE(step[1].backward);
    EXPECT_TRUE(step[2].backward);
    EXPECT_TRUE(step[3].backward);
    // adamw makes ten passes, each of which reads two and writes one of the parameter's 4096 bytes.
    ASSERT_EQ(step[4].kernels.size(), 10U);
    EXPECT_EQ(step[4].kernels.front().bytes_read, 2 * 4096);
    EXPECT_EQ(work_of(card_a(), graph, Optimizer::none, true).size(), 4U);
    EXPECT_EQ(work_of(card_a(), graph, Optimizer::adamw, false).size(), 2U);
}

TEST(NetworkWork, BackwardFindsTheGradientIfTheStepBeforeWasSmall) {
    // 4 kB each: both the gradient and what was kept are there.
    const Work small = work_of(card_a(), two_relus(1024, true), Optimizer::none, true);
    ASSERT_EQ(small.size(), 4U);
    EXPECT_GT(small[3].kernels.front().cached, 0.99);
    // 8 MiB each: the gradient was written 24 MiB ago, a cache's width, what was kept read 80 MiB ago.
    const Work wide = work_of(card_a(), two_relus(2 << 20, true), Optimizer::none, true);
    const double gradient = cached_share(card_a(), 24 << 20);
    EXPECT_GT(wide[3].kernels.front().cached, 0.5 * gradient);
    EXPECT_LT(wide[3].kernels.front().cached, 0.5 * gradient + 0.1);
    const Work large = work_of(card_a(), two_relus(16 << 20, true), Optimizer::none, true);
    EXPECT_LT(large[3].kernels.front().cached, 0.01);
}

TEST(NetworkWork, UnknownCallsAndTypesAreRefused) {
    Graph graph = two_relus(1024, false);
    EXPECT_EQ(why_unsupported(card_a(), graph), "");
    graph.nodes[0].operation.target = "aten::no_such_operation";
    EXPECT_NE(why_unsupported(card_a(), graph), "");
    graph = two_relus(1024, false);
    graph.inputs[0].type.dtype = Dtype::f8e4m3fn;
    EXPECT_NE(why_unsupported(card_a(), graph), "");
}

}  // namespace
}  // namespace joulecast::pretend
