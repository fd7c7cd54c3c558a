#include "joulecast/learn/isolation_forest.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

/// 300 rows spread evenly over the unit square, and one far off it, the last.
Samples square_and_one() {
    Samples samples(301, 2);
    Random random(7);
    for (std::size_t row = 0; row < 300; ++row) {
        samples.set(row, 0, static_cast<float>(random.uniform()));
        samples.set(row, 1, static_cast<float>(random.uniform()));
    }
    samples.set(300, 0, 6);
    samples.set(300, 1, -5);
    return samples;
}

std::array<float, 2> row_of(const Samples& samples, std::size_t row) {
    return {samples.at(row, 0), samples.at(row, 1)};
}

TEST(UsualPathLength, IsThatOfABinarySearchTree) {
    EXPECT_EQ(usual_path_length(0), 0);
    EXPECT_EQ(usual_path_length(1), 0);
    EXPECT_EQ(usual_path_length(2), 1);
    // 2 (ln 255 + 0.5772156649) - 2 * 255 / 256 = 11.0825271 + 1.1544313 - 1.9921875
    EXPECT_NEAR(usual_path_length(256), 10.2447709, 1e-6);
}

TEST(IsolationForest, FindsTheRowThatStandsAlone) {
    const Samples samples = square_and_one();
    const auto isolation = fit_isolation_forest(samples, {});
    const double alone = anomaly_score(isolation, row_of(samples, 300));
    EXPECT_GT(alone, 0.7);
    double sum = 0;
    for (std::size_t row = 0; row < 300; ++row) {
        const double score = anomaly_score(isolation, row_of(samples, row));
        EXPECT_LT(score, alone);
        sum += score;
    }
    EXPECT_NEAR(sum / 300, 0.45, 0.05);  // rows among many of their like: about a half, rather less
}

TEST(IsolationForest, TellsNothingOfRowsThatAreAllTheSame) {
    Samples samples(40, 2);
    for (std::size_t row = 0; row < 40; ++row) samples.set_row(row, std::array{1.0F, 2.0F});
    const auto isolation = fit_isolation_forest(samples, {});
    // One leaf of depth 0 holds all 40: its length is c(40), as usual.
    EXPECT_NEAR(anomaly_score(isolation, std::array{1.0F, 2.0F}), 0.5, 1e-6);
    EXPECT_EQ(anomaly_score(fit_isolation_forest(Samples(1, 1), {}), std::array{0.0F}), 0.5);
}

TEST(IsolationForest, TakesAMissingValueForOneBeyondAllOthers) {
    Samples samples(100, 1);
    for (std::size_t row = 0; row < 100; ++row) samples.set(row, 0, 3);
    const float missing = std::numeric_limits<float>::quiet_NaN();
    samples.set(41, 0, missing);
    const auto isolation = fit_isolation_forest(samples, {});
    EXPECT_GT(anomaly_score(isolation, std::array{missing}), 0.8);
    EXPECT_LT(anomaly_score(isolation, std::array{3.0F}), 0.55);
}

TEST(IsolationForest, IsTheSameFromTheSameSeed) {
    const Samples samples = square_and_one();
    const auto once = fit_isolation_forest(samples, {.seed = 5});
    EXPECT_EQ(once.forest, fit_isolation_forest(samples, {.seed = 5}).forest);
    EXPECT_NE(once.forest, fit_isolation_forest(samples, {.seed = 6}).forest);
    check(once.forest, 2);
}

TEST(IsolationForest, NeedsRowsAndTrees) {
    EXPECT_THROW(fit_isolation_forest(Samples(0, 2), {}), Error);
    EXPECT_THROW(fit_isolation_forest(Samples(3, 0), {}), Error);
    EXPECT_THROW(fit_isolation_forest(Samples(3, 1), {.trees = 0}), Error);
    EXPECT_THROW(fit_isolation_forest(Samples(3, 1), {.rows_per_tree = 0}), Error);
}

}  // namespace
}  // namespace joulecast
