#include "joulecast/physics/limit_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace joulecast {
namespace {

/// Numbers made up.
LimitParameters parameters_of(double working_w) {
    LimitParameters parameters;
    parameters.clocks.highest_mhz = 1000;
    parameters.clocks.lowest_mhz = 200;
    parameters.clocks.still_w = 30;
    parameters.clocks.clocked_w = 8;
    parameters.duty = {working_w, 70, 1.0, 1};
    parameters.compute_share = 0.8;
    return parameters;
}

constexpr LimitedPoint half_idle{250, 100, 140};

TEST(LimitCurve, TheKnownLimitGivesWhatIsKnown) {
    for (const double overlap : {1.0, 3.0}) {
        for (const double working_w : {0.0, 210.0, 400.0}) {
            LimitParameters parameters = parameters_of(working_w);
            parameters.duty.overlap = overlap;
            const LimitedPoint at = LimitCurve(parameters, {}, 0, half_idle).at(250);
            EXPECT_NEAR(at.time_s, 100, 1e-6) << overlap << " " << working_w;
            EXPECT_NEAR(at.power_w, 140, 1e-4) << overlap << " " << working_w;
        }
    }
}

TEST(LimitCurve, ALimitAboveTheMeanHoldsTheWorkingPhase) {
    const LimitCurve curve(parameters_of(210), {}, 0, half_idle);
    EXPECT_NEAR(curve.working_share(), 0.5, 1e-9);  // (140 - 70) / (210 - 70)
    const LimitedPoint at = curve.at(160);
    EXPECT_GT(at.time_s, 101);
    EXPECT_LT(at.power_w, 125);
    // Half of the time it waits at 70 W, whatever the limit: the rest draws the limit.
    const double works = at.time_s - 50;
    EXPECT_NEAR(at.power_w, (works * 160 + 50 * 70) / at.time_s, 1e-3);
}

TEST(LimitCurve, AProgramThatNeverWaitsIsItsClockCurve) {
    const LimitParameters parameters = parameters_of(0);
    const LimitCurve curve(parameters, {}, 0, half_idle);
    EXPECT_EQ(curve.working_share(), 1);
    EXPECT_EQ(curve.at(141).time_s, 100);
    const WorkloadCurve clocks(parameters.clocks, {of_compute_share(0.8)}, 0, {1, 1, 100, 140});
    const double x = clocks.within_limit(1, 110);
    EXPECT_DOUBLE_EQ(curve.at(110).working_x, x);
    EXPECT_NEAR(curve.at(110).time_s, clocks.time_s(x), 1e-6);
    EXPECT_NEAR(curve.at(110).power_w, 110, 1e-3);
}

TEST(LimitCurve, WhatGoesOnMeanwhileHidesTheSlowerDevice) {
    LimitParameters parameters = parameters_of(210);
    const double one_after_the_other = LimitCurve(parameters, {}, 0, half_idle).at(150).time_s;
    parameters.duty.overlap = 6;
    const LimitedPoint hidden = LimitCurve(parameters, {}, 0, half_idle).at(150);
    EXPECT_LT(hidden.time_s, 0.5 * (one_after_the_other + 100));
    EXPECT_LT(hidden.power_w, 140);
}

TEST(LimitCurve, AProgramThatOnlyWaitsFeelsNoLimit) {
    const LimitCurve curve(parameters_of(210), {}, 0, {250, 100, 35});
    EXPECT_EQ(curve.working_share(), 0);
    EXPECT_DOUBLE_EQ(curve.at(100).time_s, 100);
    EXPECT_DOUBLE_EQ(curve.at(100).power_w, 35);
}

TEST(LimitCurve, AtItsLowestClockTheDeviceStopsAndGoes) {
    const LimitCurve curve(parameters_of(0), {}, 0, half_idle);
    const LimitedPoint at = curve.at(20);
    EXPECT_DOUBLE_EQ(at.working_x, 0.2);
    EXPECT_NEAR(at.power_w, 20, 1e-9);
    // The energy of the lowest clock, over a longer time.
    const WorkloadCurve clocks(parameters_of(0).clocks, {of_compute_share(0.8)}, 0, {1, 1, 100, 140});
    EXPECT_NEAR(at.time_s * at.power_w, clocks.energy_j(0.2), 1e-6 * clocks.energy_j(0.2));
}

TEST(LimitCurve, DefaultsAreSharesOfTdp) {
    Device device;
    device.tdp_w = 300;
    ClockParameters clocks;
    clocks.knee = 0.6;
    const LimitParameters parameters = default_limit_parameters(clocks, device);
    EXPECT_DOUBLE_EQ(parameters.duty.working_w, 255);
    EXPECT_DOUBLE_EQ(parameters.duty.waiting_w, 84);
    EXPECT_EQ(parameters.clocks.knee, 0.6);
}

}  // namespace
}  // namespace joulecast
