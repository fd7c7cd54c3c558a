#include "joulecast/train/what_next.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "joulecast/error.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using testing::synthetic_graph;

const MeasuringCost half_a_second{std::vector<std::pair<double, double>>{}};

TrainSettings quick() {
    TrainSettings settings;
    settings.trees = 8;
    settings.folds = 3;
    return settings;
}

CandidateOperation candidate(const std::string& text, double calls) {
    return {prepare(parse_operation(text), testing::synthetic_cpu(), Math::ieee), calls};
}

WhatNext next(const std::vector<CandidateOperation>& candidates, double budget_s) {
    static const auto rows = testing::synthetic_training({synthetic_graph("resnet18", 2)});
    WhatNextSettings settings;
    settings.budget_s = budget_s;
    settings.training = quick();
    return what_next(testing::synthetic_cpu(), testing::synthetic_point(), rows, candidates, half_a_second, settings);
}

std::set<std::size_t> places(const WhatNext& next) {
    std::set<std::size_t> found;
    for (const NextOperation& one : next.chosen) found.insert(one.candidate);
    return found;
}

TEST(MeasuringCost, IsThatOfOperationsOfItsKindOfTime) {
    std::vector<std::pair<double, double>> rows;
    for (int i = 0; i < 100; ++i) rows.emplace_back(1e-5, 0.2);
    for (int i = 0; i < 100; ++i) rows.emplace_back(1.0, 12);
    const MeasuringCost cost(rows);
    EXPECT_DOUBLE_EQ(cost.seconds(2e-6), 0.2);
    EXPECT_DOUBLE_EQ(cost.seconds(1e-5), 0.2);
    EXPECT_DOUBLE_EQ(cost.seconds(1.0), 12);
    EXPECT_DOUBLE_EQ(cost.seconds(3.0), 36);  // three times longer than any that was measured
    EXPECT_DOUBLE_EQ(half_a_second.seconds(1), 0.5);
    auto row = testing::synthetic_row(parse_operation("aten::relu(self=f32[64,8])"));
    EXPECT_DOUBLE_EQ(MeasuringCost(std::vector{row}).seconds(1e-5), 0.5) << "it does not say how long it took";
    row.measurement.wall_s = 3;
    EXPECT_DOUBLE_EQ(MeasuringCost(std::vector{row}).seconds(1e-9), 3);
}

TEST(WhatNext, StaysWithinTheBudget) {
    // Of a family that no row is of: each tells of itself alone.
    std::vector<CandidateOperation> many;
    for (int size = 1; size <= 40; ++size)
        many.push_back(candidate("aten::softmax.int(self=f32[64," + std::to_string(64 * size) + "], dim=1)", 1));
    const WhatNext chosen = next(many, 3.2);
    EXPECT_EQ(chosen.chosen.size(), 6U);  // of half a second each
    EXPECT_DOUBLE_EQ(chosen.cost_s, 3);
    EXPECT_EQ(chosen.candidates, 40U);
    EXPECT_EQ(chosen.not_considered, 0U);
    EXPECT_EQ(places(chosen).size(), 6U) << "none twice";
    for (std::size_t i = 1; i < chosen.chosen.size(); ++i)
        EXPECT_LE(chosen.chosen[i].gain, chosen.chosen[i - 1].gain + 1e-12)
            << "each has less to tell than the one before";
    EXPECT_THROW(next(many, 0), Error);
}

TEST(WhatNext, TakesOneOfManyThatTheTreesCannotTellApart) {
    // Ten additions of nearly the same size, and one kind of operation of which nothing is known.
    std::vector<CandidateOperation> alike;
    for (int i = 0; i < 10; ++i)
        alike.push_back(candidate("aten::relu(self=f32[2,64,56," + std::to_string(5000 + i) + "])", 1));
    alike.push_back(candidate("aten::softmax.int(self=f32[64,1000], dim=1)", 1));
    const WhatNext chosen = next(alike, 1.2);  // two
    ASSERT_EQ(chosen.chosen.size(), 2U);
    EXPECT_TRUE(places(chosen).contains(10)) << "the second relu of about that size tells next to nothing";
}

TEST(WhatNext, PrefersWhatTheNetworksSpendTheirTimeOn) {
    std::vector<CandidateOperation> two{candidate("aten::softmax.int(self=f32[64,1000], dim=1)", 1),
                                        candidate("aten::cumsum(self=f32[64,1000], dim=1)", 1000)};
    EXPECT_EQ(next(two, 0.6).chosen.at(0).candidate, 1U);
    std::swap(two[0].calls, two[1].calls);
    EXPECT_EQ(next(two, 0.6).chosen.at(0).candidate, 0U);
    EXPECT_NEAR(next(two, 0.6).chosen.at(0).share, 1, 0.01);
}

TEST(WhatNext, LooksAtTheMostPromisingAlone) {
    std::vector<CandidateOperation> many;
    for (int size = 1; size <= 30; ++size)
        many.push_back(candidate("aten::relu(self=f32[2," + std::to_string(64 * size) + ",56,56])", size));
    WhatNextSettings settings;
    settings.most_candidates = 10;
    settings.training = quick();
    const auto rows = testing::synthetic_training({synthetic_graph("resnet18", 2)});
    const WhatNext chosen =
        what_next(testing::synthetic_cpu(), testing::synthetic_point(), rows, many, half_a_second, settings);
    EXPECT_EQ(chosen.not_considered, 20U);
    EXPECT_LE(chosen.chosen.size(), 10U);
}

}  // namespace
}  // namespace joulecast
