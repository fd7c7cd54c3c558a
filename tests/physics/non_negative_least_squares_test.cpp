#include "joulecast/physics/non_negative_least_squares.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "joulecast/error.h"

namespace joulecast {
namespace {

TEST(NonNegativeLeastSquares, FindsWeightsThatFitExactly) {
    // 2 a + 1 b = 7, 1 a + 3 b = 11, 1 a + 1 b = 5: a = 2, b = 3.
    const std::vector<double> rows{2, 1, 1, 3, 1, 1};
    const std::vector<double> targets{7, 11, 5};
    const auto weights = non_negative_least_squares(rows, targets);
    ASSERT_EQ(weights.size(), 2U);
    EXPECT_NEAR(weights[0], 2, 1e-9);
    EXPECT_NEAR(weights[1], 3, 1e-9);
}

TEST(NonNegativeLeastSquares, PutsAWeightThatWouldBeNegativeAtZeroAndFitsTheRestWithoutIt) {
    // Least squares alone: a + b = 1, a = 2 gives a = 2, b = -1. Without b: a of the targets 1 and 2 is 1.5.
    const std::vector<double> rows{1, 1, 1, 0};
    const std::vector<double> targets{1, 2};
    const auto weights = non_negative_least_squares(rows, targets);
    EXPECT_NEAR(weights[0], 1.5, 1e-9);
    EXPECT_EQ(weights[1], 0);
}

TEST(NonNegativeLeastSquares, GivesAColumnOfZerosNoWeight) {
    const std::vector<double> rows{1, 0, 2, 0};
    const std::vector<double> targets{3, 6};
    const auto weights = non_negative_least_squares(rows, targets);
    EXPECT_NEAR(weights[0], 3, 1e-9);
    EXPECT_EQ(weights[1], 0);
}

TEST(NonNegativeLeastSquares, RefusesSizesThatDoNotFitAndNumbersThatAreNone) {
    const std::vector<double> three{1, 2, 3};
    const std::vector<double> two{1, 2};
    EXPECT_THROW(non_negative_least_squares(three, two), Error);
    EXPECT_THROW(non_negative_least_squares({}, {}), Error);
    const std::vector<double> none{1, std::numeric_limits<double>::quiet_NaN()};
    EXPECT_THROW(non_negative_least_squares(none, two), Error);
    EXPECT_THROW(non_negative_least_squares(two, none), Error);
}

}  // namespace
}  // namespace joulecast
