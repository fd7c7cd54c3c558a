#include "joulecast/measure/rotation.h"

#include <gtest/gtest.h>

#include <limits>

namespace joulecast {
namespace {

constexpr double mib = 1024.0 * 1024.0;
constexpr RotationLimits machine{0.0, 32.0 * mib, 24.0 * 1024.0 * mib};

TEST(Rotation, FillsThreeTimesTheLastLevelCache) {
    EXPECT_DOUBLE_EQ(working_set_target(machine), 96.0 * mib);
    EXPECT_EQ(rotation_for(1.0 * mib, machine), 96);
    EXPECT_EQ(rotation_for(5.0 * mib, machine), 20);  // 96 / 5 = 19.2
}

TEST(Rotation, AskedBytesWinOverTheCache) {
    RotationLimits asked = machine;
    asked.working_set_bytes = 10.0 * mib;
    EXPECT_EQ(rotation_for(1.0 * mib, asked), 10);
}

TEST(Rotation, OneSetBeyondTheTargetStillAlternatesWithASecond) {
    EXPECT_EQ(rotation_for(500.0 * mib, machine), 2);
}

TEST(Rotation, TakesAQuarterOfMemoryAtMost) {
    EXPECT_EQ(rotation_for(4096.0 * mib, machine), 1);  // 6144 MiB hold one set, not two
    RotationLimits small = machine;
    small.memory_bytes = 40.0 * mib;
    EXPECT_EQ(rotation_for(1.0 * mib, small), 10);
}

TEST(Rotation, TinyTensorsAreCapped) {
    EXPECT_EQ(rotation_for(4.0, machine), most_sets);
}

TEST(Rotation, NothingToRotateIsOneSet) {
    EXPECT_EQ(rotation_for(0.0, machine), 1);
}

TEST(Rotation, AnUnknownCacheCountsAsACommonOne) {
    RotationLimits unknown = machine;
    unknown.last_level_cache_bytes = std::numeric_limits<double>::quiet_NaN();
    EXPECT_DOUBLE_EQ(working_set_target(unknown), 96.0 * mib);
}

}  // namespace
}  // namespace joulecast
