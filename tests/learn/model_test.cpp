#include "joulecast/learn/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

constexpr float missing = std::numeric_limits<float>::quiet_NaN();

struct Table {
    Samples samples{300, 3};
    std::vector<double> targets;
};

/// y = 2 a - b, and 3 more where c is missing, which it is in every third row.
Table table() {
    Table result;
    Random random(8);
    for (std::size_t i = 0; i < 300; ++i) {
        const auto a = static_cast<float>(random.uniform());
        const auto b = static_cast<float>(random.uniform());
        result.samples.set_row(i, std::vector{a, b, i % 3 == 0 ? missing : static_cast<float>(random.uniform())});
        result.targets.push_back(2 * static_cast<double>(a) - static_cast<double>(b) + (i % 3 == 0 ? 3 : 0));
    }
    return result;
}

/// Quick ones: what is tested is the door.
LearnerSettings quick(Learner learner) {
    LearnerSettings settings = learner_settings(learner, 20, 1);
    settings.boost.rounds = 60;
    settings.perceptron.hidden = {16};
    settings.perceptron.learning_rate = 1e-2;
    settings.perceptron.batch = 30;
    return settings;
}

class EveryLearner : public ::testing::TestWithParam<Learner> {};

TEST_P(EveryLearner, FindsTheSignalAndTakesMissingValues) {
    const Table t = table();
    const Model model = fit_model(GetParam(), t.samples, t.targets, quick(GetParam()));
    EXPECT_NO_THROW(check(model, 3));
    for (const float a : {0.3F, 0.7F}) {
        // The targets' standard deviation is 1.6.
        EXPECT_NEAR(predict(model, std::vector{a, 0.5F, 0.5F}), 2 * static_cast<double>(a) - 0.5, 0.5);
        EXPECT_NEAR(predict(model, std::vector{a, 0.5F, missing}), 2 * static_cast<double>(a) + 2.5, 0.5);
    }
}

TEST_P(EveryLearner, GivesTheSameModelFromTheSameSeed) {
    const Table t = table();
    LearnerSettings one = quick(GetParam());
    one.threads = 1;
    LearnerSettings three = one;
    three.threads = 3;
    EXPECT_EQ(fit_model(GetParam(), t.samples, t.targets, one), fit_model(GetParam(), t.samples, t.targets, three));
}

TEST_P(EveryLearner, RefusesWhatCannotBeLearnedFrom) {
    const Table t = table();
    const auto settings = quick(GetParam());
    EXPECT_THROW(fit_model(GetParam(), Samples(0, 3), {}, settings), Error);
    EXPECT_THROW(fit_model(GetParam(), t.samples, std::vector<double>{1}, settings), Error);
    auto bad = t.targets;
    bad[7] = std::nan("");
    EXPECT_THROW(fit_model(GetParam(), t.samples, bad, settings), Error);
    auto grouped = settings;
    grouped.groups = {1, 2};
    EXPECT_THROW(fit_model(GetParam(), t.samples, t.targets, grouped), Error);
}

TEST_P(EveryLearner, LearnsFromOneRow) {
    Samples one(1, 2);
    one.set_row(0, std::vector{1.0F, 2.0F});
    const Model model = fit_model(GetParam(), one, std::vector<double>{5}, quick(GetParam()));
    EXPECT_NO_THROW(check(model, 2));
    EXPECT_NEAR(predict(model, std::vector{1.0F, 2.0F}), 5, 0.5);
}

TEST_P(EveryLearner, IsFoundByItsName) {
    EXPECT_EQ(parse_learner(name(GetParam())), GetParam());
}

