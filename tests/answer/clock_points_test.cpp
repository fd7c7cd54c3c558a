#include "joulecast/answer/clock_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

TEST(ClockPoints, ReadTheClocksBehindTheAt) {
    EXPECT_EQ(device_at_clock("a100").device, "a100");
    EXPECT_TRUE(std::isnan(device_at_clock("a100").asked.sm_clock_mhz));
    const DeviceAtClock both = device_at_clock("a100@900/1215");
    EXPECT_EQ(both.device, "a100");
    EXPECT_EQ(both.asked.sm_clock_mhz, 900);
    EXPECT_EQ(both.asked.memory_clock_mhz, 1215);
    for (const char* wrong : {"a100@", "a100@fast", "a100@900/", "a100@-5", "a100@0", "a100@nan", "a100@900x"})
        EXPECT_THROW(device_at_clock(wrong), UsageError) << wrong;
}

TEST(ClockPoints, AreEveryClockWithEveryLimit) {
    const Device device = find_device("a100-40g-pcie");
    EXPECT_TRUE(points_asked({}, parse_clock_wish("", ""), device).empty());
    EXPECT_TRUE(points_asked({}, parse_clock_wish("current", ""), device).empty());
    const auto points = points_asked({}, parse_clock_wish("900,1200", "150,250"), device);
    ASSERT_EQ(points.size(), 4U);
    EXPECT_EQ(points[1].sm_clock_mhz, 900);
    EXPECT_EQ(points[1].power_limit_w, 250);
    EXPECT_EQ(points_asked({}, parse_clock_wish("all", ""), device).size(), 81U);
    OperatingPoint at;
    at.sm_clock_mhz = 900;
    EXPECT_EQ(points_asked(at, parse_clock_wish("", "150,200"), device).size(), 2U);
    EXPECT_THROW(points_asked(at, parse_clock_wish("1200", ""), device), UsageError);
}

TEST(ClockPoints, AreAllAtEachMemoryClock) {
    const Device device = find_device("a100-40g-pcie");
    const auto points = points_asked({}, parse_clock_wish("900,1200", "", "810,1215"), device);
    ASSERT_EQ(points.size(), 4U);
    EXPECT_EQ(points[1].sm_clock_mhz, 1200);
    EXPECT_EQ(points[1].memory_clock_mhz, 810);
    EXPECT_EQ(points[2].memory_clock_mhz, 1215);
    const auto alone = points_asked({}, parse_clock_wish("", "", "810"), device);
    ASSERT_EQ(alone.size(), 1U);
    EXPECT_TRUE(std::isnan(alone[0].sm_clock_mhz));
    EXPECT_THROW(points_asked(device_at_clock("a100@900/1215").asked, parse_clock_wish("", "", "810"), device),
                 UsageError);
}

TEST(ClockPoints, RefuseAllClocksOfACpu) {
    Device cpu;
    cpu.id = "cpu-made-up";
    EXPECT_THROW(points_asked({}, parse_clock_wish("all", ""), cpu), UsageError);
}

}  // namespace
}  // namespace joulecast
