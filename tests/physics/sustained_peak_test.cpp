#include "joulecast/physics/sustained_peak.h"

#include <gtest/gtest.h>

#include "joulecast/device/device_table.h"
#include "joulecast/physics/physical_power.h"

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

SustainedRule watts(double per_tflop) {
    SustainedRule rule;
    rule.watts_per_tflop = per_tflop;
    return rule;
}

TEST(SustainedPeak, IsWhatThePowerLimitPaysFor) {
    EXPECT_EQ(sustained_share(card(10, 250, 16), watts(16)), 1);
    EXPECT_NEAR(sustained_share(card(8, 64, 12), watts(16)), 0.5, 1e-12);  // 64 W of 8 * 16 W
    EXPECT_NEAR(sustained(card(8, 64, 12), watts(16)).peak_flop_per_s_fp32, 4e12, 1);
}

TEST(SustainedPeak, LowerVoltagePaysForMoreOnSmallNodes) {
    // s (0.5 + 0.5 s)^2 = 0.5 * 0.75^2 = 0.28125 at s = 0.5; the card affords that share of 100 * 10 * 0.65 W.
    EXPECT_NEAR(sustained_share(card(100, 0.28125 * 650, 4), watts(10)), 0.5, 1e-9);
}

TEST(SustainedPeak, HalfOfWideUnitsShareTheirIssue) {
    Device wide = card(30, 1000, 8);
    wide.fp32_lanes_per_unit = 128;
    wide.release_year = 2020;
    EXPECT_EQ(sustained_share(wide, watts(16)), 0.85);
    wide.release_year = 2016;
    EXPECT_EQ(sustained_share(wide, watts(16)), 1);
}

Device memory(double year, double bits) {
    Device device;
    device.release_year = year;
    device.memory_bus_bits = bits;
    device.bandwidth_bytes_per_s = 1e12;
    return device;
}

TEST(SustainedBandwidth, GoesByKindAndAgeOfTheMemory) {
    SustainedRule rule;
    EXPECT_EQ(sustained_bandwidth_share(memory(2022, 5120), rule), 1);
    rule.by_memory = true;
    EXPECT_EQ(sustained_bandwidth_share(memory(2016, 4096), rule), 0.75);
    EXPECT_EQ(sustained_bandwidth_share(memory(2017, 4096), rule), 0.87);
    EXPECT_EQ(sustained_bandwidth_share(memory(2018, 256), rule), 0.75);
    EXPECT_EQ(sustained_bandwidth_share(memory(2023, 384), rule), 0.84);
    EXPECT_EQ(sustained_bandwidth_share(find_device("rtx2080ti"), rule), 0.75);
    EXPECT_EQ(sustained_bandwidth_share(find_device("rtx4090"), rule), 0.93);
    EXPECT_EQ(sustained_bandwidth_share(find_device("l40s"), rule), 0.84);
    // The data sheet's bandwidth stays: power, clocks and reports go by that.
    const Device slower = sustained(memory(2022, 5120), rule);
    EXPECT_EQ(slower.bandwidth_bytes_per_s, 1e12);
    EXPECT_EQ(slower.sustained_bandwidth_share, 0.87);
}

TEST(SustainedPeak, LeavesThePowerThatTheSheetsUnitsCouldDraw) {
    const Device a10 = find_device("a10");
    const Device slower = sustained(a10, {.watts_per_tflop = 16});
    EXPECT_LT(slower.vector_flop_per_s_fp32, 0.5 * a10.vector_flop_per_s_fp32);
    EXPECT_DOUBLE_EQ(dynamic_scale_w(slower), dynamic_scale_w(a10));
}

TEST(KernelLatency, IsANumberOfCyclesByTheClock) {
    Device device;
    device.boost_clock_mhz = 850;
    SustainedRule rule;
    EXPECT_EQ(latency_s(device, rule), 2e-6);
    rule.by_clock = true;
    EXPECT_NEAR(latency_s(device, rule), 4e-6, 1e-15);
    EXPECT_NEAR(sustained(device, rule).kernel_latency_s, 4e-6, 1e-15);
    EXPECT_EQ(latency_s(Device{}, rule), 2e-6);
}

TEST(SustainedPeak, IsThePeakWithoutARuleOrALimit) {
    EXPECT_EQ(sustained_share(card(8, 64, 12), {}), 1);
    EXPECT_EQ(sustained_share(card(8, Device::unknown, 12), watts(16)), 1);
}

}  // namespace
}  // namespace joulecast
