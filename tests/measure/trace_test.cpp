#include "joulecast/measure/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

using ::testing::HasSubstr;

/// 10 W until 1 s, then 50 W until 3 s, then 10 W again.
double true_energy(double time_s) {
    return 10 * time_s + 40 * (std::min(std::max(time_s, 1.0), 3.0) - 1.0);
}

std::vector<MeterReading> counted(double every_s, double renewal_s, double offset_s, double end_s) {
    std::vector<MeterReading> readings;
    for (double t = 0; t < end_s; t += every_s) {
        const double renewed = offset_s + renewal_s * std::floor((t - offset_s) / renewal_s);
        readings.push_back({t, renewal_s > 0 ? true_energy(renewed) : true_energy(t), std::nan("")});
    }
    return readings;
}

std::vector<MeterReading> powers(double every_s, double end_s, double watts) {
    std::vector<MeterReading> readings;
    for (int i = 0; i * every_s <= end_s; ++i) readings.push_back({i * every_s, std::nan(""), watts});
    return readings;
}

TEST(Trace, ACounterGivesTheDifferenceAtTheEdges) {
    const auto readings = counted(0.01, 0, 0, 4);
    // 2 s at 50 W; 0.5 s at 10 W and 0.5 s at 50 W.
    EXPECT_NEAR(energy_between(readings, true, 1, 3).energy_j, 100, 0.01);
    const auto half = energy_between(readings, true, 0.5, 1.5);
    EXPECT_NEAR(half.energy_j, 30, 0.01);
    EXPECT_NEAR(half.power_w, 30, 0.01);
    EXPECT_NEAR(half.peak_power_w, 50, 0.01);
}

TEST(Trace, ACounterThatRenewsItselfSeldomIsReadBetweenItsRenewals) {
    // Power is 10 W all along: whatever the edges, energy is 10 W times the length.
    std::vector<MeterReading> readings;
    for (int i = 0; i <= 40; ++i) {
        const double t = 0.05 * i + 0.02;
        readings.push_back({t, std::floor(t / 0.1) * 1.0, std::nan("")});
    }
    EXPECT_NEAR(energy_between(readings, true, 0.33, 0.91).energy_j, 5.8, 1e-6);
    EXPECT_NEAR(energy_between(readings, true, 0.03, 0.06).energy_j, 0.3, 1e-6);
}

TEST(Trace, ACounterCountsThroughADropOut) {
    auto readings = counted(0.01, 0, 0, 4);
    std::erase_if(readings, [](const MeterReading& r) { return r.time_s > 1.2 && r.time_s < 2.8; });
    EXPECT_NEAR(energy_between(readings, true, 1, 3).energy_j, 100, 0.1);
}

TEST(Trace, ACounterThatStoppedTellsNoEnergy) {
    auto readings = counted(0.01, 0, 0, 4);
    std::erase_if(readings, [](const MeterReading& r) { return r.time_s > 1.5; });
    const auto result = energy_between(readings, true, 1, 3);
    EXPECT_TRUE(std::isnan(result.energy_j));
    EXPECT_TRUE(std::isnan(result.power_w));
    EXPECT_THAT(result.missing_reason, HasSubstr("only from"));
}

TEST(Trace, ACounterThatStandsStillTellsNothing) {
    const std::vector<MeterReading> readings = {{0, 5, std::nan("")}, {1, 5, std::nan("")}};
    EXPECT_THAT(energy_between(readings, true, 0, 1).missing_reason, HasSubstr("did not renew"));
}

TEST(Trace, PowerIsIntegratedAlongLines) {
    // Rises from 0 to 100 W in 10 s: the area from 2 to 4 s is 2 s x 30 W.
    const std::vector<MeterReading> readings = {{0, std::nan(""), 0}, {5, std::nan(""), 50}, {10, std::nan(""), 100}};
    const auto result = energy_between(readings, false, 2, 4);
    EXPECT_NEAR(result.energy_j, 60, 1e-9);
    EXPECT_NEAR(energy_between(readings, false, 0, 10).energy_j, 500, 1e-9);
    EXPECT_EQ(energy_between(readings, false, 0, 10).peak_power_w, 100);
}

TEST(Trace, TheOutermostPowerHoldsForASecond) {
    const auto readings = powers(0.1, 2, 30);
    EXPECT_NEAR(energy_between(readings, false, -0.5, 2.5).energy_j, 90, 1e-9);
    EXPECT_THAT(energy_between(readings, false, -5, 2).missing_reason, HasSubstr("only 3 s of 7 s"));
}

TEST(Trace, AShortDropOutOfPowerIsFilledByTheRestAndALongOneIsNot) {
    auto readings = powers(0.1, 40, 30);
    std::erase_if(readings, [](const MeterReading& r) { return r.time_s > 5.05 && r.time_s < 8; });
    EXPECT_NEAR(energy_between(readings, false, 0, 40).energy_j, 1200, 1e-6);
    std::erase_if(readings, [](const MeterReading& r) { return r.time_s > 5.05 && r.time_s < 12; });
    const auto result = energy_between(readings, false, 0, 40);
    EXPECT_TRUE(std::isnan(result.energy_j));
    EXPECT_THAT(result.missing_reason, HasSubstr("during only 33 s of 40 s"));
}

TEST(Trace, NoReadingIsNoEnergyAndSaysSo) {
    EXPECT_FALSE(energy_between({}, true, 0, 1).missing_reason.empty());
    const std::vector<MeterReading> empty = {{0.5, std::nan(""), std::nan("")}};
    EXPECT_FALSE(energy_between(empty, false, 0, 1).missing_reason.empty());
    EXPECT_FALSE(energy_between(powers(0.1, 1, 1), false, 1, 1).missing_reason.empty());
}

TEST(Trace, RepeatsGiveTheHalfWidthOfStudent) {
    // scipy.stats.t.interval(0.95, 2, loc=2, scale=1/sqrt(3)): 2 +- 2.484138
    const std::vector<double> values = {1, 2, 3};
    EXPECT_EQ(repeated(values).mean, 2);
    EXPECT_NEAR(repeated(values).half_width, 2.484138, 1e-6);
    EXPECT_TRUE(std::isnan(repeated(std::vector<double>{1}).half_width));
}

}  // namespace
}  // namespace joulecast
