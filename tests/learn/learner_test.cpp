#include "joulecast/learn/learner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

struct Table {
    Samples samples;
    std::vector<double> targets;
};

/// y = x0 + 3 if x1 > 0.5, with a third column of noise.
Table steps(std::size_t rows) {
    Table table{Samples(rows, 3), {}};
    Random random(7);
    for (std::size_t i = 0; i < rows; ++i) {
        const double a = random.uniform();
        const double b = random.uniform();
        table.samples.set_row(
            i, std::vector{static_cast<float>(a), static_cast<float>(b), static_cast<float>(random.uniform())});
        table.targets.push_back(a + (b > 0.5 ? 3 : 0));
    }
    return table;
}

TEST(Learner, SplitsWhereTheSquaredErrorFallsMost) {
    // Targets 0 0 9 9 over x = 1 2 3 4: the best cut is between 2 and 3, in their middle.
    Samples samples(4, 1);
    for (std::size_t i = 0; i < 4; ++i) samples.set(i, 0, static_cast<float>(i + 1));
    const Forest forest = fit_forest(samples, std::vector<double>{0, 0, 9, 9}, {});
    ASSERT_EQ(forest.nodes.size(), 3U);
    EXPECT_EQ(forest.nodes[0].value, 2.5F);
    EXPECT_EQ(predict(forest, std::vector{2.0F}), 0);
    EXPECT_EQ(predict(forest, std::vector{3.0F}), 9);
}

TEST(Learner, RepeatsTheTrainingRowsWithLeavesOfOne) {
    const Table table = steps(200);
    const Forest forest = fit_forest(table.samples, table.targets, settings(Learner::extra_trees, 10, 1));
    for (std::size_t i = 0; i < 200; ++i) {
        EXPECT_NEAR(predict(forest, table.samples.row(i)), table.targets[i], 1e-6);
    }
}

TEST(Learner, FindsTheSignalAmongNoise) {
    const Table training = steps(400);
    for (const Learner learner : {Learner::extra_trees, Learner::random_forest, Learner::decision_tree}) {
        const Forest forest = fit_forest(training.samples, training.targets, settings(learner, 40, 3));
        // Points of a grid off the training rows; standard deviation of the targets is about 1.5.
        for (const float a : {0.2F, 0.5F, 0.8F}) {
            EXPECT_NEAR(predict(forest, std::vector{a, 0.2F, 0.5F}), a, 0.3) << name(learner);
            EXPECT_NEAR(predict(forest, std::vector{a, 0.8F, 0.5F}), a + 3, 0.3) << name(learner);
        }
    }
}

TEST(Learner, GivesTheSameForestWhateverTheThreads) {
    const Table table = steps(300);
    for (const Learner learner : {Learner::extra_trees, Learner::random_forest}) {
        TreeSettings one = settings(learner, 12, 5);
        one.threads = 1;
        TreeSettings four = one;
        four.threads = 4;
        EXPECT_EQ(fit_forest(table.samples, table.targets, one), fit_forest(table.samples, table.targets, four));
        TreeSettings other = one;
        other.seed = 6;
        EXPECT_NE(fit_forest(table.samples, table.targets, one), fit_forest(table.samples, table.targets, other));
    }
}

TEST(Learner, PartsMissingValuesFromTheRest) {
    // Target 1 where the value is missing, 0 where it is not, whatever it is.
    Samples samples(20, 1);
    std::vector<double> targets;
    for (std::size_t i = 0; i < 20; ++i) {
        const bool missing = i % 2 == 0;
        samples.set(i, 0, missing ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(i));
        targets.push_back(missing ? 1 : 0);
    }
    for (const Learner learner : {Learner::extra_trees, Learner::decision_tree}) {
        const Forest forest = fit_forest(samples, targets, settings(learner, 5, 1));
        EXPECT_EQ(predict(forest, std::vector{std::numeric_limits<float>::quiet_NaN()}), 1) << name(learner);
        EXPECT_EQ(predict(forest, std::vector{19.0F}), 0) << name(learner);
        EXPECT_NO_THROW(check(forest, 1));
    }
}

TEST(Learner, EndsOnConstantColumnsAndDepth) {
    Samples constant(5, 2);
    EXPECT_EQ(fit_forest(constant, std::vector<double>{1, 2, 3, 4, 5}, {}).nodes.size(), 1U);
    const Table table = steps(100);
    TreeSettings shallow;
    shallow.max_depth = 2;
    EXPECT_LE(fit_forest(table.samples, table.targets, shallow).nodes.size(), 7U);  // 1 + 2 + 4
}

TEST(Learner, RefusesTargetsThatAreNoNumbers) {
    const Samples samples(2, 1);
    EXPECT_THROW(fit_forest(samples, std::vector<double>{1, std::nan("")}, {}), Error);
    EXPECT_THROW(fit_forest(samples, std::vector<double>{1}, {}), Error);
    EXPECT_THROW(fit_forest(Samples(0, 1), std::vector<double>{}, {}), Error);
}

}  // namespace
}  // namespace joulecast
