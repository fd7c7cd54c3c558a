#include "joulecast/forecast/clock_balance.h"

#include <gtest/gtest.h>

#include "tests/physics/plain_device.h"

namespace joulecast {
namespace {

using testing::plain_device;

/// Microseconds at a clock of what takes `seconds` at the highest one.
double moved_us(const KernelTime& balance, double seconds, double x) {
    const ClockParameters parameters = plain_device();
    return 1e6 * kernel_time(with_latency(balance, seconds, parameters, 1, 1), parameters, x);
}

// Of a kernel's latency 0.7 follow the clock: 5 us at half of it take 5 (0.3 + 0.7 / 0.5) = 8.5 us.
TEST(ClockBalance, ThreeTenthsOfTheLatencyFollowNoClock) {
    EXPECT_NEAR(moved_us({}, 5e-6, 1), 5, 1e-9);
    EXPECT_NEAR(moved_us({}, 5e-6, 0.5), 8.5, 1e-9);
    EXPECT_NEAR(moved_us({1e-6, 0, 0}, 6e-6, 0.5), 2 + 8.5, 1e-9);
}

// Beyond 10.2 us it is the arithmetic that is slower than its counts tell: of 30 us 19.8 follow the clock wholly.
TEST(ClockBalance, NoMoreThanAKernelsLatencyIsTakenForLatency) {
    EXPECT_NEAR(moved_us({10e-6, 0, 0}, 30e-6, 0.5), 2 * 19.8 + 10.2 * 1.7, 1e-9);
}

// The same kernel, told at half of the clock: 15.3 us that nothing explains are 9 us at the highest one.
TEST(ClockBalance, LatencyIsTakenBackFromTheClockWhereTheTimeIsKnown) {
    const ClockParameters parameters = plain_device();
    const KernelTime parts = with_latency({1e-6, 0, 0}, 2e-6 + 15.3e-6, parameters, 0.5, 1);
    EXPECT_NEAR(1e6 * kernel_time(parts, parameters, 1), 1 + 9, 1e-9);
    EXPECT_NEAR(1e6 * kernel_time(parts, parameters, 0.5), 2 + 15.3, 1e-9);
}

}  // namespace
}  // namespace joulecast
