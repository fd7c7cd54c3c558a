#include "cli/forecast_words.h"

#include <gtest/gtest.h>

namespace joulecast::cli {
namespace {

TEST(ForecastWords, PowerIsSpokenOfWhereTheDataSheetAloneGivesIt) {
    NetworkForecast network;
    EXPECT_EQ(power_evidence_words(network), "");
    network.power_evidence_share = {{PowerEvidence::measured, 1.0}};
    EXPECT_EQ(power_evidence_words(network), "");
    network.power_evidence_share = {{PowerEvidence::measured, 0.877}, {PowerEvidence::physical, 0.123}};
    EXPECT_EQ(power_evidence_words(network), "physical power model 12.3 %");
}

TEST(ForecastWords, SharesThatRoundToNoneOrAllAreNotPrinted) {
    NetworkForecast network;
    network.power_evidence_share = {{PowerEvidence::physical, 0.004}};
    EXPECT_EQ(power_evidence_words(network), "");
    network.power_evidence_share = {{PowerEvidence::physical, 0.996}};
    EXPECT_EQ(power_evidence_words(network), "physical power model");
}

TEST(ForecastWords, WhatLimitsANetworkIsNamedWhereSomethingTells) {
    NetworkForecast network;
    EXPECT_EQ(limit_name(network), "device");
    network.compute_share = 0.7;
    EXPECT_EQ(limit_name(network), "compute");
    network.compute_share = 0.3;
    EXPECT_EQ(limit_name(network), "memory");
    network.limited_by = Bound::power_cap;
    EXPECT_EQ(limit_name(network), "power limit");
    network.limited_by = Bound::host;
    EXPECT_EQ(limit_name(network), "host");
}

TEST(ForecastWords, ACallSaysWhoseKernelItRunsIn) {
    OperationForecast operation;
    EXPECT_EQ(with_role("relu_", operation), "relu_");
    operation.role = "convolution+relu";
    EXPECT_EQ(with_role("relu_", operation), "relu_ in convolution");
    operation.role = "elementwise";
    EXPECT_EQ(with_role("relu_", operation), "relu_");
    operation.role = "not run";
    EXPECT_EQ(with_role("dropout", operation), "dropout (not run)");
}

TEST(ForecastWords, FusionIsSpokenOfOfOtherEnginesThanTorch) {
    NetworkForecast network;
    network.model = "net";
    network.operations.resize(2);
    EXPECT_EQ(fusion_words(network), "");
    network.point.engine = "fuser";
    EXPECT_EQ(fusion_words(network),
              "net: how fuser fuses fp32 networks was not measured, so every call counts by itself");
    network.fusion =
        FusedCalls{.framework = "fuser 1.0", .networks = 9, .sigma = 0.1, .alone = 5, .fused = 3, .not_run = 2};
    EXPECT_EQ(fusion_words(network),
              "net: by the rules of fuser 1.0, learnt from 9 networks, 3 of 10 calls run in the kernel of another, 2 "
              "not at all");
    network.device = "card";
    network.fusion->networks = 0;
    EXPECT_EQ(fusion_words(network),
              "net: fuser was not measured on card. By the rules of fuser 1.0, 3 of 10 calls run in the kernel of "
              "another");
    network.operations.resize(1);
    EXPECT_EQ(fusion_words(network), "") << "a single call has nothing to be fused with";
}

}  // namespace
}  // namespace joulecast::cli
