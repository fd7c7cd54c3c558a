#include "joulecast/measure/errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace joulecast {
namespace {

TEST(Errors, TimesSigmaJoinsTheSpreadWithinAndBetween) {
    TimeSummary time;
    time.mean_s = 2.0;
    time.half_width_s = 0.0212;  // t(.975, 99) = 1.98422 (table): sigma 0.010684
    time.effective_blocks = 100;
    EXPECT_NEAR(time_sigma_s(time, 0.0), 0.010684, 1e-6);
    // 1 % between repeats is 0.02 s: sqrt(0.010684^2 + 0.02^2) = 0.022675
    EXPECT_NEAR(time_sigma_s(time, 0.01), 0.022675, 1e-6);
    EXPECT_NEAR(time_sigma_s(time, std::nan("")), 0.010684, 1e-6);
}

TEST(Errors, FewTicksMeanASmallerSigmaForTheSameHalfWidth) {
    EnergySummary energy;
    energy.energy_j = 10.0;
    energy.half_width_j = 0.257058;
    energy.ticks = 6;  // t(.975, 5) = 2.57058 (table)
    EXPECT_NEAR(energy_sigma_j(energy, 0.0), 0.1, 1e-6);
    EXPECT_NEAR(energy_sigma_j(energy, 0.01), std::sqrt(0.02), 1e-6);
    energy.gain_error = 0.05;  // listed apart
    EXPECT_NEAR(energy_sigma_j(energy, 0.0), 0.1, 1e-6);
}

TEST(Errors, IdenticalCallsShareTheirErrorAndOthersDoNot) {
    // 100 calls of one measurement: 100 x 0.1 = 10. As 100 independent ones it would be 1.
    EXPECT_DOUBLE_EQ(sum_of(std::vector<Part>{{100, 1.0, 0.1}}, 0.0).sigma, 10.0);
    const std::vector<Part> two = {{3, 1.0, 0.1}, {4, 2.0, 0.1}};
    const Total total = sum_of(two, 0.02);
    EXPECT_DOUBLE_EQ(total.value, 11.0);
    // sqrt(0.3^2 + 0.4^2) = 0.5, and 2 % of 11 = 0.22
    EXPECT_NEAR(total.sigma, std::sqrt(0.25 + 0.0484), 1e-12);
}

TEST(Errors, APartOfUnknownErrorMakesTheTotalsUnknown) {
    const Total total = sum_of(std::vector<Part>{{1, 1.0, 0.1}, {1, 1.0, std::nan("")}}, 0.0);
    EXPECT_DOUBLE_EQ(total.value, 2.0);
    EXPECT_TRUE(std::isnan(total.sigma));
}

TEST(Errors, TwoSigmasHoldSumsOfSimulatedMeasurementsNineteenTimesInTwenty) {
    const std::vector<Part> truth = {{50, 1.0, 0.02}, {10, 3.0, 0.06}, {1, 20.0, 0.4}};
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    constexpr int trials = 2000;
    int held = 0;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<Part> measured = truth;
        for (Part& part : measured) part.value += part.sigma * normal(random);
        const Total total = sum_of(measured, 0.0);
        held += std::abs(total.value - 100.0) <= half_width_95(total.sigma) ? 1 : 0;  // 50 + 30 + 20
    }
    EXPECT_NEAR(static_cast<double>(held) / trials, 0.95, 0.015);
}

}  // namespace
}  // namespace joulecast
