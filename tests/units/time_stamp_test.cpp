#include "joulecast/units/time_stamp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace joulecast {
namespace {

TEST(TimeStamp, IsUtcWithMilliseconds) {
    EXPECT_EQ(utc_time_stamp(0.0), "1970-01-01T00:00:00.000Z");
    // date -u -d @1709210096.789 +%FT%T.%3N: a 29th of February.
    EXPECT_EQ(utc_time_stamp(1709210096.789), "2024-02-29T12:34:56.789Z");
}

TEST(TimeStamp, RoundsIntoTheNextSecond) {
    EXPECT_EQ(utc_time_stamp(59.9996), "1970-01-01T00:01:00.000Z");
}

TEST(TimeStamp, LeavesPartsOfASecondOut) {
    EXPECT_EQ(utc_second_stamp(1709210096.789), "2024-02-29T12:34:56Z");
    EXPECT_EQ(utc_second_stamp(-1.0), "");
}

TEST(TimeStamp, WhatIsNoTimeIsEmpty) {
    for (const double time :
         {-1.0, 1e18, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        EXPECT_EQ(utc_time_stamp(time), "");
    }
}

TEST(TimeStamp, IsReadBack) {
    for (const double time : {0.0, 1709210096.789, 253402300798.0}) {
        EXPECT_NEAR(seconds_since_1970(utc_time_stamp(time)), time, 1e-3);
        EXPECT_EQ(seconds_since_1970(utc_second_stamp(time)), std::floor(time));
    }
    for (const char* wrong :
         {"", "2024-02-30T12:00:00Z", "2024-02-29T24:00:00Z", "2024-02-29T12:00:00", "t0", "2024-02-29T12:00:00Z."})
        EXPECT_TRUE(std::isnan(seconds_since_1970(wrong))) << wrong;
}

}  // namespace
}  // namespace joulecast
