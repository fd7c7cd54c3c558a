#include "joulecast/units/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace joulecast {
namespace {

TEST(Statistics, MeanAndMedianOfAFewNumbers) {
    const std::vector<double> samples{4.0, 1.0, 7.0, 2.0};
    EXPECT_DOUBLE_EQ(mean(samples), 3.5);    // 14 / 4
    EXPECT_DOUBLE_EQ(median(samples), 3.0);  // between 2 and 4
    EXPECT_DOUBLE_EQ(median(std::vector<double>{5.0, 1.0, 3.0}), 3.0);
}

TEST(Statistics, DeviationDividesByOneLess) {
    // Distances from 3: 2, 0, 2; squares 8 over 2.
    EXPECT_DOUBLE_EQ(standard_deviation(std::vector<double>{1.0, 3.0, 5.0}), 2.0);
}

TEST(Statistics, QuantileInterpolatesBetweenNeighbours) {
    const std::vector<double> samples{30.0, 10.0, 20.0, 40.0, 50.0};
    EXPECT_DOUBLE_EQ(quantile(samples, 0.0), 10.0);
    EXPECT_DOUBLE_EQ(quantile(samples, 1.0), 50.0);
    EXPECT_DOUBLE_EQ(quantile(samples, 0.9), 46.0);  // position 3.6 of 0..4: 40 + 0.6 10
}

TEST(Statistics, TheNextQuantileLeavesRoomForOneMore) {
    std::vector<double> samples;
    for (int i = 19; i >= 1; --i) samples.push_back(i);
    // 0.9 20/19 of the way from the 1st to the 19th: 1 + 18 (18/19). That of these alone is 1 + 18 (0.9) = 17.2.
    EXPECT_DOUBLE_EQ(next_quantile(samples, 0.9), 1 + 18 * 18.0 / 19);
    // 0.9 4/3 is above 1.
    EXPECT_DOUBLE_EQ(next_quantile(std::vector<double>{3.0, 1.0, 2.0}, 0.9), 3.0);
}

TEST(Statistics, NothingIsKnownOfNoSamples) {
    const std::vector<double> none;
    EXPECT_TRUE(std::isnan(mean(none)));
    EXPECT_TRUE(std::isnan(median(none)));
    EXPECT_TRUE(std::isnan(quantile(none, 0.5)));
    EXPECT_TRUE(std::isnan(next_quantile(none, 0.9)));
    EXPECT_TRUE(std::isnan(standard_deviation(std::vector<double>{1.0})));
}

TEST(Statistics, AlternatingSamplesCountInFull) {
    // The first autocorrelation is negative, so the initial positive sequence is empty.
    EXPECT_DOUBLE_EQ(effective_samples(std::vector<double>{1.0, -1.0, 1.0, -1.0, 1.0, -1.0}), 6.0);
}

TEST(Statistics, RepeatedSamplesCountOnce) {
    // 1 1 -1 -1 1 1 -1 -1: variance sum 8; lag 1: + - + - + - + with pairs (1,1) (1,-1) (-1,-1) (-1,1) (1,1) (1,-1)
    // (-1,-1) = 1 - 1 + 1 - 1 + 1 - 1 + 1 = 1, rho 1/8; lag 2 is negative. n_eff = 8 / (1 + 2/8) = 6.4.
    EXPECT_DOUBLE_EQ(effective_samples(std::vector<double>{1, 1, -1, -1, 1, 1, -1, -1}), 6.4);
}

TEST(Statistics, ADriftLeavesFewEffectiveSamples) {
    std::vector<double> drift;
    for (int i = 0; i < 100; ++i) drift.push_back(i);
    EXPECT_LT(effective_samples(drift), 5.0);
    EXPECT_GE(effective_samples(drift), 1.0);
}

TEST(Statistics, ConstantSamplesCountInFull) {
    EXPECT_DOUBLE_EQ(effective_samples(std::vector<double>{2.0, 2.0, 2.0, 2.0}), 4.0);
}

TEST(Statistics, StudentQuantilesEqualThoseOfScipy) {
    // One degree is Cauchy's: tan(pi (p - 1/2)). The others are scipy.stats.t.ppf.
    EXPECT_NEAR(student_t_quantile(0.975, 1.0), std::tan(std::acos(-1.0) * 0.475), 1e-8);
    EXPECT_NEAR(student_t_quantile(0.975, 9.0), 2.262157162798205, 1e-9);
    EXPECT_NEAR(student_t_quantile(0.95, 2.5), 2.5582186141359355, 1e-9);
    EXPECT_NEAR(student_t_quantile(0.1, 30.0), -1.3104150253913955, 1e-9);
    EXPECT_NEAR(student_t_quantile(0.975, 1e6), 1.959966356814107, 1e-8);
    EXPECT_NEAR(student_t_quantile(0.5, 4.0), 0.0, 1e-9);
}

TEST(Statistics, StudentQuantileOfNonsenseIsNotKnown) {
    EXPECT_TRUE(std::isnan(student_t_quantile(1.0, 3.0)));
    EXPECT_TRUE(std::isnan(student_t_quantile(0.9, 0.0)));
}

TEST(Statistics, BinomialBoundsEqualThoseOfScipy) {
    // scipy.stats.binomtest(hits, trials).proportion_ci(0.95, "exact")
    EXPECT_NEAR(binomial_bounds(14, 18, 0.95).low, 0.5236272342636347, 1e-9);
    EXPECT_NEAR(binomial_bounds(14, 18, 0.95).high, 0.9359079522820022, 1e-9);
    EXPECT_NEAR(binomial_bounds(90, 100, 0.95).low, 0.8237774022598247, 1e-9);
    EXPECT_NEAR(binomial_bounds(90, 100, 0.95).high, 0.9509953107785141, 1e-9);
    EXPECT_NEAR(binomial_bounds(180000, 200000, 0.95).low, 0.8986769134335558, 1e-8);
    EXPECT_NEAR(binomial_bounds(180000, 200000, 0.95).high, 0.9013114802394409, 1e-8);
}

TEST(Statistics, BinomialBoundsOfNoneAndOfAllReachTheEnds) {
    // None of ten: (1 - p)^10 = 0.025.
    EXPECT_EQ(binomial_bounds(0, 10, 0.95).low, 0.0);
    EXPECT_NEAR(binomial_bounds(0, 10, 0.95).high, 1 - std::pow(0.025, 0.1), 1e-12);
    EXPECT_NEAR(binomial_bounds(10, 10, 0.95).low, std::pow(0.025, 0.1), 1e-12);
    EXPECT_EQ(binomial_bounds(10, 10, 0.95).high, 1.0);
    EXPECT_TRUE(std::isnan(binomial_bounds(0, 0, 0.95).low));
    EXPECT_TRUE(std::isnan(binomial_bounds(3, 2, 0.95).high));
    EXPECT_TRUE(std::isnan(binomial_bounds(1, 2, 1.0).high));
}

}  // namespace
}  // namespace joulecast
