#include "joulecast/physics/clock_residual.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "joulecast/physics/clock_curve.h"

namespace joulecast {
namespace {

TEST(ClockResidual, OneWorkloadTellsAQuarterAndManyNearlyAll) {
    const std::vector<ClockResidual> one = {{0.5, 1, 0.2, -0.1, 1}};
    EXPECT_NEAR(miss_at(one, 0.5, 1).time, 0.05, 1e-12);
    EXPECT_NEAR(miss_at(one, 0.5, 1).power, -0.025, 1e-12);
    const std::vector<ClockResidual> many = {{0.5, 1, 0.2 * 97, 0, 97}};
    EXPECT_NEAR(miss_at(many, 0.5, 1).time, 0.2 * 0.97, 1e-12);
}

TEST(ClockResidual, TellsNothingFarFromWhatWasMeasured) {
    const std::vector<ClockResidual> residuals = {{0.5, 1, 20, 20, 100}};
    EXPECT_NEAR(miss_at(residuals, 1, 1).time, 0, 1e-12);
    EXPECT_NEAR(miss_at(residuals, 0.5, 0.5).power, 0, 1e-12);
    EXPECT_EQ(miss_at({}, 0.5, 1).time, 0);
    // Half way between two places both tell.
    const std::vector<ClockResidual> two = {{0.50, 1, 20, 0, 100}, {0.52, 1, 10, 0, 100}};
    EXPECT_NEAR(miss_at(two, 0.51, 1).time, 0.15, 5e-3);
}

TEST(ClockResidual, MovesACurveAgainstItsKnownPoint) {
    ClockParameters parameters;
    parameters.highest_mhz = 1000;
    parameters.lowest_mhz = 300;
    parameters.still_w = 30;
    const WorkloadCurve plain(parameters, {of_compute_share(0.5)}, 0, {1, 1, 2, 150});
    parameters.residuals = {{0.6, 1, 0.1 * 1e6, 0.2 * 1e6, 1e6}, {1, 1, 0, 0, 1e6}};
    const WorkloadCurve mended(parameters, {of_compute_share(0.5)}, 0, {1, 1, 2, 150});
    EXPECT_DOUBLE_EQ(mended.time_s(1), 2);
    EXPECT_DOUBLE_EQ(mended.power_w(1), 150);
    EXPECT_NEAR(mended.time_s(0.6) / plain.time_s(0.6), std::exp(0.1), 1e-4);
    EXPECT_NEAR(mended.device_ratio(0.6) / plain.device_ratio(0.6), std::exp(0.1), 1e-4);
    // The work is done at a slower rate, so that it draws less before the residual raises it.
    EXPECT_LT(mended.power_w(0.6) / plain.power_w(0.6), std::exp(0.2));
    EXPECT_GT(mended.power_w(0.6), plain.power_w(0.6));
    // From a point that was missed itself, the others are told relative to it.
    const WorkloadCurve from_low(parameters, {of_compute_share(0.5)}, 0,
                                 {0.6, 1, mended.time_s(0.6), mended.power_w(0.6)});
    EXPECT_NEAR(from_low.time_s(1), 2, 1e-9);
    EXPECT_NEAR(from_low.power_w(1), 150, 4);  // what is drawn for time is a share of the known point
}

}  // namespace
}  // namespace joulecast
