#include "joulecast/report/shares.h"

#include <gtest/gtest.h>

#include "tests/report/made_up_forecasts.h"

namespace joulecast::testing {
namespace {

TEST(CallShares, EachNodeHasTheCostOfItsOperation) {
    const auto calls = call_shares(made_up_forecast("net", "gpu"));
    ASSERT_EQ(calls.size(), 2U);
    EXPECT_EQ(calls[0].op, "linear");
    EXPECT_EQ(calls[0].module, "body.0");
    EXPECT_DOUBLE_EQ(calls[0].time_s, 3e-3);
    EXPECT_DOUBLE_EQ(calls[1].energy_j, 0.2);
    EXPECT_EQ(calls[1].family, Family::elementwise);
}

TEST(CallShares, WhatNoNodeCallsBelongsToTheTrainingStep) {
    ReportedForecast forecast = made_up_forecast("net", "gpu");
    forecast.network.operations[1].count = 3;  // two more than the graph has
    const auto calls = call_shares(forecast);
    ASSERT_EQ(calls.size(), 3U);
    EXPECT_EQ(calls[2].module, step_module);
    EXPECT_DOUBLE_EQ(calls[2].time_s, 2e-3);
}

TEST(CallShares, RolesOfOneOperationAddUpToItsCalls) {
    ReportedForecast forecast = made_up_forecast("net", "gpu");
    forecast.graph.nodes.push_back(forecast.graph.nodes[1]);
    OperationForecast fused = forecast.network.operations[1];
    fused.role = "matmul+relu";
    fused.cost.device_time = {Seconds(0), Seconds(0), Seconds(0)};
    forecast.network.operations[1].role = "elementwise";
    forecast.network.operations.push_back(fused);
    const auto calls = call_shares(forecast);
    ASSERT_EQ(calls.size(), 3U);
    EXPECT_DOUBLE_EQ(calls[1].time_s, 1e-3);
    EXPECT_DOUBLE_EQ(calls[2].time_s, 0);
}

TEST(SharesBy, AddsWhatHasOneNameDearestFirstAndLeavesOutWhatHasNone) {
    std::vector<CallShare> calls(4);
    calls[0] = {"relu", "a", "", Family::elementwise, 1, 10};
    calls[1] = {"conv2d", "b", "", Family::convolution, 2, 20};
    calls[2] = {"relu", "", "", Family::elementwise, 4, 40};
    calls[3] = {"add", "a", "", Family::elementwise, 0.5, 5};
    const auto by_op = shares_by(calls, [](const CallShare& call) { return call.op; });
    ASSERT_EQ(by_op.size(), 3U);
    EXPECT_EQ(by_op[0].name, "relu");
    EXPECT_EQ(by_op[0].time_s, 5);
    EXPECT_EQ(by_op[0].energy_j, 50);
    const auto by_module = shares_by(calls, [](const CallShare& call) { return call.module; });
    ASSERT_EQ(by_module.size(), 2U);
    EXPECT_EQ(by_module[0].name, "b");
    EXPECT_EQ(by_module[1].time_s, 1.5);
}

}  // namespace
}  // namespace joulecast::testing
