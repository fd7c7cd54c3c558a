#include "joulecast/physics/clock_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "joulecast/device/device_table.h"
#include "tests/physics/plain_device.h"

namespace joulecast {
namespace {

using testing::plain_device;

constexpr KernelTime computing{1, 0, 0};
constexpr KernelTime moving{0, 1, 0};
constexpr KernelTime waiting{0, 0, 1};

TEST(ClockCurve, ArithmeticAndLatencyFollowTheClock) {
    EXPECT_DOUBLE_EQ(kernel_time(computing, plain_device(), 1), 1);
    EXPECT_DOUBLE_EQ(kernel_time(computing, plain_device(), 0.5), 2);
    EXPECT_DOUBLE_EQ(kernel_time(waiting, plain_device(), 0.25), 4);
    EXPECT_DOUBLE_EQ(kernel_time(computing, plain_device(), 0.5, 0.1), 2);  // whatever the memory does
}

TEST(ClockCurve, BytesFollowTheMemoryUntilTheChipsOwnNetworkIsSlower) {
    // (1 + 0.5^16)^(1/16) at the highest clock, (1 + 2^16)^(1/16) at half of the knee, 2^(1/16) at the knee.
    EXPECT_NEAR(kernel_time(moving, plain_device(), 1), 1.00000095, 1e-8);
    EXPECT_NEAR(kernel_time(moving, plain_device(), 0.25), 2.00000191, 1e-8);
    EXPECT_NEAR(kernel_time(moving, plain_device(), 0.5), std::pow(2, 1.0 / 16), 1e-9);
    // Half the memory clock is half the bandwidth, at any core clock that keeps up: (2^16 + 0.5^16)^(1/16).
    EXPECT_NEAR(kernel_time(moving, plain_device(), 1, 0.5), 2, 1e-9);
}

TEST(ClockCurve, BothPartsOverlapInCubes) {
    EXPECT_NEAR(kernel_time({3, 4, 1}, plain_device(), 1), std::cbrt(27 + 64 * std::pow(1.00000095, 3)) + 1, 1e-7);
    EXPECT_NEAR(kernel_time(of_compute_share(0.3), plain_device(), 1), 1, 1e-3);
    EXPECT_DOUBLE_EQ(of_compute_share(1).memory, 0);
}

TEST(ClockCurve, AKernelComputesWhereItsArithmeticTakesLongerAtTheClock) {
    const WorkloadCurve curve(plain_device(), {{3, 4, 9}, {4, 3, 9}, waiting}, 0, {1, 1, 1, 100});
    EXPECT_NEAR(curve.compute_share(1), 0.5, 1e-6);
    EXPECT_NEAR(curve.compute_share(0.6), 1, 1e-9) << "bytes come as fast as before";
    EXPECT_NEAR(curve.compute_share(1, 0.5), 0, 1e-9);
    const WorkloadCurve latency(plain_device(), {waiting}, 0, {1, 1, 1, 100});
    EXPECT_TRUE(std::isnan(latency.compute_share(1)));
}

TEST(ClockCurve, VoltageIsFlatBelowTheKneeAndRisesAbove) {
    EXPECT_NEAR(relative_voltage(plain_device(), 1), 1.24, 1e-6);
    EXPECT_NEAR(relative_voltage(plain_device(), 0.5), 1, 1e-6);
    // Half way up from the knee: 1 + 0.24 * 0.5^1.5
    EXPECT_NEAR(relative_voltage(plain_device(), 0.85), 1 + 0.24 * std::pow(0.5, 1.5), 1e-4);
}

TEST(ClockCurve, MeasuredVoltageAndIdlePowerStandInPlaceOfTheForms) {
    ClockParameters parameters = plain_device();
    parameters.still_w = 1000;  // not asked
    parameters.idle = {{400, 40, 700}, {800, 50, 700}, {1000, 60, 840}};
    EXPECT_DOUBLE_EQ(static_w(parameters, 0.6), 45);  // half way between 400 and 800 MHz
    EXPECT_DOUBLE_EQ(static_w(parameters, 0.3), 40);  // level beyond the ends
    EXPECT_DOUBLE_EQ(relative_voltage(parameters, 1), 1.2);
    EXPECT_DOUBLE_EQ(relative_voltage(parameters, 0.9), 1.1);
    parameters.idle[1].voltage_mv = std::nan("");  // a gap is bridged: 700 at 400 MHz to 840 at 1000 MHz
    EXPECT_DOUBLE_EQ(relative_voltage(parameters, 0.7), 770.0 / 700);
}

// A straight line from 400 to 1000 MHz made 1440 MHz of a card whose voltage rises from 1465 on look dearer than 1380.
TEST(ClockCurve, IdlePowerRisesBetweenMeasuredClocksWhereTheVoltageDoes) {
    ClockParameters parameters = plain_device();  // v(1) = 1.24, knee 0.70
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    parameters.idle = {{400, 40, unknown}, {1000, 60, unknown}};
    EXPECT_DOUBLE_EQ(static_w(parameters, 0.4), 40);
    EXPECT_DOUBLE_EQ(static_w(parameters, 1), 60);
    // Half way: the mean of 40 and 60 / 1.24^1.25 at the lowest voltage, where a straight line has 50.
    EXPECT_NEAR(static_w(parameters, 0.7), (40 + 60 / std::pow(1.24, 1.25)) / 2, 0.2);
}

TEST(ClockCurve, StaticPowerRisesWithClockAndVoltageAndFallsWithTheMemorysClock) {
    ClockParameters parameters = plain_device();
    parameters.still_w = 30;
    parameters.clocked_w = 10;
    parameters.memory_w = 20;
    EXPECT_NEAR(static_w(parameters, 0.5), 35, 1e-6);
    EXPECT_NEAR(static_w(parameters, 1), 40 * std::pow(1.24, 1.25), 1e-6);
    EXPECT_NEAR(static_w(parameters, 0.5, 0.25), 35 - 15, 1e-6);
}

TEST(ClockCurve, DynamicEnergyOfWorkIsThatOfTheVoltageSquared) {
    const WorkloadCurve curve(plain_device(), {computing}, 0, {1, 1, 10, 200});
    EXPECT_DOUBLE_EQ(curve.time_s(0.5), 20);
    // Half as much work a second, at 1 / 1.24^2 of the energy: 200 W / 1.5376 * (0.85 / 2 + 0.15)
    EXPECT_NEAR(curve.power_w(0.5), 200 / 1.5376 * 0.575, 1e-4);
    EXPECT_NEAR(curve.power_w(1), 200, 1e-9);
    EXPECT_NEAR(curve.energy_j(0.5), 20 * 200 / 1.5376 * 0.575, 1e-3);
}

TEST(ClockCurve, WhatIsDrawnForTimeFollowsTheClockWhateverAKernelWaitsFor) {
    ClockParameters parameters = plain_device();
    parameters.steady_share = 0;
    parameters.running_share = 0.6;
    parameters.bandwidth_knee = 0;
    // As much work a second as before, of which a part needs half the power.
    const WorkloadCurve bytes(parameters, {KernelTime{0, 1, 0}}, 0, {1, 1, 10, 200});
    EXPECT_DOUBLE_EQ(bytes.time_s(0.5), 10);
    EXPECT_NEAR(bytes.power_w(0.5), 200 / 1.5376 * (0.4 + 0.6 * 0.5), 1e-4);
    // Half as much work a second in twice the time: both parts fall alike.
    const WorkloadCurve products(parameters, {computing}, 0, {1, 1, 10, 200});
    EXPECT_NEAR(products.power_w(0.5), 200 / 1.5376 * 0.5, 1e-4);
    // The host decides: kernels run longer at half the power.
    const WorkloadCurve issued(parameters, {computing}, 100, {1, 1, 10, 200});
    EXPECT_NEAR(issued.power_w(0.5), 200 / 1.5376, 1e-3);
}

TEST(ClockCurve, AHostThatDecidesHoldsTheTime) {
    const WorkloadCurve curve(plain_device(), {computing}, 100, {1, 1, 10, 200});
    EXPECT_NEAR(curve.time_s(0.5), 10, 1e-9);
    EXPECT_DOUBLE_EQ(curve.device_ratio(0.5), 2);
}

TEST(ClockCurve, KnowsItselfFromAnyPoint) {
    const ClockParameters parameters = plain_device();
    const std::vector<KernelTime> kernels{{2, 1, 0.1}, {0.5, 3, 0}};
    const WorkloadCurve from_high(parameters, kernels, 1, {1, 1, 10, 200});
    const ClockedPoint low{0.6, 1, from_high.time_s(0.6), from_high.power_w(0.6)};
    const WorkloadCurve from_low(parameters, kernels, 1, low);
    EXPECT_NEAR(from_low.time_s(1), 10, 1e-9);
    // The floor of time-bound power is relative to the known point, so the way back is a little off.
    EXPECT_NEAR(from_low.power_w(1) / 200, 1, 0.08);
}

TEST(ClockCurve, APowerLimitLeavesTheClockThatKeepsIt) {
    const WorkloadCurve curve(plain_device(), {computing}, 0, {1, 1, 10, 200});
    EXPECT_DOUBLE_EQ(curve.within_limit(1, 250), 1);
    const double held = curve.within_limit(1, 150);
    EXPECT_LT(held, 1);
    EXPECT_NEAR(curve.power_w(held), 150, 0.01);
    EXPECT_DOUBLE_EQ(curve.within_limit(0.3, 150), 0.3);
    EXPECT_DOUBLE_EQ(curve.within_limit(1, 1), 0.2);  // its lowest clock, whatever it draws there
    EXPECT_DOUBLE_EQ(curve.within_limit(1, std::nan("")), 1);
}

TEST(ClockCurve, WithoutPowerThereIsNone) {
    const WorkloadCurve curve(plain_device(), {computing}, 0, {1, 1, 10});
    EXPECT_TRUE(std::isnan(curve.power_w(0.5)));
    EXPECT_DOUBLE_EQ(curve.time_s(0.5), 20);
    EXPECT_DOUBLE_EQ(curve.within_limit(1, 150), 1);
}

TEST(ClockTable, IsWhatDriversOfTheArchitectureList) {
    const std::vector<double> a100 = clock_table_mhz(find_device("a100-40g-pcie"));
    EXPECT_EQ(a100.size(), 81U);  // 210, 225, ... 1410
    EXPECT_EQ(a100.front(), 210);
    EXPECT_EQ(a100.back(), 1410);
    const std::vector<double> v100 = clock_table_mhz(find_device("v100-16g-pcie"));
    EXPECT_EQ(v100[v100.size() - 2], 1372);  // steps of 7.5 MHz, as nvidia-smi rounds them
    Device told = find_device("a100-40g-pcie");
    told.core_clocks_mhz = {300, 600, 1410};
    EXPECT_EQ(clock_table_mhz(told), told.core_clocks_mhz);
    Device cpu;
    cpu.max_clock_mhz = 3000;
    EXPECT_TRUE(clock_table_mhz(cpu).empty());
    EXPECT_EQ(missing_for_clocks(cpu), "clocks of a CPU");
    Device bare;
    bare.kind = Device::Kind::gpu;
    EXPECT_EQ(missing_for_clocks(bare), "max_clock_mhz, tdp_w, bandwidth_bytes_per_s");
}

TEST(ClockParameters, AreThoseOfTheArchitecture) {
    const ClockParameters a100 = default_clock_parameters(find_device("a100-40g-pcie"));
    EXPECT_DOUBLE_EQ(a100.knee, 0.70);
    EXPECT_DOUBLE_EQ(a100.still_w, 0.12 * 250);
    EXPECT_NEAR(a100.bandwidth_knee, 1.555e12 / (16 * 108) / 1410e6, 1e-9);
    EXPECT_DOUBLE_EQ(default_clock_parameters(find_device("p100")).knee, 0.82);
    EXPECT_DOUBLE_EQ(default_clock_parameters(find_device("gtx980")).still_w, 0.27 * find_device("gtx980").tdp_w);
    EXPECT_NEAR(lowest_chosen_mhz(a100), 0.60 * 1410, 1e-9);
}

}  // namespace
}  // namespace joulecast
