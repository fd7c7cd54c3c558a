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

/// Of compute shares 0, 0.1, ... On this card bytes take longer at low clocks than the forms tell, and power is higher:
/// by so much in the logarithm for each e of distance.
std::vector<SweptWorkload> missed(std::size_t count, double bytes, double power) {
    std::vector<SweptWorkload> workloads;
    for (std::size_t i = 0; i < count; ++i) {
        const double share = 0.1 * static_cast<double>(i % 10);
        SweptWorkload& workload = workloads.emplace_back(sweep(start_parameters(), share));
        const double first = workload.points.back().time_s;
        for (ClockedPoint& point : workload.points) {
            const double distance = std::log(1 / point.x);
            KernelTime slowed = of_compute_share(share);
            slowed.memory *= std::exp(bytes * distance);
            point.time_s = first * kernel_time(slowed, start_parameters(), point.x) /
                           kernel_time(of_compute_share(share), start_parameters(), 1);
            point.power_w *= std::exp(power * distance);
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
    for (const SweptWorkload& unseen : missed(10, 0.2, 0.1)) {
        const WorkloadCurve curve = curve_of(parameters, unseen);
        for (const ClockedPoint& point : unseen.points) {
            EXPECT_NEAR(curve.time_s(point.x) / point.time_s, 1, 0.03) << point.x;
            EXPECT_NEAR(curve.power_w(point.x) / point.power_w, 1, 0.06) << point.x;
        }
    }
    const ClockSpread after = spread_of(parameters, workloads, {});
    EXPECT_LT(after.time, 0.3 * before.time);
    EXPECT_LT(after.energy, 0.5 * before.energy);
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
    ClockParameters parameters = start_parameters();
    parameters.residuals = fit_residuals(parameters, workloads);
    for (const ClockResidual& one : parameters.residuals) {
        EXPECT_EQ(one.workloads, 20);
        // A thousandfold counts as twofold, and as one of twenty.
        EXPECT_LT(miss_at(parameters.residuals, one.x, one.y).bytes, 0.15);
        EXPECT_GT(miss_at(parameters.residuals, one.x, one.y).bytes, 0);
    }
}

}  // namespace
}  // namespace joulecast