INSTANTIATE_TEST_SUITE_P(All, EveryLearner,
                         ::testing::ValuesIn(std::vector<Learner>(all_learners().begin(), all_learners().end())),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST(ParseLearner, KnowsNoOthers) {
    EXPECT_EQ(parse_learner("oracle"), std::nullopt);
    EXPECT_EQ(all_learners().size(), 10U);
}

/// A forest whose trees are a leaf each.
Forest leaves(const std::vector<float>& values) {
    Forest forest;
    for (const float value : values) {
        forest.roots.push_back(static_cast<std::int32_t>(forest.nodes.size()));
        forest.nodes.push_back({-1, value, 0});
    }
    return forest;
}

TEST(MembersOfAModel, AreTreesOrTheModelAsAWhole) {
    // Two trees that say 10 and 40; boosted they say 1 + 10 + 40 together.
    const Forest two = leaves({10, 40});
    const auto apart = members(two, std::vector{0.0F}, true);
    EXPECT_EQ(apart.mean, 25);
    EXPECT_EQ(apart.variance, 225);
    EXPECT_EQ(tree_count(two), 2U);
    const Model together = BoostedTrees{1, two};
    EXPECT_EQ(predict(together, std::vector{0.0F}), 51);
    EXPECT_EQ(members(together, std::vector{0.0F}, true).mean, 51);
    EXPECT_EQ(members(together, std::vector{0.0F}, true).midmean, 51);
    EXPECT_EQ(members(together, std::vector{0.0F}, true).variance, 0);
    EXPECT_EQ(tree_count(together), 2U);
    EXPECT_EQ(tree_count(Model(Polynomial())), 0U);
}

TEST(MembersOfAModel, AreReadWithoutTheLowestAndTheHighestQuarter) {
    const auto midmean = [](const std::vector<float>& values) {
        return members(leaves(values), std::vector{0.0F}, true).midmean;
    };
    EXPECT_EQ(midmean({900, 3, 1, 2, 4, -500, 5, 6}), 3.5);  // of 2, 3, 4 and 5
    EXPECT_EQ(midmean({7, 100, 1, 9, 8}), 8);                // 5 trees: one off either end
    EXPECT_EQ(midmean({1, 2, 6}), 3);                        // too few to leave any out
    EXPECT_EQ(midmean({4}), 4);
    EXPECT_THROW(members(Forest(), std::vector{0.0F}, false), Error);
}

TEST(FitModel, KeepsGroupsTogetherWhereItHoldsOut) {
    // Twenty rows of noise, each four times. Folds of rows find every held-out row among the trained ones, so that the
    // smallest penalty looks best; folds of groups see that nothing is known, and take a large one.
    Samples samples(80, 20);
    std::vector<double> targets;
    LearnerSettings settings = learner_settings(Learner::ridge, 1, 1);
    Random random(4);
    for (std::size_t i = 0; i < 80; ++i) {
        for (std::size_t c = 0; c < 20; ++c) {
            samples.set(i, c, i % 4 == 0 ? static_cast<float>(random.uniform()) : samples.at(i - 1, c));
        }
        targets.push_back(i % 4 == 0 ? random.uniform() : targets.back());
    }
    const auto size = [&](const Model& model) {
        double sum = 0;
        for (const double weight : std::get<Polynomial>(model).weights) sum += std::abs(weight);
        return sum;
    };
    const double alone = size(fit_model(Learner::ridge, samples, targets, settings));
    for (std::size_t i = 0; i < 80; ++i) settings.groups.push_back(i / 4);
    EXPECT_LT(size(fit_model(Learner::ridge, samples, targets, settings)), 0.5 * alone);
}

TEST(FitModel, ComparesNoMoreRowsThanItMay) {
    const Table t = table();
    for (const Learner learner : all_learners()) {
        LearnerSettings settings = quick(learner);
        settings.most_compared_rows = 40;
        const bool compares = learner == Learner::knn || learner == Learner::svr;
        EXPECT_EQ(learned_rows(learner, 300, settings), compares ? 40U : 300U) << name(learner);
        EXPECT_EQ(learned_rows(learner, 30, settings), 30U) << name(learner);
    }
    LearnerSettings settings = quick(Learner::knn);
    settings.most_compared_rows = 40;
    const auto targets_of = [&](std::uint64_t seed) {
        settings.seed = seed;
        return std::get<Neighbours>(fit_model(Learner::knn, t.samples, t.targets, settings)).targets;
    };
    const auto drawn = targets_of(1);
    ASSERT_EQ(drawn.size(), 40U);
    // Rows of the table, each at most once and in its order.
    auto place = t.targets.begin();
    for (const double target : drawn) {
        place = std::find(place, t.targets.end(), target);
        ASSERT_NE(place, t.targets.end());
        ++place;
    }
    EXPECT_EQ(targets_of(1), drawn);
    EXPECT_NE(targets_of(2), drawn);
    settings.groups.assign(300, 0);
    EXPECT_EQ(targets_of(1), drawn);
    settings.most_compared_rows = 0;
    EXPECT_THROW(targets_of(1), Error);
}

}  // namespace
}  // namespace joulecast
