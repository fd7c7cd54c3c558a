#include "joulecast/physics/fit_limits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "joulecast/error.h"

namespace joulecast {
namespace {

/// Numbers made up.
LimitParameters start_parameters() {
    LimitParameters parameters;
    parameters.clocks.highest_mhz = 1000;
    parameters.clocks.lowest_mhz = 200;
    parameters.clocks.memory_mhz = 2000;
    parameters.clocks.still_w = 30;
    parameters.clocks.clocked_w = 8;
    parameters.duty = {210, 70, 0.99, 1.5};
    return parameters;
}

/// Measured without error on a device of these parameters.
SweptLimits sweep(const LimitParameters& device, const std::string& group, double power_w) {
    const LimitCurve curve(device, {}, 0, {250, 60, power_w});
    SweptLimits workload;
    workload.group = group;
    for (const double limit_w : {125.0, 150.0, 175.0, 200.0, 225.0, 250.0})
        workload.points.push_back(curve.at(limit_w));
    return workload;
}

std::vector<SweptLimits> sweeps(const LimitParameters& device) {
    return {sweep(device, "a", 100), sweep(device, "b", 140), sweep(device, "b", 170), sweep(device, "c", 220)};
}

double worst_error(const LimitParameters& parameters, const std::vector<SweptLimits>& workloads) {
    double worst = 0;
    for (const SweptLimits& workload : workloads) {
        const LimitCurve curve = curve_of(parameters, workload);
        for (const LimitedPoint& point : workload.points) {
            const LimitedPoint at = curve.at(point.limit_w);
            worst = std::max({worst, std::abs(at.time_s / point.time_s - 1), std::abs(at.power_w / point.power_w - 1)});
        }
    }
    return worst;
}

TEST(FitLimits, FindsHowTheDeviceWorksAndWaits) {
    LimitParameters device = start_parameters();
    device.duty.working_w = 240;
    device.duty.waiting_w = 55;
    device.duty.overlap = 2.5;
    device.clocks.slope = 1.0;
    const auto measured = sweeps(device);
    const LimitParameters fitted = fit_limit_parameters(start_parameters(), measured);
    EXPECT_GT(worst_error(start_parameters(), measured), 0.08);
    EXPECT_LT(worst_error(fitted, measured), 0.03);
    EXPECT_GT(fitted.duty.working_w, 220);
    EXPECT_LT(fitted.duty.waiting_w, 65);
}

TEST(FitLimits, SpreadComesFromGroupsLeftOut) {
    const LimitParameters start = start_parameters();
    auto workloads = sweeps(start);
    const ClockSpread exact = fit_limit_parameters(start, workloads).spread;
    EXPECT_LT(exact.time, 0.02);
    EXPECT_LT(exact.power, 0.02);
    // One group that nothing of the others foretells.
    for (LimitedPoint& point : workloads[3].points) point.time_s *= point.limit_w < 250 ? 1.3 : 1;
    const ClockSpread wide = fit_limit_parameters(start, workloads).spread;
    EXPECT_GT(wide.time, 5 * exact.time);
    EXPECT_GT(wide.time, 0.1);
}

TEST(FitLimits, OneGroupKeepsTheSpreadOfTheStart) {
    const LimitParameters start = start_parameters();
    const LimitParameters fitted =
        fit_limit_parameters(start, std::vector{sweep(start, "a", 140), sweep(start, "a", 180)});
    EXPECT_EQ(fitted.spread, start.spread);
}

TEST(FitLimits, NothingSweptChangesNothing) {
    const LimitParameters start = start_parameters();
    EXPECT_EQ(fit_limit_parameters(start, {}), start);
    SweptLimits single;
    single.points = {{250, 1, 100}};
    EXPECT_EQ(fit_limit_parameters(start, std::vector{single}), start);
    EXPECT_THROW(highest_limit({}), Error);
}

TEST(FitLimits, WhatNeverWaitsIsHeldByItsMean) {
    SweptLimits workload = sweep(start_parameters(), "own", 140);
    EXPECT_GT(curve_of(start_parameters(), workload).at(150).time_s, 61);
    workload.never_waits = true;
    EXPECT_DOUBLE_EQ(curve_of(start_parameters(), workload).at(150).time_s, 60);
}

}  // namespace
}  // namespace joulecast
