#include "joulecast/meter/clock_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/error.h"
#include "tests/fake_nvml/fake_nvml.h"

namespace joulecast {
namespace {

using testing::FakeNvml;
using ::testing::HasSubstr;

TEST(ClockRequest, NamesOnlyWhatThePointNames) {
    OperatingPoint point;
    EXPECT_TRUE(clock_request(point).asks_nothing());
    point.sm_clock_mhz = 1410;
    point.power_limit_w = 120.5;
    const ClockRequest request = clock_request(point);
    EXPECT_EQ(request.graphics_mhz, 1410U);
    EXPECT_FALSE(request.memory_mhz);
    EXPECT_EQ(request.power_limit_mw, 120500U);
}

TEST(ClockRequest, ImpossibleNumbersAreRefused) {
    for (const double value : {0.0, -1.0, 1e30, HUGE_VAL}) {
        OperatingPoint point;
        point.sm_clock_mhz = value;
        EXPECT_THROW(clock_request(point), Error) << value;
        point = {};
        point.power_limit_w = value;
        EXPECT_THROW(clock_request(point), Error) << value;
    }
}

/// Time that passes only when it is waited for: the fake's own.
class FakeTime final : public SettleClock {
  public:
    explicit FakeTime(FakeNvml& fake) : fake_(fake) { fake_.take_over_time(); }
    double now_s() override { return fake_.state().now_s; }
    void wait(double seconds) override { fake_.advance(seconds); }

  private:
    FakeNvml& fake_;
};

NvmlGpu first_gpu() {
    std::string why;
    return Nvml::open(FakeNvml::library(), why)->gpus().at(0);
}

OperatingPoint at_clock(double mhz) {
    OperatingPoint point;
    point.sm_clock_mhz = mhz;
    return point;
}

TEST(Settle, WaitsForThreeEqualReadingsAtTheTargetAndThenAQuarterOfASecond) {
    FakeNvml fake;
    FakeTime time(fake);
    const NvmlGpu gpu = first_gpu();
    ASSERT_EQ(gpu.lock_graphics_clock(900), NvmlCode::success);
    const Settled settled = settle(gpu, at_clock(900), time);
    EXPECT_EQ(settled.remark, "");
    EXPECT_EQ(settled.real.sm_clock_mhz, 900);
    EXPECT_EQ(settled.real.memory_clock_mhz, 1215);
    EXPECT_EQ(settled.real.power_limit_w, 165);
    EXPECT_NEAR(settled.waited_s, 2 * 0.02 + 0.25, 1e-9);
}

TEST(Settle, ASlowCardIsWaitedFor) {
    FakeNvml fake;
    FakeTime time(fake);
    fake.gpu().settle_s = 1;
    const NvmlGpu gpu = first_gpu();
    ASSERT_EQ(gpu.lock_graphics_clock(900), NvmlCode::success);
    const Settled settled = settle(gpu, at_clock(900), time);
    EXPECT_EQ(settled.remark, "");
    EXPECT_EQ(settled.real.sm_clock_mhz, 900);
    // The walk from 1440 takes 1 s; it reads 900 from 0.5 MHz before its end on, at a poll every 20 ms.
    EXPECT_NEAR(settled.waited_s, 1 + 0.04 + 0.25, 0.041);
}

TEST(Settle, ACardThatStaysBelowItsTargetIsGivenUpWithTheReason) {
    FakeNvml fake;
    FakeTime time(fake);
    fake.gpu().load = 1;
    fake.gpu().power_limit_mw = 100000;
    const NvmlGpu gpu = first_gpu();
    ASSERT_EQ(gpu.lock_graphics_clock(1410), NvmlCode::success);
    const Settled settled = settle(gpu, at_clock(1410), time);
    EXPECT_EQ(settled.remark, "GPU 0 (NVIDIA A30): clock 1170 instead of 1410 MHz (power cap)");
    EXPECT_EQ(settled.real.sm_clock_mhz, 1170);
    EXPECT_NEAR(settled.waited_s, 3.0, 0.03);
}

TEST(Settle, AClockThatTheCardDoesNotTellCannotDiffer) {
    FakeNvml fake;
    FakeTime time(fake);
    fake.gpu().missing = testing::missing_clocks;
    const Settled settled = settle(first_gpu(), at_clock(900), time);
    EXPECT_EQ(settled.remark, "");
    EXPECT_TRUE(std::isnan(settled.real.sm_clock_mhz));
}

TEST(WhyNotSupported, NamesTheNearestClockAndTheAllowedLimits) {
    const FakeNvml fake;
    const NvmlGpu gpu = first_gpu();
    EXPECT_EQ(why_not_supported(gpu, {1410, 1215, 120000}), "");
    EXPECT_THAT(why_not_supported(gpu, {1411, {}, {}}),
                HasSubstr("GPU 0 (NVIDIA A30) does not support a graphics clock of 1411 MHz (210 to 1440 MHz in 83 "
                          "steps); the nearest is 1410"));
    EXPECT_THAT(why_not_supported(gpu, {{}, 405, {}}), HasSubstr("memory clock of 405 MHz"));
    EXPECT_THAT(why_not_supported(gpu, {{}, {}, 400000}), HasSubstr("power limit of 400 W (100 to 165 W)"));
}

TEST(WhyNotSupported, ACardThatTellsNothingIsNotLocked) {
    FakeNvml fake;
    fake.gpu().missing = testing::missing_supported_clocks | testing::missing_power_limits;
    EXPECT_THAT(why_not_supported(first_gpu(), {900, {}, {}}), HasSubstr("does not report which graphics clocks"));
    EXPECT_THAT(why_not_supported(first_gpu(), {{}, {}, 120000}), HasSubstr("does not report which power limits"));
}

}  // namespace
}  // namespace joulecast
