#include "joulecast/evaluate/summed_networks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/train/synthetic.h"

namespace joulecast::testing {
namespace {

Operation relu(int size) {
    return parse_operation("aten::relu(self=f32[" + std::to_string(size) + "])");
}

TrainingNetwork three_calls() {
    TrainingNetwork network;
    network.graph.has_edges = false;
    for (const auto& [operation, count] : {std::pair(relu(8), 2), std::pair(relu(16), 1)}) {
        Node node;
        node.operation = operation;
        node.count = count;
        network.graph.nodes.push_back(node);
    }
    network.measurement.time.median_s = 5;
    network.measurement.time.half_width_s = 0.1;
    return network;
}

MeasuredOperation measured(double seconds, double half_90, double watts) {
    return {{Seconds(seconds), Seconds(seconds - half_90), Seconds(seconds + half_90)},
            {Watts(watts), Watts(watts), Watts(watts)}};
}

TEST(SummedNetworks, CallsOfOneOperationShareItsErrorAndOthersErrByThemselves) {
    const TrainingNetwork network = three_calls();
    const MeasuredOperations operations = {{signature(relu(8)), measured(1, 0.1, 50)},
                                           {signature(relu(16)), measured(2, 0.3, 100)}};
    const auto sums = summed_networks(std::vector{network}, operations);
    ASSERT_EQ(sums.size(), 1U);
    EXPECT_DOUBLE_EQ(sums[0].summed_time_s.value, 4);  // 2 x 1 + 2
    // 90 % halves 0.1 (twice, together) and 0.3: sqrt(0.2^2 + 0.3^2), widened to 95 %.
    EXPECT_NEAR(sums[0].summed_time_s.half_width, std::sqrt(0.04 + 0.09) * 1.959964 / 1.645, 1e-9);
    EXPECT_DOUBLE_EQ(sums[0].summed_energy_j.value, 300);  // 2 x 1 x 50 + 2 x 100
    EXPECT_EQ(sums[0].measured_share(), 1);
    EXPECT_EQ(sums[0].time_s.value, 5);
}

TrainingNetwork calls(std::initializer_list<std::pair<const char*, int>> counted) {
    TrainingNetwork network;
    network.graph.has_edges = false;
    for (const auto& [text, count] : counted) {
        Node node;
        node.operation = parse_operation(text);
        node.count = count;
        network.graph.nodes.push_back(node);
    }
    return network;
}

// Of 26 networks in the thesis' training table none was in tables I and II: layers were measured out of place, with a
// gradient of every input and with the counting of batches inside, none of which the calls of a network are.
TEST(SummedNetworks, ASiblingStandsForACallInPlaceOrNot) {
    const auto network = calls({{"aten::relu_(self=f32[8]~)", 3}, {"aten::silu(self=f32[8]~)", 1}});
    const auto sums = summed_networks(std::vector{network}, {{"aten::relu(self=f32[8]~)", measured(1, 0, 50)},
                                                             {"aten::silu_(self=f32[8]~)", measured(2, 0, 50)}});
    EXPECT_DOUBLE_EQ(sums[0].summed_time_s.value, 5);  // 3 x 1 + 2
    EXPECT_EQ(sums[0].measured_share(), 1);
    EXPECT_EQ(sums[0].input_gradient_s, 0);
}

TEST(SummedNetworks, ACallMeasuredItselfNeedsNoSibling) {
    const auto sums = summed_networks(
        std::vector{calls({{"aten::relu_(self=f32[8]~)", 1}})},
        {{"aten::relu(self=f32[8]~)", measured(1, 0, 50)}, {"aten::relu_(self=f32[8]~)", measured(2, 0, 50)}});
    EXPECT_DOUBLE_EQ(sums[0].summed_time_s.value, 2);
}

TEST(SummedNetworks, AFirstLayerMeasuredWithTheGradientOfItsInputStandsInAndSaysHowMuchThatIs) {
    const auto network = calls({{"aten::conv2d(input=f32[8,3,8,8], weight=f32[4,3,1,1]~)", 1}});
    const auto sums = summed_networks(
        std::vector{network}, {{"aten::conv2d(input=f32[8,3,8,8]~, weight=f32[4,3,1,1]~)", measured(6, 0, 50)}});
    EXPECT_DOUBLE_EQ(sums[0].summed_time_s.value, 6);
    EXPECT_EQ(sums[0].measured_share(), 1);
    EXPECT_DOUBLE_EQ(sums[0].input_gradient_s, 2);  // forward, gradient of the weight, gradient of the input: a third
}

TEST(SummedNetworks, ARowWithTheGradientOfItsInputStandsForNoInference) {
    const auto sums = summed_networks(std::vector{calls({{"aten::relu(self=f32[8])", 1}})},
                                      {{"aten::relu(self=f32[8]~)", measured(1, 0, 50)}});
    EXPECT_EQ(sums[0].measured_calls, 0);
}

TEST(SummedNetworks, BatchNormMeasuredInTrainingStateStandsInAndSaysHowMuchThatIs) {
    const std::string norm =
        "aten::batch_norm(input=f32[8,4,2,2], weight=f32[4], bias=f32[4], running_mean=f32[4], "
        "running_var=f32[4], training=";
    const std::string rest = ", momentum=0.1, eps=1e-05, cudnn_enabled=true)";
    const auto network = calls({{(norm + "false" + rest).c_str(), 2}, {"aten::relu(self=f32[8])", 1}});
    MeasuredOperations operations = {{norm + "true" + rest, measured(3, 0, 50)},
                                     {"aten::relu(self=f32[8])", measured(1, 0, 50)}};
    const auto sums = summed_networks(std::vector{network}, operations);
    EXPECT_DOUBLE_EQ(sums[0].summed_time_s.value, 7);
    EXPECT_DOUBLE_EQ(sums[0].batch_statistics_s, 6);
    operations[norm + "false" + rest] = measured(2, 0, 50);
    EXPECT_DOUBLE_EQ(summed_networks(std::vector{network}, operations)[0].summed_time_s.value, 5);
}

TEST(SummedNetworks, CountersOfBatchesAndDropoutThatDropsNothingAreCallsOnlyWhereTheyWereMeasured) {
    const auto network = calls({{"aten::relu(self=f32[8]~)", 1},
                                {"aten::add_.Tensor(self=i64[], other=1)", 53},
                                {"aten::dropout(input=f32[8]~, p=0.0, train=true)", 7},
                                {"aten::dropout(input=f32[8]~, p=0.5, train=true)", 1}});
    MeasuredOperations operations = {{"aten::relu(self=f32[8]~)", measured(1, 0, 50)}};
    EXPECT_EQ(summed_networks(std::vector{network}, operations)[0].calls, 2);  // ReLU and the dropout that drops
    operations["aten::add_.Tensor(self=i64[], other=1)"] = measured(1, 0, 50);
    const auto sums = summed_networks(std::vector{network}, operations);
    EXPECT_EQ(sums[0].calls, 55);
    EXPECT_EQ(sums[0].measured_calls, 54);
}

TEST(SummedNetworks, WhatWasNotMeasuredIsCountedNotGuessed) {
    const auto sums = summed_networks(std::vector{three_calls()}, {{signature(relu(8)), measured(1, 0.1, 50)}});
    EXPECT_DOUBLE_EQ(sums[0].summed_time_s.value, 2);
    EXPECT_DOUBLE_EQ(sums[0].measured_share(), 2.0 / 3);
    const auto none = summed_networks(std::vector{three_calls()}, {});
    EXPECT_TRUE(std::isnan(none[0].summed_time_s.value));
    EXPECT_EQ(none[0].measured_share(), 0);
}

}  // namespace
}  // namespace joulecast::testing
