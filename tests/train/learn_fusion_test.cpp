#include "joulecast/train/learn_fusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/forecast/forecast_network.h"
#include "tests/train/fusing_engine.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using testing::fused_network;
using testing::fusing_device;
using testing::synthetic_graph;

const DeviceModel& trained() {
    static const DeviceModel device = fusing_device();
    return device;
}

double forecast_s(const DeviceModel& device, const Graph& graph) {
    return forecast_network(graph, "fp32", device, all_columns(), {}).time.value.value();
}

TEST(LearnFusion, RulesTellTheGroupsOfANetworkNeverSeen) {
    ASSERT_EQ(trained().fusions.size(), 1u);
    EXPECT_EQ(trained().fusions[0].framework, "fuser 1.0");
    EXPECT_EQ(trained().fusions[0].networks, 5);
    const TrainingNetwork unseen = fused_network("resnet34");
    const FusionGroups told = fusion_groups(unseen.graph, trained().fusions[0]);
    EXPECT_EQ(told, groups_of_kernels(unseen.graph, unseen.measurement.kernels));
}

TEST(LearnFusion, ForecastsANetworkNeverSeenAsItsGroups) {
    const TrainingNetwork unseen = fused_network("resnet34");
    const double truth = unseen.measurement.time.median_s;
    EXPECT_NEAR(forecast_s(trained(), unseen.graph) / truth, 1, 0.06);
    // By the sum of its calls it would be further off: mobilenets fuse more of their time than resnets.
    DeviceModel alone = trained();
    alone.fusions.clear();
    EXPECT_GT(std::abs(std::log(forecast_s(alone, unseen.graph) / truth)),
              std::abs(std::log(forecast_s(trained(), unseen.graph) / truth)));
}

TEST(LearnFusion, WhatIsFusedTakesAsLittleAsMeasured) {
    const FusionModel& fusion = trained().fusions[0];
    const FusionFactor* fused = find_factor(fusion, "convolution+batch_norm");
    ASSERT_NE(fused, nullptr);
    EXPECT_NEAR(fused->factor, 0.1, 0.1);
    ASSERT_NE(find_factor(fusion, "convolution"), nullptr);
    EXPECT_NEAR(find_factor(fusion, "convolution")->factor, 1, 0.08);
    EXPECT_LT(fusion.sigma, 0.1);
}

TEST(LearnFusion, NetworksWithoutKernelsTeachNothing) {
    std::vector<TrainingNetwork> networks{fused_network("resnet18"), fused_network("resnet18")};
    networks[0].measurement.kernels.clear();
    networks[1].measurement.mode = Mode::training;
    EXPECT_TRUE(told_networks(networks).empty());
}

TEST(LearnFusion, VersionsOfAnEngineAreKeptApart) {
    std::vector<TrainingNetwork> networks{fused_network("resnet18"), fused_network("alexnet"), fused_network("vgg11")};
    networks[1].framework = "fuser 0.9";
    const auto told = told_networks(networks);
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].framework, "fuser 1.0");
    EXPECT_THAT(told[0].networks, ElementsAre(0, 2));
    EXPECT_THAT(told[0].others, ElementsAre("fuser 0.9"));
    // Of several with as many networks the last by name.
    networks.pop_back();
    EXPECT_EQ(told_networks(networks).at(0).framework, "fuser 1.0");
}

TEST(LearnFusion, EachNetworkHasOneVote) {
    const ObservedFusion often{{"join|a:1|b|one|first|0|1|4", {.asked = 100, .yes = 100}}};
    const ObservedFusion never{{"join|a:1|b|one|first|0|1|4", {.asked = 1, .yes = 0}}};
    const std::vector<const ObservedFusion*> one_against_one{&often, &never};
    EXPECT_TRUE(fusion_rules(one_against_one).empty());
    const std::vector<const ObservedFusion*> outvoted{&often, &never, &never};
    EXPECT_EQ(fusion_rules(outvoted), (std::vector<FusionRule>{{"join|a:1|b|one|first|0|1|4", false}}));
}

TEST(LearnFusion, WhatHoldsForKindsOfCallsNeedsThreeNetworksThatAgree) {
    const std::string key = "~join|point...<point>|<point>|one|first";
    const ObservedFusion yes{{key, {.asked = 5, .yes = 5}}}, no{{key, {.asked = 5, .yes = 0}}};
    EXPECT_TRUE(fusion_rules(std::vector<const ObservedFusion*>{&yes, &yes}).empty());
    EXPECT_EQ(fusion_rules(std::vector<const ObservedFusion*>{&yes, &yes, &yes}),
              (std::vector<FusionRule>{{key, true}}));
    EXPECT_EQ(fusion_rules(std::vector<const ObservedFusion*>{&no, &no, &no}), (std::vector<FusionRule>{{key, false}}));
    EXPECT_TRUE(fusion_rules(std::vector<const ObservedFusion*>{&yes, &yes, &yes, &no}).empty());
}

// No network that taught the rules has a concatenation before a batch norm.
TEST(LearnFusion, KindsOfCallsTellWhatNoNetworkHad) {
    std::vector<ObservedFusion> observed;
    for (const std::string model : {"resnet18", "mobilenet_v2", "mnasnet1_0", "resnet34"}) {
        const Graph graph = synthetic_graph(model, 2);
        observed.push_back(observed_fusion(graph, groups_of_kernels(graph, testing::pointwise_kernels(graph))));
    }
    std::vector<const ObservedFusion*> networks;
    for (const ObservedFusion& network : observed) networks.push_back(&network);
    FusionModel fusion;
    fusion.rules = fusion_rules(networks);
    const Graph unseen = synthetic_graph("densenet121", 2);
    const auto truth = groups_of_kernels(unseen, testing::pointwise_kernels(unseen));
    const GroupsAgreement found = agreement(unseen, fusion_groups(unseen, fusion), truth);
    EXPECT_EQ(found.right, found.nodes);
    std::erase_if(fusion.rules, [](const FusionRule& rule) { return is_of_kinds(rule.key); });
    EXPECT_LT(agreement(unseen, fusion_groups(unseen, fusion), truth).right, 2 * found.nodes / 3);
}

TEST(LearnFusion, ARuleThatTheNextOneSaysTooIsLeftOut) {
    const ObservedFusion seen{{"join|a:1|b|one|first|0|1|4", {.asked = 3, .yes = 3}},
                              {"join|a:1|b|one|first|0|1|4|c", {.asked = 2, .yes = 2}},
                              {"join|a:1|b|one|first|0|1|4|d", {.asked = 1, .yes = 0}}};
    const std::vector<const ObservedFusion*> networks{&seen};
    EXPECT_EQ(fusion_rules(networks),
              (std::vector<FusionRule>{{"join|a:1|b|one|first|0|1|4", true}, {"join|a:1|b|one|first|0|1|4|d", false}}));
}

}  // namespace
}  // namespace joulecast
