#include "joulecast/physics/curve_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace joulecast {
namespace {

ClockParameters start_parameters() {
    ClockParameters parameters;
    parameters.highest_mhz = 1000;
    parameters.lowest_mhz = 200;
    parameters.memory_mhz = 2000;
    parameters.still_w = 30;
    parameters.clocked_w = 8;
    return parameters;
}

/// Measured without error on a device of these parameters; its kernel is known.
SweptWorkload sweep(const ClockParameters& device, double share) {
    const WorkloadCurve curve(device, {of_compute_share(share)}, 0, {1, 1, 5, 180});
    SweptWorkload workload;
    workload.kernels = {of_compute_share(share)};
    for (const double x : {0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0})
        workload.points.push_back({x, 1, curve.time_s(x), curve.power_w(x)});
    return workload;
}

/// All do worse at low clocks than the forms tell, by so much for each e of distance.
std::vector<SweptWorkload> missed(std::size_t count, double time, double power) {
    std::vector<SweptWorkload> workloads;
    for (std::size_t i = 0; i < count; ++i) {
        SweptWorkload& workload = workloads.emplace_back(sweep(start_parameters(), 0.1 * static_cast<double>(i % 10)));
        for (ClockedPoint& point : workload.points) {
            point.time_s *= std::exp(time * std::log(1 / point.x));
            point.power_w *= std::exp(power * std::log(1 / point.x));
        }
    }
    return workloads;
}

TEST(CurveErrors, SpreadsHoldNineTenths) {
    // At every other clock the time is off by 10 % for each e of distance.
    const auto workloads = missed(1, 0.1, 0);
    const ClockSpread spread = spread_of(start_parameters(), workloads, {9, 9, 9});
    EXPECT_NEAR(spread.time, 0.1 / 1.645, 1e-6);
    EXPECT_EQ(spread_of(start_parameters(), {}, {9, 8, 7}), (ClockSpread{9, 8, 7}));
}

TEST(CurveErrors, WhatAllWorkloadsMissIsTold) {
    ClockParameters parameters = start_parameters();
    const auto workloads = missed(40, 0.2, 0.1);
    const ClockSpread before = spread_of(parameters, workloads, {});
    parameters.residuals = fit_residuals(parameters, workloads);
    ASSERT_EQ(parameters.residuals.size(), 6U) << "one for each place but the reference's";
    const SweptWorkload unseen = missed(6, 0.2, 0.1).back();
    const WorkloadCurve curve = curve_of(parameters, unseen);
    for (const ClockedPoint& point : unseen.points) {
        EXPECT_NEAR(curve.time_s(point.x) / point.time_s, 1, 0.02) << point.x;
        EXPECT_NEAR(curve.power_w(point.x) / point.power_w, 1, 0.03) << point.x;
    }
    const ClockSpread after = spread_of(parameters, workloads, {});
    EXPECT_LT(after.time, 0.3 * before.time);
    EXPECT_LT(after.energy, 0.3 * before.energy);
}

TEST(CurveErrors, AWorkloadDoesNotVouchForItself) {
    ClockParameters parameters = start_parameters();
    const auto two = missed(2, 0.2, 0.1);
    // Of two the other one's counts, a quarter of it; without it nothing is told.
    parameters.residuals = fit_residuals(parameters, two);
    const double alone = spread_of(start_parameters(), two, {}).time;
    EXPECT_NEAR(spread_of(parameters, two, {}).time / alone, 0.75, 0.03);
    const auto one = missed(1, 0.2, 0.1);
    parameters.residuals = fit_residuals(start_parameters(), one);
    EXPECT_NEAR(spread_of(parameters, one, {}).time / alone, 1, 1e-9);
}

TEST(CurveErrors, AnOddWorkloadBendsTheOthersLittle) {
    auto workloads = missed(20, 0, 0);
    for (ClockedPoint& point : workloads[3].points)
        if (point.x < 1) point.time_s *= 1000;
    for (const ClockResidual& one : fit_residuals(start_parameters(), workloads)) {
        EXPECT_NEAR(one.time, std::log(2.0), 1e-9) << "a factor of two at most";
        EXPECT_EQ(one.workloads, 20);
    }
}

}  // namespace
}  // namespace joulecast
