#include "joulecast/train/calibrate_ratios.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

TEST(RatioSpread, IsNothingAtTheSameClockAndGrowsToTheWhole) {
    for (const auto& share : {ratio_share_of_time, ratio_share_of_power}) {
        EXPECT_EQ(share(0), 0);
        double before = 0;
        for (const double distance : {0.01, 0.1, 0.3, 0.8}) {
            EXPECT_GT(share(distance), before) << distance;
            before = share(distance);
        }
        EXPECT_NEAR(share(5), 1, 1e-6);
    }
    // Of time errors of neighbouring clocks are nearly the same: 1 - exp(-(0.05 / 0.5)^2) = 0.00995 of the variance.
    EXPECT_NEAR(ratio_share_of_time(0.05), std::sqrt(0.00995), 1e-4);
    // A knee of the voltage lies between two near clocks, too: 1 - exp(-0.05 / 0.25) = 0.1813.
    EXPECT_NEAR(ratio_share_of_power(0.05), std::sqrt(0.1813), 1e-4);
}

/// At one distance, errors of 0.01 to 0.19 of the time, with either sign, and twice these of power.
std::vector<RatioError> nineteen_errors(double distance) {
    std::vector<RatioError> errors;
    for (int i = 1; i <= 19; ++i) {
        const double error = (i % 2 == 0 ? 0.01 : -0.01) * i;
        errors.push_back({distance, error, 2 * error, std::nan("")});
    }
    return errors;
}

TEST(CalibrateRatios, NineTenthsOfTheErrorsLieInsideTheirIntervals) {
    const RatioSpread spread = ratio_spread_of(nineteen_errors(0.3));
    // Of 19 the (19 + 1) 0.9 = 18th is what nine tenths stay below.
    EXPECT_NEAR(spread.time * ratio_share_of_time(0.3) * normal_90, 0.18, 0.0015);
    EXPECT_NEAR(spread.power * ratio_share_of_power(0.3) * normal_90, 0.36, 0.003);
    EXPECT_EQ(spread.energy, 0);  // none is known
}

TEST(CalibrateRatios, TheSameErrorsAtANearerClockAreALargerSpread) {
    EXPECT_GT(ratio_spread_of(nineteen_errors(0.1)).time, 2 * ratio_spread_of(nineteen_errors(0.3)).time);
    EXPECT_EQ(ratio_spread_of({}), (RatioSpread{0, 0, 0}));
    // The same clock tells nothing.
    EXPECT_EQ(ratio_spread_of(nineteen_errors(0)), (RatioSpread{0, 0, 0}));
}

TEST(CalibrateRatios, LeaveAModelOfOneClockAlone) {
    DeviceModel device;
    calibrate_ratios(device, {}, {}, {});
    EXPECT_FALSE(device.over_clocks);
}

}  // namespace
}  // namespace joulecast
