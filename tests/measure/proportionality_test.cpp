#include "joulecast/measure/proportionality.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/measure/simulated_bench.h"

namespace joulecast {
namespace {

TEST(Proportionality, FitsTheSixSeventhsWithMostCalls) {
    // 14 points: the two with fewest calls stay out of the fit, and are far off the line 0.5 + 2 n.
    std::vector<Runtime> points = {{1, 40.0}, {2, 50.0}};
    for (std::int64_t n = 3; n <= 14; ++n) {
        points.push_back({n, 0.5 + 2.0 * static_cast<double>(n) + (n % 2 == 0 ? 0.01 : -0.01)});
    }
    const Proportionality fit = fit_proportionality(points);
    EXPECT_EQ(fit.fitted, 12U);
    EXPECT_NEAR(fit.call_s, 2.0, 1e-3);
    EXPECT_NEAR(fit.offset_s, 0.5, 0.01);
    // Twelve residuals of 0.01, two degrees of freedom taken: 0.01 sqrt(12 / 10)
    EXPECT_NEAR(fit.sigma_s, 0.01 * std::sqrt(1.2), 3e-4);
    ASSERT_TRUE(fit.largest_outlier);
    EXPECT_EQ(fit.largest_outlier->calls, 2);
    EXPECT_DOUBLE_EQ(fit.largest_outlier->runtime_s, 50.0);
}

TEST(Proportionality, NamesNoOutlierOnALine) {
    std::vector<Runtime> points;
    for (std::int64_t n = 20; n >= 1; --n) {
        points.push_back({n, static_cast<double>(n) + (n % 3 == 0 ? 0.02 : -0.01)});
    }
    const Proportionality fit = fit_proportionality(points);
    EXPECT_FALSE(fit.largest_outlier);
    EXPECT_EQ(points.front().calls, 1);
    EXPECT_EQ(fit.residual_s.size(), 20U);
}

TEST(Proportionality, OfThreePointsIsNotKnown) {
    std::vector<Runtime> points = {{1, 1.0}, {2, 2.0}};
    EXPECT_TRUE(std::isnan(fit_proportionality(points).call_s));
}

TEST(Proportionality, NumbersOfCallsGrowByAFactorUpToTheLongestRun) {
    EXPECT_EQ(numbers_of_calls(1e-3, 1.0, 4), (std::vector<std::int64_t>{1, 10, 100, 1000}));
    // A call longer than that is made once, not never.
    EXPECT_EQ(numbers_of_calls(5.0, 1.0, 4), (std::vector<std::int64_t>{1}));
}

TEST(Proportionality, TimesEachNumberOfCalls) {
    SimulatedBench bench;
    SimulatedCalls calls(bench, 1e-3);
    ClockBlockTimer timer(bench);
    auto runtimes = time_numbers_of_calls(calls, timer, {1, 10, 100});
    ASSERT_EQ(runtimes.size(), 3U);
    EXPECT_NEAR(runtimes[2].runtime_s, 0.1, 1e-5);
    EXPECT_EQ(calls.done, 114);  // with a warm-up of three
}

}  // namespace
}  // namespace joulecast
