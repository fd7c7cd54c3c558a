#include "joulecast/units/time_stamp.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace joulecast
