#include "joulecast/forecast/fused_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "joulecast/forecast/forecast_network.h"
#include "joulecast/graph/graph_json.h"
#include "tests/train/fusing_engine.h"

namespace joulecast {
namespace {

using testing::synthetic_graph;

/// conv2d and relu twice, a transpose of the first relu's result, and a reshape of that.
const Graph& twice() {
    static const Graph graph = graph_from_json(R"call({"schema":"joulecast.graph/1","name":"twice","has_edges":true,
"inputs":[{"name":"x","kind":"user_input","type":"f32[1,4,8,8]"},{"name":"w","kind":"parameter","type":"f32[4,4,1,1]"}],
"nodes":[
{"operation":"aten::conv2d(input=f32[1,4,8,8], weight=f32[4,4,1,1])","inputs":["input.0","input.1"],"outputs":["f32[1,4,8,8]"]},
{"operation":"aten::relu(self=f32[1,4,8,8])","inputs":["0.0"],"outputs":["f32[1,4,8,8]"]},
{"operation":"aten::conv2d(input=f32[1,4,8,8], weight=f32[4,4,1,1])","inputs":["1.0","input.1"],"outputs":["f32[1,4,8,8]"]},
{"operation":"aten::relu(self=f32[1,4,8,8])","inputs":["2.0"],"outputs":["f32[1,4,8,8]"]},
{"operation":"aten::transpose.int(self=f32[1,4,8,8], dim0=1, dim1=2)","inputs":["1.0"],"outputs":["f32[1,8,4,8]{256,8,64,1}"]},
{"operation":"aten::view(self=f32[1,4,8,8], size=[4,64])","inputs":["3.0"],"outputs":["f32[4,64]"]}],
"outputs":["4.0","5.0"]})call");
    return graph;
}

IssueOrder order_of(const Graph& graph) {
    return issue_order(graph, {}, Device::Kind::cpu);
}

std::vector<std::string> roles(const IssueOrder& order) {
    std::vector<std::string> found;
    for (const CallKind& kind : order.kinds) found.push_back(std::to_string(kind.count) + " " + kind.role);
    return found;
}

TEST(FusedCalls, KindsAreSplitByTheirRole) {
    // The first relu is fused, the second one runs alone.
    const FusionGroups groups{0, 0, 2, 3, 4, not_run};
    const IssueOrder order = with_roles(order_of(twice()), twice(), groups);
    EXPECT_THAT(roles(order), ::testing::ElementsAre("2 convolution", "1 convolution+relu", "1 elementwise",
                                                     "1 copy by transpose", "1 not run"));
    ASSERT_EQ(order.calls.size(), 6u);
    for (std::size_t i = 0; i < order.calls.size(); ++i)
        EXPECT_EQ(order.calls[i].node, static_cast<std::int32_t>(i)) << "calls keep their order";
    EXPECT_EQ(order.kinds[order.calls[1].kind].role, "convolution+relu");
    EXPECT_EQ(order.kinds[order.calls[5].kind].role_factor, 0);
    // All 256 numbers of 4 bytes are read and written.
    EXPECT_EQ(order.kinds[order.calls[4].kind].moved_bytes, 2048);
}

TEST(FusedCalls, AViewThatKeepsTheOrderOfItsNumbersMovesNothing) {
    const FusionGroups groups{0, 1, 2, 3, 4, 5};
    const IssueOrder order = with_roles(order_of(twice()), twice(), groups);
    EXPECT_EQ(order.kinds[order.calls[5].kind].role, "view");
    EXPECT_EQ(order.kinds[order.calls[5].kind].moved_bytes, 0);
}

TEST(FusedCalls, CallsTakeTheFactorOfTheirRole) {
    DeviceModel device = testing::fusing_device({"resnet18", "squeezenet1_1"});
    const Graph graph = synthetic_graph("resnet18", 2);
    FusionModel fusion = device.fusions.at(0);
    const NetworkForecast fused = forecast_network(graph, "fp32", device, all_columns(), {});
    device.fusions.clear();
    device.corrections.clear();
    const NetworkForecast alone = forecast_network(graph, "fp32", device, all_columns(), {});
    std::map<std::string, double> once;
    for (const OperationForecast& operation : alone.operations)
        once[signature(operation.operation)] = operation.cost.device_time.value.value();
    double sum = 0;
    for (const OperationForecast& operation : fused.operations) {
        const double each = operation.cost.device_time.value.value();
        sum += each * static_cast<double>(operation.count);
        if (family(operation.operation) == Family::view) continue;
        const FusionFactor* factor = find_factor(fusion, operation.role);
        EXPECT_NEAR(each, (factor == nullptr ? 1 : factor->factor) * once.at(signature(operation.operation)), 1e-12)
            << operation.role;
    }
    EXPECT_NEAR(fused.time.value.value(), sum, 1e-9 * sum);
    ASSERT_TRUE(fused.fusion);
    EXPECT_FALSE(alone.fusion);
    // 20 convolutions each with a batch norm, 9 relus behind one; 8 behind a sum stay alone.
    EXPECT_EQ(fused.fusion->fused, 20 + 9);
}

TEST(FusedCalls, TheTimelineEndsAtTheForecastTime) {
    const DeviceModel device = testing::fusing_device({"resnet18", "squeezenet1_1"});
    const MeasuredOperations none;
    const auto columns = all_columns();
    ForecastCache known(device, columns, none);
    const NetworkTimeline line = forecast_timeline(synthetic_graph("resnet34", 2), "fp32", known);
    EXPECT_NEAR(line.calls.back().end_s, line.forecast.time.value.value(), 1e-12);
}

TEST(FusedCalls, WhatRulesAreNotOfIsForecastAsBefore) {
    const DeviceModel device = testing::fusing_device({"resnet18", "squeezenet1_1"});
    const Graph graph = synthetic_graph("resnet18", 2);
    EXPECT_NE(fusion_of(device, graph, "fp32"), nullptr);
    EXPECT_EQ(fusion_of(device, graph, "default"), fusion_of(device, graph, "fp32"));
    EXPECT_EQ(fusion_of(device, graph, "fp16"), nullptr);
    EXPECT_EQ(fusion_of(device, without_edges(graph), "fp32"), nullptr);
    EXPECT_EQ(fusion_of(device, synthetic_graph("resnet18", 2, Mode::training), "fp32"), nullptr);
}

TEST(FusedCalls, ARoleThatNoNetworkHadIsUsual) {
    EXPECT_EQ(usual_factor("convolution"), 1);
    EXPECT_EQ(usual_factor("convolution+erf"), share_of_fused);
    EXPECT_EQ(usual_factor(role_not_run), 0);
}

}  // namespace
}  // namespace joulecast
