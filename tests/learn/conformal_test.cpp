#include "joulecast/learn/conformal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

TEST(ConformalQuantile, IsTheRankThatAccountsForTheNewCase) {
    // n = 19: ceil(20 * 0.9) = 18th smallest. The plain 90 % rank would be the 17th or 18th of 19.
    std::vector<double> scores;
    for (int i = 19; i >= 1; --i) scores.push_back(i);
    EXPECT_EQ(conformal_quantile(scores, 0.9), 18);
}

TEST(ConformalQuantile, TakesTheLargestOfTooFew) {
    EXPECT_EQ(conformal_quantile({3, 1, 2}, 0.9), 3);  // ceil(4 * 0.9) = 4 > 3
    EXPECT_TRUE(std::isnan(conformal_quantile({}, 0.9)));
}

TEST(ConformalQuantile, HoldsNineOfTenNewCases) {
    Random random(11);
    int inside = 0;
    constexpr int trials = 4000;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> scores(29);
        for (double& score : scores) score = -std::log(1 - random.uniform());
        if (-std::log(1 - random.uniform()) <= conformal_quantile(scores, 0.9)) ++inside;
    }
    EXPECT_NEAR(inside / static_cast<double>(trials), 0.9, 0.015);  // three standard deviations of 4000 trials
}

}  // namespace
}  // namespace joulecast
