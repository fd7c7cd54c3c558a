#include "joulecast/physics/clock_residual.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "joulecast/physics/clock_curve.h"

namespace joulecast {
namespace {

TEST(ClockResidual, OneWorkloadTellsAQuarterAndManyNearlyAll) {
    const std::vector<ClockResidual> one = {{0.5, 1, 0.2, 1, -0.1, 1}};
    EXPECT_NEAR(miss_at(one, 0.5, 1).bytes, 0.05, 1e-12);
    EXPECT_NEAR(miss_at(one, 0.5, 1).power, -0.025, 1e-12);
    const std::vector<ClockResidual> many = {{0.5, 1, 0.2 * 97, 97, 0, 97}};
    EXPECT_NEAR(miss_at(many, 0.5, 1).bytes, 0.2 * 0.97, 1e-12);
}

TEST(ClockResidual, TellsNothingFarFromWhatWasMeasured) {
    const std::vector<ClockResidual> residuals = {{0.5, 1, 20, 100, 20, 100}};
    EXPECT_NEAR(miss_at(residuals, 1, 1).bytes, 0, 1e-12);
    EXPECT_NEAR(miss_at(residuals, 0.5, 0.5).power, 0, 1e-12);
    EXPECT_EQ(miss_at({}, 0.5, 1).bytes, 0);
    // Half way between two places both tell.
    const std::vector<ClockResidual> two = {{0.50, 1, 20, 100, 0, 100}, {0.52, 1, 10, 100, 0, 100}};
    EXPECT_NEAR(miss_at(two, 0.51, 1).bytes, 0.15, 5e-3);
}

TEST(ClockResidual, MovesBytesAndPowerOfACurve) {
    ClockParameters parameters;
    parameters.highest_mhz = 1000;
    parameters.lowest_mhz = 300;
    parameters.still_w = 30;
    const auto curve = [&](double share, ClockedPoint known) {
        return WorkloadCurve(parameters, {of_compute_share(share)}, 0, known);
    };
    const WorkloadCurve plain_bytes = curve(0, {1, 1, 2, 150});
    const WorkloadCurve plain_compute = curve(1, {1, 1, 2, 150});
    parameters.residuals = {{0.6, 1, 0.1 * 1e6, 1e6, 0.2 * 1e6, 1e6}, {1, 1, 0, 1e6, 0, 1e6}};
    const WorkloadCurve bytes = curve(0, {1, 1, 2, 150});
    const WorkloadCurve compute = curve(1, {1, 1, 2, 150});
    EXPECT_DOUBLE_EQ(bytes.time_s(1), 2);
    EXPECT_DOUBLE_EQ(bytes.power_w(1), 150);
    EXPECT_NEAR(bytes.time_s(0.6) / plain_bytes.time_s(0.6), std::exp(0.1), 1e-4);
    EXPECT_NEAR(bytes.device_ratio(0.6) / plain_bytes.device_ratio(0.6), std::exp(0.1), 1e-4);
    EXPECT_DOUBLE_EQ(compute.time_s(0.6), plain_compute.time_s(0.6)) << "arithmetic follows its clock";
    EXPECT_NEAR(compute.power_w(0.6) / plain_compute.power_w(0.6), std::exp(0.2), 1e-4);
    // From a point that was missed itself, the others are told relative to it.
    const WorkloadCurve from_low = curve(0, {0.6, 1, bytes.time_s(0.6), bytes.power_w(0.6)});
    EXPECT_NEAR(from_low.time_s(1), 2, 1e-9);
}

}  // namespace
}  // namespace joulecast
