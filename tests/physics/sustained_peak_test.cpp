#include "joulecast/physics/sustained_peak.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

Device card(double tflop, double watts, double nm) {
    Device device;
    device.peak_flop_per_s_fp32 = tflop * 1e12;
    device.vector_flop_per_s_fp32 = tflop * 1e12;
    device.tdp_w = watts;
    device.process_nm = nm;
    return device;
}

TEST(SustainedPeak, IsWhatThePowerLimitPaysFor) {
    EXPECT_EQ(sustained_share(card(10, 250, 16), {16}), 1);
    EXPECT_NEAR(sustained_share(card(8, 64, 12), {16}), 0.5, 1e-12);  // 64 W of 8 * 16 W
    EXPECT_NEAR(sustained(card(8, 64, 12), {16}).peak_flop_per_s_fp32, 4e12, 1);
}

TEST(SustainedPeak, LowerVoltagePaysForMoreOnSmallNodes) {
    // s (0.5 + 0.5 s)^2 = 0.5 * 0.75^2 = 0.28125 at s = 0.5; the card affords that share of 100 * 10 * 0.65 W.
    EXPECT_NEAR(sustained_share(card(100, 0.28125 * 650, 4), {10}), 0.5, 1e-9);
}

TEST(SustainedPeak, HalfOfWideUnitsShareTheirIssue) {
    Device wide = card(30, 1000, 8);
    wide.fp32_lanes_per_unit = 128;
    wide.release_year = 2020;
    EXPECT_EQ(sustained_share(wide, {16}), 0.85);
    wide.release_year = 2016;
    EXPECT_EQ(sustained_share(wide, {16}), 1);
}

TEST(SustainedPeak, IsThePeakWithoutARuleOrALimit) {
    EXPECT_EQ(sustained_share(card(8, 64, 12), {}), 1);
    EXPECT_EQ(sustained_share(card(8, Device::unknown, 12), {16}), 1);
}

}  // namespace
}  // namespace joulecast
