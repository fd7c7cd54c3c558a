#include "joulecast/meter/nvml_state.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/fake_nvml/fake_nvml.h"

namespace joulecast {
namespace {

using testing::FakeNvml;

NvmlStateProbe first_probe() {
    std::string why;
    return NvmlStateProbe(Nvml::open(FakeNvml::library(), why)->gpus().at(0));
}

TEST(NvmlState, ReadsWhatAroundAWindowMatters) {
    FakeNvml fake;
    fake.take_over_time();
    fake.gpu().load = 1;
    fake.gpu().extra_throttle_reasons = throttle::software_thermal;
    NvmlStateProbe probe = first_probe();
    const DeviceState state = probe.read();
    EXPECT_EQ(state.sm_clock_mhz, 1440);
    EXPECT_EQ(state.memory_clock_mhz, 1215);
    EXPECT_EQ(state.power_limit_w, 165);
    EXPECT_EQ(state.temperature_c, 41);
    EXPECT_EQ(state.performance_state, "P0");
    EXPECT_EQ(state.throttle_reasons, throttle::software_thermal);
    EXPECT_EQ(state.power_capped_s, 0);
    EXPECT_EQ(state.thermally_limited_s, 0);
}

TEST(NvmlState, SecondsUnderThePowerCapAreCounted) {
    FakeNvml fake;
    fake.take_over_time();
    fake.gpu().load = 1;
    fake.gpu().power_limit_mw = 100000;
    NvmlStateProbe probe = first_probe();
    const DeviceState before = probe.read();
    fake.advance(2);
    const DeviceState after = probe.read();
    EXPECT_NEAR(after.power_capped_s - before.power_capped_s, 2, 1e-6);
    EXPECT_EQ(after.throttle_reasons, throttle::power_cap);
    EXPECT_EQ(after.sm_clock_mhz, 1170);  // see NvmlTest: where 100 W hold the clock
}

TEST(NvmlState, WhatIsNotToldStaysUnknown) {
    FakeNvml fake;
    fake.gpu().missing = testing::missing_clocks | testing::missing_temperature | testing::missing_field_values |
                         testing::missing_performance_state | testing::missing_power_limits |
                         testing::missing_throttle_reasons;
    const DeviceState state = first_probe().read();
    EXPECT_TRUE(std::isnan(state.sm_clock_mhz));
    EXPECT_TRUE(std::isnan(state.memory_clock_mhz));
    EXPECT_TRUE(std::isnan(state.power_limit_w));
    EXPECT_TRUE(std::isnan(state.temperature_c));
    EXPECT_TRUE(std::isnan(state.power_capped_s));
    EXPECT_EQ(state.performance_state, "");
    EXPECT_EQ(state.throttle_reasons, 0U);
}

TEST(NvmlState, ALostCardIsUnknownAndNoError) {
    FakeNvml fake;
    NvmlStateProbe probe = first_probe();
    fake.gpu().lost = true;
    EXPECT_TRUE(std::isnan(probe.read().sm_clock_mhz));
}

}  // namespace
}  // namespace joulecast
