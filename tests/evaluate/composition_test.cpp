#include "joulecast/evaluate/composition.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace joulecast {
namespace {

/// `calls` times a call that only issues and one that only computes, measured as long as their timelines take, times a
/// factor.
CompositionSample alternating(const std::string& model, int calls, double host_s, double device_s, double factor) {
    CompositionSample sample;
    sample.device = sample.pool = "gpu";
    sample.left_out = sample.network.model = model;
    sample.precision = "fp32";
    sample.network.key = "inference|fp32";
    NetworkParts& parts = sample.forecast.parts;
    for (int i = 0; i < calls; ++i) {
        parts.steps.push_back({host_s, device_s, 0, true});
        parts.host_s += host_s;
        parts.device_s += device_s;
    }
    parts.dynamic_j = std::nan("");
    sample.forecast.sum_s = sample.forecast.calls_s = parts.host_s + parts.device_s;
    sample.network.measured_s = factor * (parts.host_s + parts.device_s);
    return sample;
}

const CompositionAccuracy& row_of(const std::vector<CompositionAccuracy>& rows, ComposedBy composition) {
    for (const CompositionAccuracy& row : rows) {
        if (row.composition == composition) return row;
    }
    throw std::runtime_error("no such row");
}

TEST(CompareCompositions, TellsTheWayThatTheNetworksWereMadeBy) {
    // Every call synchronises, so issuing and computing add up; (h^8 + d^8)^(1/8) of equal sums is 0.545 of that, of
    // unequal ones more, and no two factors make up for both.
    std::vector<CompositionSample> samples;
    for (int i = 1; i <= 5; ++i) samples.push_back(alternating("n" + std::to_string(i), i, 1, 0.3 * i, 1));
    const auto rows = compare_compositions(samples);
    ASSERT_EQ(rows.size(), 4U) << "nothing was composed from measured operations";
    EXPECT_NEAR(row_of(rows, ComposedBy::timeline).time_mape, 0, 1e-6);
    EXPECT_NEAR(row_of(rows, ComposedBy::sum).time_mape, 0, 1e-12);
    EXPECT_NEAR(row_of(rows, ComposedBy::scaled_sum).time_mape, 0, 1e-6);
    EXPECT_GT(row_of(rows, ComposedBy::aggregate).time_mape, 0.01);
    EXPECT_EQ(row_of(rows, ComposedBy::timeline).networks, 5);
}

TEST(CompareCompositions, FitsNothingToTheNetworkThatItTells) {
    // Ten networks take twice their sum and one, "odd", takes it once.
    std::vector<CompositionSample> samples;
    for (int i = 1; i <= 10; ++i) samples.push_back(alternating("n" + std::to_string(i), i, 0, 1, 2));
    samples.push_back(alternating("odd", 3, 0, 1, 1));
    const double of_odd = row_of(compare_compositions(samples), ComposedBy::scaled_sum).time_mape;
    // Without it, ten say 2 and a ninth of one says 1: 1.985 for the odd one, so it is 98 % off; of the ten each is
    // told by nine and the odd one: 2^(9 / (10 + 1/9)) = 1.853, 7 % off.
    EXPECT_NEAR(of_odd, (0.985 + 10 * 0.0734) / 11, 0.001);
}

TEST(CompareCompositions, KeepsPoolsApartAndCountsBags) {
    std::vector<CompositionSample> samples{alternating("a", 1, 0, 1, 2), alternating("b", 1, 0, 1, 2)};
    samples.push_back(alternating("c", 1, 0, 1, 1));
    samples.back().device = samples.back().pool = "another";
    samples.back().forecast.parts.steps.clear();
    const auto rows = compare_compositions(samples);
    ASSERT_EQ(rows.size(), 8U);
    EXPECT_EQ(rows.front().device, "another");
    EXPECT_EQ(rows.front().without_order, 1);
    EXPECT_NEAR(rows.front().time_mape, 0, 1e-12) << "nothing is fitted to the other device's";
    EXPECT_EQ(rows.back().without_order, 0);
}

TEST(CompareCompositions, TellsMeasuredOperationsApart) {
    std::vector<CompositionSample> samples{alternating("a", 1, 0, 1, 1), alternating("b", 1, 0, 1, 1)};
    samples[0].measured = samples[0].forecast;
    samples[0].measured->sum_s *= 1.5;
    const auto rows = compare_compositions(samples);
    ASSERT_EQ(rows.size(), 8U);
    EXPECT_TRUE(rows.front().measured_operations);
    EXPECT_EQ(rows.front().networks, 1);
    EXPECT_NEAR(row_of(rows, ComposedBy::sum).time_mape, 0.5, 1e-12);
    EXPECT_NEAR(row_of(rows, ComposedBy::sum).time_bias, 0.5, 1e-12);
    EXPECT_EQ(rows.back().networks, 2);
}

}  // namespace
}  // namespace joulecast
