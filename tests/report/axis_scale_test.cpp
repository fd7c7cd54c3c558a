#include "joulecast/report/axis_scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string unit_of(const std::string& unit, std::vector<double> numbers) {
    return axis_scale(unit, numbers).unit;
}

TEST(AxisScale, BringsTheLargestBetweenOneAndAThousand) {
    EXPECT_EQ(unit_of("s", {0.001, 0.0123, std::nan("")}), "ms");
    EXPECT_EQ(unit_of("s", {1e-3}), "ms");
    EXPECT_EQ(unit_of("J", {-2500}), "kJ");
    EXPECT_EQ(unit_of("B", {4e9}), "GB");
    EXPECT_EQ(axis_scale("s", std::vector{0.0123}).divisor, 1e-3);
}

TEST(AxisScale, TakesNoPrefixThatNobodySays) {
    EXPECT_EQ(unit_of("s", {7200}), "s");
    EXPECT_EQ(unit_of("B", {0.2}), "B");
    EXPECT_EQ(unit_of("%", {1e6}), "%");
    EXPECT_EQ(unit_of("MHz", {1980}), "MHz");
    EXPECT_EQ(unit_of("s", {}), "s");
}

TEST(LogarithmicTicks, ArePowersOfTenWithTheirUnit) {
    const auto ticks = logarithmic_ticks("s", std::vector{2e-6, 0.5, 0.0, -1.0});
    EXPECT_THAT(ticks.texts, ElementsAre("1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"));
    EXPECT_TRUE(ticks.have_unit);
}

TEST(LogarithmicTicks, HaveTwosAndFivesWhereDecadesAreFew) {
    EXPECT_THAT(logarithmic_ticks("W", std::vector{20.0, 80.0}).texts, ElementsAre("10 W", "20 W", "50 W", "100 W"));
    EXPECT_THAT(logarithmic_ticks("FLOP/byte", std::vector{0.5, 0.6}).texts, ElementsAre("0.1", "0.2", "0.5", "1"));
    EXPECT_FALSE(logarithmic_ticks("FLOP/byte", std::vector{0.5}).have_unit);
    EXPECT_LE(logarithmic_ticks("B", std::vector{1.0, 1e15}).at.size(), 9U);
    EXPECT_THAT(logarithmic_ticks("s", std::vector<double>{}).at, IsEmpty());
}

}  // namespace
}  // namespace joulecast
