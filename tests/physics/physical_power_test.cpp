#include "joulecast/physics/physical_power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "joulecast/device/device_table.h"

namespace joulecast {
namespace {

/// 6.25 TFLOP/s at 16 W each are 100 W, so D = sqrt(100 W * 100 W) = 100 W.
Device hundred_watts() {
    Device device;
    device.id = "made-up";
    device.kind = Device::Kind::gpu;
    device.tdp_w = 100;
    device.vector_flop_per_s_fp32 = 6.25e12;
    device.process_nm = 7;
    return device;
}

constexpr PhysicalPower model{
    .still = 0.2, .flop = 0.1, .byte = 0.2, .matrix = 0.3, .other = 0.4, .half_width = 0.6931471805599453};  // log 2
constexpr Activity half{.flop_share = 0.5, .byte_share = 0.5, .matrix_share = 0.5, .other_share = 0.25};
constexpr double tdp = std::numeric_limits<double>::quiet_NaN();

TEST(PhysicalPower, AddsWhatWorkAndTimeDrawToTheStaticShare) {
    // 0.2 * 100 W + 100 W * (0.1 * 0.5 + 0.2 * 0.5 + 0.3 * 0.5 + 0.4 * 0.25) = 20 W + 40 W
    EXPECT_NEAR(watts(model, hundred_watts(), half), 60, 1e-9);
    EXPECT_NEAR(watts(model, hundred_watts(), {}), 20, 1e-9);
}

TEST(PhysicalPower, TellsHowMuchOfABusyDevicesPowerIsForTime) {
    // 0.3 of time, 0.1 * 0.6 + 0.2 * 0.1 of work.
    EXPECT_NEAR(running_share(model), 0.3 / 0.38, 1e-12);
    EXPECT_NEAR(running_share(shipped_physical_power()), 0.70, 0.006);
    EXPECT_EQ(running_share({}), 0);
}

TEST(PhysicalPower, AddsWhatMatrixUnitsDrawBeyondVectorUnits) {
    PhysicalPower with_tensor = model;
    with_tensor.tensor = 0.2;
    Activity on_matrix_units = half;
    on_matrix_units.tensor_share = 0.5;  // 100 W * 0.2 * 0.5 more
    EXPECT_NEAR(watts(with_tensor, hundred_watts(), half), 60, 1e-9);
    EXPECT_NEAR(watts(with_tensor, hundred_watts(), on_matrix_units), 70, 1e-9);
}

TEST(PhysicalPower, TakesTheIdlePowerOfTheSheetWhereItHasOne) {
    Device device = hundred_watts();
    device.idle_w = 33;
    EXPECT_NEAR(watts(model, device, half), 33 + 40, 1e-9);
}

TEST(PhysicalPower, NeverExceedsItsLimit) {
    EXPECT_EQ(watts(model, hundred_watts(), half, 50), 50);
    const Activity everything{1, 1, 1, 0, 0};
    PhysicalPower hungry = model;
    hungry.matrix = 0.9;                                              // 20 W + 100 W * (0.1 + 0.2 + 0.9)
    EXPECT_EQ(watts(hungry, hundred_watts(), everything, tdp), 100);  // its TDP
    EXPECT_NEAR(watts(hungry, hundred_watts(), everything, 500), 140, 1e-9);
}

TEST(PhysicalPower, TakesACardThatCouldDrawMoreThanItMayNearerToItsLimit) {
    Device starved = hundred_watts();
    starved.vector_flop_per_s_fp32 = 25e12;  // 400 W of lanes: D = sqrt(100 * 400) = 200 W
    EXPECT_NEAR(dynamic_scale_w(starved), 200, 1e-9);
    starved.process_nm = 4;  // 0.65 of that demand
    EXPECT_NEAR(dynamic_scale_w(starved), std::sqrt(100 * 260), 1e-9);
    starved.process_nm = Device::unknown;
    EXPECT_NEAR(dynamic_scale_w(starved), 200, 1e-9);
}

TEST(PhysicalPower, FallsWithClockAndVoltage) {
    EXPECT_EQ(relative_voltage(1), 1);
    // v(1) = 1 + 0.70 * 0.3 * (0.3 / 0.3)^1.5 = 1.21; at half of the clock the voltage is flat at 1.
    const double v = relative_voltage(0.5);
    EXPECT_NEAR(v, 1 / 1.21, 1e-6);
    EXPECT_NEAR(static_w(model, hundred_watts(), 0.5), 20 * 0.9 * std::pow(v, 1.25), 1e-9);
    // Work costs its energy whatever the clock; kernels' time costs half as much a second.
    EXPECT_NEAR(watts(model, hundred_watts(), half, tdp, 0.5) - static_w(model, hundred_watts(), 0.5),
                100 * v * v * (0.15 + 0.5 * 0.25), 1e-9);
    double last = 0;
    for (int i = 1; i <= 100; ++i) {
        const double power = watts(model, hundred_watts(), half, tdp, 0.01 * i);
        EXPECT_GT(power, last);
        last = power;
    }
}

TEST(PhysicalPower, NamesWhatASheetLacksAndSaysNothingThen) {
    EXPECT_EQ(missing_for_power(hundred_watts()), "");
    Device device = hundred_watts();
    device.tdp_w = Device::unknown;
    EXPECT_EQ(missing_for_power(device), "tdp_w");
    EXPECT_TRUE(std::isnan(watts(model, device, half)));
    EXPECT_FALSE(watts_90(model, device, half).known());
    device.vector_flop_per_s_fp32 = Device::unknown;
    EXPECT_EQ(missing_for_power(device), "tdp_w, vector_flop_per_s_fp32");
    EXPECT_TRUE(std::isnan(dynamic_scale_w(device)));
}

TEST(PhysicalPower, IsSurerNearItsLimitThanFarBelow) {
    // 60 W; half and twice that, but for the limit of 100 W, and 5 % of the meter on top.
    const auto below = watts_90(model, hundred_watts(), half);
    EXPECT_NEAR(below.value.value(), 60, 1e-9);
    EXPECT_NEAR(below.low.value(), 30 / 1.05, 1e-9);
    EXPECT_NEAR(below.high.value(), 100 * 1.05, 1e-9);
    // 20 W + 10 * 40 W: half of that is still above the limit.
    PhysicalPower hungry = model;
    for (double* share : {&hungry.flop, &hungry.byte, &hungry.matrix, &hungry.other}) *share *= 10;
    const auto at_limit = watts_90(hungry, hundred_watts(), half);
    EXPECT_EQ(at_limit.value.value(), 100);
    EXPECT_NEAR(at_limit.low.value(), 100 / 1.05, 1e-9);
    EXPECT_NEAR(at_limit.high.value(), 100 * 1.05, 1e-9);
}

TEST(ShippedPhysicalPower, LeavesOutTheChipThatItIsTestedOn) {
    const PhysicalPower all = shipped_physical_power();
    for (const char* device : {"b200", "a10", "a100-40g-pcie", "v100-16g-pcie", "p100", "titanxp", "titanx-maxwell",
                               "gtx980", "k40c", "h100-sxm", "h200"}) {
        const PhysicalPower without = shipped_physical_power_without(device);
        EXPECT_EQ(without.devices, all.devices - 1) << device;
        EXPECT_LT(without.rows, all.rows) << device;
    }
    EXPECT_EQ(shipped_physical_power_without("h100-sxm"), shipped_physical_power_without("h200"));  // one chip
    EXPECT_EQ(shipped_physical_power_without("a30"), all);  // none of its rows were there
}

TEST(ShippedPhysicalPower, SaysSomethingSensibleOfEverySheetThatIsCompiledIn) {
    const Activity product{
        .flop_share = 0.6, .byte_share = 0.1, .matrix_share = 1, .other_share = 0, .tensor_share = 1};
    const DeviceTable table;
    for (const DataSheet& sheet : table.sheets()) {
        const Device& device = sheet.device;
        if (device.kind != Device::Kind::gpu) continue;
        ASSERT_EQ(missing_for_power(device), "") << device.id;
        const double busy = watts(shipped_physical_power(), device, product) / device.tdp_w;
        EXPECT_GT(busy, 0.4) << device.id;
        EXPECT_LE(busy, 1) << device.id;
        const double still = static_w(shipped_physical_power(), device) / device.tdp_w;
        EXPECT_GT(still, 0.05) << device.id;
        EXPECT_LT(still, 0.4) << device.id;
    }
}

}  // namespace
}  // namespace joulecast
