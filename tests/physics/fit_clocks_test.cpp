#include "joulecast/physics/fit_clocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "joulecast/error.h"

namespace joulecast {
namespace {

ClockParameters start_parameters() {
    ClockParameters parameters;
    parameters.highest_mhz = 1000;
    parameters.lowest_mhz = 200;
    parameters.memory_mhz = 2000;
    parameters.still_w = 30;
    parameters.clocked_w = 8;
    parameters.bandwidth_knee = 0.5;
    return parameters;
}

/// Measured without error on a device of these parameters.
SweptWorkload sweep(const ClockParameters& device, double share, const std::vector<double>& memory_clocks = {1}) {
    const WorkloadCurve curve(device, {of_compute_share(share)}, 0, {1, 1, 5, 180});
    SweptWorkload workload;
    for (const double y : memory_clocks) {
        for (const double x : {0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0})
            workload.points.push_back({x, y, curve.time_s(x, y), curve.power_w(x, y)});
    }
    return workload;
}

TEST(FitClocks, FindsTheKneeOfTheDevice) {
    ClockParameters device = start_parameters();
    device.knee = 0.60;
    device.slope = 1.1;
    const ClockParameters fitted =
        fit_clock_parameters(start_parameters(), std::vector{sweep(device, 0.9), sweep(device, 0.2)});
    EXPECT_NEAR(fitted.knee, 0.60, 0.02);
    EXPECT_NEAR(fitted.slope, 1.1, 0.1);
    EXPECT_EQ(fitted.workloads, 2);
    for (const double x : {0.5, 0.7, 0.85})
        EXPECT_NEAR(relative_voltage(fitted, x) / relative_voltage(fitted, 1),
                    relative_voltage(device, x) / relative_voltage(device, 1), 0.01);
}

TEST(FitClocks, TellsWhetherTheVoltageRisesAlongALine) {
    for (const double bend : {1.0, 1.5}) {
        ClockParameters device = start_parameters();
        device.knee = 0.66;
        device.slope = 0.9;
        device.bend = bend;
        device.steady_share = 0.07;
        const ClockParameters fitted =
            fit_clocks_and_form(start_parameters(), std::vector{sweep(device, 0.9), sweep(device, 0.2)});
        EXPECT_EQ(fitted.bend, bend);
        EXPECT_EQ(fitted.steady_share, 0.07);
        EXPECT_NEAR(fitted.knee, 0.66, 0.01);
    }
    // Two points tell nothing of it.
    ClockParameters device = start_parameters();
    device.bend = 1;
    SweptWorkload short_sweep = sweep(device, 0.9);
    short_sweep.points = {short_sweep.points.front(), short_sweep.points.back()};
    EXPECT_EQ(fit_clocks_and_form(start_parameters(), std::vector{short_sweep}).bend, 1.5);
}

TEST(FitClocks, TakesTheStaticPowerTowardsWhatIsDrawn) {
    ClockParameters device = start_parameters();
    device.still_w = 20;
    device.clocked_w = 5;
    std::vector<SweptWorkload> workloads;
    for (const double share : {0.1, 0.3, 0.5, 0.7, 0.9}) workloads.push_back(sweep(device, share));
    const ClockParameters fitted = fit_clock_parameters(start_parameters(), workloads);
    EXPECT_LT(static_w(fitted, 0.6), static_w(start_parameters(), 0.6));
    EXPECT_GT(static_w(fitted, 0.6), 0.8 * static_w(device, 0.6));
}

TEST(FitClocks, FindsTheClockBelowWhichBytesSlowDown) {
    ClockParameters device = start_parameters();
    device.bandwidth_knee = 0.8;
    const ClockParameters fitted =
        fit_clock_parameters(start_parameters(), std::vector{sweep(device, 0.05), sweep(device, 0.9)});
    EXPECT_NEAR(fitted.bandwidth_knee, 0.8, 0.051);
}

TEST(FitClocks, FindsWhatTheMemorysClockDraws) {
    ClockParameters device = start_parameters();
    device.memory_w = 15;
    const std::vector<double> clocks{0.5, 1};
    const ClockParameters fitted =
        fit_clock_parameters(start_parameters(), std::vector{sweep(device, 0.9, clocks), sweep(device, 0.2, clocks)});
    EXPECT_NEAR(fitted.memory_w, 15, 3);
}

TEST(FitClocks, LeavesAMeasuredVoltageAlone) {
    ClockParameters start = start_parameters();
    start.idle = {{400, 35, 700}, {1000, 60, 840}};
    const ClockParameters fitted = fit_clock_parameters(start, std::vector{sweep(start_parameters(), 0.5)});
    EXPECT_EQ(fitted.knee, start.knee);
    EXPECT_EQ(fitted.slope, start.slope);
    EXPECT_EQ(fitted.workloads, 1);
}

TEST(FitClocks, ChangesNothingWithoutSweeps) {
    SweptWorkload one_point;
    one_point.points.push_back({1, 1, 5, 180});
    EXPECT_EQ(fit_clock_parameters(start_parameters(), std::vector{one_point}), start_parameters());
    EXPECT_EQ(fit_clock_parameters(start_parameters(), {}), start_parameters());
    EXPECT_THROW(reference_point({}), Error);
}

TEST(FitClocks, TellsTheComputeShareFromTimes) {
    const ClockParameters parameters = start_parameters();
    EXPECT_NEAR(fitted_compute_share(parameters, sweep(parameters, 0.35).points), 0.35, 1e-9);  // a step of the grid
    EXPECT_NEAR(fitted_compute_share(parameters, sweep(parameters, 1).points), 1, 1e-9);
}

TEST(FitClocks, AWorkloadOfUnknownKernelsHasTheOneThatItsTimesTell) {
    const ClockParameters parameters = start_parameters();
    SweptWorkload unknown = sweep(parameters, 0.35);
    unknown.host = 0.7;  // in the units of kernels that nobody knows
    SweptWorkload known = sweep(parameters, 0.9);
    known.kernels = {of_compute_share(0.2)};
    known.host = 0.5;
    SweptWorkload one_point;
    one_point.points.push_back({1, 1, 5, 180});
    const auto all = with_fitted_kernels(parameters, std::vector{unknown, known, one_point});
    ASSERT_EQ(all.size(), 3U);
    ASSERT_EQ(all[0].kernels.size(), 1U);
    EXPECT_NEAR(all[0].kernels[0].compute, of_compute_share(0.35).compute, 1e-9);
    EXPECT_EQ(all[0].host, 0);
    EXPECT_EQ(all[1].kernels[0].compute, of_compute_share(0.2).compute);
    EXPECT_EQ(all[1].host, 0.5);
    EXPECT_TRUE(all[2].kernels.empty());
}

TEST(FitClocks, TakesTheHighestCoreClockAtTheHighestMemoryClockAsReference) {
    const std::vector<ClockedPoint> points{{1, 0.5, 1, 1}, {0.8, 1, 2, 1}, {0.9, 1, 3, 1}};
    EXPECT_EQ(reference_point(points).time_s, 3);
}

}  // namespace
}  // namespace joulecast
