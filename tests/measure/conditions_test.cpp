#include "joulecast/measure/conditions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

DeviceState card(std::uint64_t reasons) {
    DeviceState state;
    state.sm_clock_mhz = 1400;
    state.temperature_c = 60;
    state.performance_state = "P0";
    state.throttle_reasons = reasons;
    state.power_capped_s = 10.0;
    state.thermally_limited_s = 1.0;
    return state;
}

LimitedBy limit(const DeviceState& before, const DeviceState& after) {
    return conditions_around(before, after, 1.0).limited_by;
}

// Bits of nvmlClocksEventReasons, as nvml.h has them.
TEST(Conditions, NamePowerCapAndHeatFromTheReasonsAtEitherEnd) {
    EXPECT_EQ(limit(card(0), card(0)), LimitedBy::none);
    EXPECT_EQ(limit(card(0x1), card(0x2)), LimitedBy::none);  // idle; clocks as set
    EXPECT_EQ(limit(card(0x4), card(0)), LimitedBy::power_cap);
    EXPECT_EQ(limit(card(0), card(0x80)), LimitedBy::power_cap);
    EXPECT_EQ(limit(card(0x20), card(0)), LimitedBy::thermal);
    EXPECT_EQ(limit(card(0), card(0x40)), LimitedBy::thermal);
    EXPECT_EQ(limit(card(0), card(0x8)), LimitedBy::thermal);
    EXPECT_EQ(limit(card(0), card(0x8 | 0x80)), LimitedBy::power_cap);  // slowed down by the power brake
    EXPECT_EQ(limit(card(0x4), card(0x20)), LimitedBy::thermal);
    EXPECT_EQ(conditions_around(card(0x4), card(0x1), 1.0).throttle_reasons, 0x5U);
}

TEST(Conditions, SeeThrottlingBetweenTheEndsByTheDriversCounters) {
    DeviceState after = card(0);
    after.power_capped_s += 0.3;
    EXPECT_EQ(limit(card(0), after), LimitedBy::power_cap);
    after.thermally_limited_s += 0.3;
    EXPECT_EQ(limit(card(0), after), LimitedBy::thermal);
    // 5 ms of a second are nothing.
    DeviceState little = card(0);
    little.power_capped_s += 0.005;
    EXPECT_EQ(limit(card(0), little), LimitedBy::none);
}

TEST(Conditions, OfADeviceThatTellsNothingAreUnknown) {
    DeviceState cpu;
    cpu.sm_clock_mhz = 2000;
    cpu.performance_state = "performance";
    const Conditions conditions = conditions_around(cpu, cpu, 1.0);
    EXPECT_EQ(conditions.limited_by, LimitedBy::unknown);
    EXPECT_EQ(conditions.performance_state, "performance");
    EXPECT_TRUE(std::isnan(conditions.temperature_c));
}

TEST(Conditions, TheRealClockIsTheMeanOfBeforeAndAfter) {
    DeviceState before = card(0);
    DeviceState after = card(0);
    before.sm_clock_mhz = 1200;
    before.memory_clock_mhz = 900;
    OperatingPoint point;
    point.power_limit_w = 165.0;
    set_real_point(before, after, point);
    EXPECT_DOUBLE_EQ(point.sm_clock_mhz, 1300.0);
    EXPECT_DOUBLE_EQ(point.memory_clock_mhz, 900.0);  // told once
    EXPECT_DOUBLE_EQ(point.power_limit_w, 165.0);     // never told: stays
}

}  // namespace
}  // namespace joulecast
