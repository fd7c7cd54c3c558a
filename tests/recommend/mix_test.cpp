#include "joulecast/recommend/mix.h"

#include <gtest/gtest.h>

#include "tests/recommend/candidates.h"

namespace joulecast::testing {
namespace {

Candidate at(double mhz, double time_s, double energy_j, double ratio) {
    Candidate c = with_spread(run_of("d", time_s, energy_j), 0.1, 0.2);
    c.asked.sm_clock_mhz = c.real.sm_clock_mhz = mhz;
    c.over_default = {{Ratio(ratio), Ratio(ratio * 0.9), Ratio(ratio * 1.1)},
                      {Ratio(1 / ratio), Ratio(1 / ratio), Ratio(1 / ratio)},
                      {}};
    return c;
}

TEST(Mix, AddsWhatSamplesOfEachNetworkTake) {
    // Three samples of the first to one of the second, which runs two at once.
    std::vector<std::vector<Candidate>> networks{{at(1000, 1, 10, 1)}, {at(1000, 4, 8, 1)}};
    networks[1][0].samples = 2;
    networks[1][0].memory.value = Bytes(5);
    networks[0][0].memory.value = Bytes(3);
    const auto mix = mixed(networks, std::vector<double>{3, 1});
    ASSERT_EQ(mix.size(), 1U);
    EXPECT_DOUBLE_EQ(mix[0].time.value.value(), 0.75 * 1 + 0.25 * 2);
    EXPECT_DOUBLE_EQ(mix[0].energy.value.value(), 0.75 * 10 + 0.25 * 4);
    EXPECT_DOUBLE_EQ(mix[0].time.high.value(), (0.75 * 1 + 0.25 * 2) * 1.1) << "errors of one device do not cancel";
    EXPECT_DOUBLE_EQ(mix[0].power.value.value(), mix[0].energy.value.value() / mix[0].time.value.value());
    EXPECT_DOUBLE_EQ(mix[0].samples, 1);
    EXPECT_DOUBLE_EQ(mix[0].memory.value.value(), 5) << "one runs after the other";
}

TEST(Mix, RatiosOverTheDefaultAreThoseOfTheSums) {
    const std::vector<std::vector<Candidate>> networks{{at(1000, 1, 10, 1), at(500, 2, 5, 2)},
                                                       {at(1000, 3, 6, 1), at(500, 3.3, 6, 1.1)}};
    const auto mix = mixed(networks, std::vector<double>{1, 1});
    ASSERT_EQ(mix.size(), 2U);
    EXPECT_DOUBLE_EQ(mix[1].over_default.time.value.value(), (2 + 3.3) / (1 + 3));
    EXPECT_DOUBLE_EQ(mix[1].over_default.time.high.value(), 1.1 * (2 + 3.3) / (1 + 3));
    EXPECT_NEAR(mix[0].over_default.energy.value.value(), 1, 1e-12);
}

TEST(Mix, LeavesOutWaysThatANetworkLacks) {
    const std::vector<std::vector<Candidate>> networks{{at(1000, 1, 1, 1), at(500, 2, 1, 2)}, {at(500, 2, 1, 2)}};
    const auto mix = mixed(networks, std::vector<double>{1, 1});
    ASSERT_EQ(mix.size(), 1U);
    EXPECT_EQ(mix[0].asked.sm_clock_mhz, 500);
}

}  // namespace
}  // namespace joulecast::testing
