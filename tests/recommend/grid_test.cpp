#include "joulecast/recommend/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace joulecast::testing {
namespace {

const std::vector<double> table{600, 800, 1000};

std::vector<std::pair<double, double>> on(const std::vector<double>& clocks, const Grid& grid) {
    std::vector<std::pair<double, double>> all;
    for (const OperatingPoint& point : grid_points(clocks, grid))
        all.emplace_back(point.sm_clock_mhz, std::isnan(point.power_limit_w) ? 0 : point.power_limit_w);
    return all;
}

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(Grid, IsEveryClockWithTheDefaultFirst) {
    EXPECT_THAT(on(table, {}), ElementsAre(Pair(1000, 0), Pair(600, 0), Pair(800, 0)));
}

TEST(Grid, TakesClocksToTheNearestOneEachOnceAndLeavesThoseOutside) {
    EXPECT_THAT(on(table, {.all_clocks = false, .clocks_mhz = {790, 810, 1000, 2000}}),
                ElementsAre(Pair(1000, 0), Pair(800, 0), Pair(2000, 0)));
}

TEST(Grid, CrossesClocksAndPowerLimits) {
    EXPECT_THAT(on(table, {.all_clocks = false, .clocks_mhz = {800}, .power_limits_w = {150, 200}}),
                ElementsAre(Pair(1000, 0), Pair(800, 150), Pair(800, 200)));
}

TEST(Grid, SetsPowerLimitsAtTheHighestClockWhereNoneIsNamed) {
    EXPECT_THAT(on(table, {.all_clocks = false, .power_limits_w = {150}}), ElementsAre(Pair(1000, 0), Pair(1000, 150)));
}

TEST(Grid, OfADeviceWithoutClocksIsTheDevice) {
    const auto points = on({}, {});
    ASSERT_EQ(points.size(), 1U);
    EXPECT_TRUE(std::isnan(points[0].first));
    EXPECT_EQ(on({}, {.power_limits_w = {50}}).size(), 2U);
}

}  // namespace
}  // namespace joulecast::testing
