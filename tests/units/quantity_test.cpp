#include "joulecast/units/quantity.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace joulecast {
namespace {

TEST(Quantity, EnergyIsPowerTimesTime) {
    // 250 W for 2 s.
    EXPECT_EQ((Watts(250.0) * Seconds(2.0)).value(), 500.0);
    EXPECT_EQ((Seconds(2.0) * Watts(250.0)).value(), 500.0);
    EXPECT_EQ((Joules(500.0) / Seconds(2.0)).value(), 250.0);
}

TEST(Quantity, RatioOfTwoIsAPlainNumber) {
    static_assert(std::is_same_v<decltype(Seconds(3.0) / Seconds(2.0)), double>);
    EXPECT_EQ(Seconds(3.0) / Seconds(2.0), 1.5);
}

TEST(Quantity, SumsAndScalesKeepTheUnit) {
    Seconds total(1.0);
    total += Seconds(0.5);
    EXPECT_EQ(((total - Seconds(0.25)) * 2.0).value(), 2.5);  // (1.5 - 0.25) 2
    EXPECT_LT(Seconds(1.0), total);
}

TEST(Quantity, DoesNotConvertFromPlainNumbersOrOtherUnits) {
    static_assert(!std::is_convertible_v<double, Seconds>);
    static_assert(!std::is_constructible_v<Seconds, Joules>);
}

TEST(Estimate, IsUnknownUntilItHasAValue) {
    EXPECT_FALSE(Estimate<Seconds>{}.known());
    EXPECT_TRUE((Estimate<Seconds>{Seconds(1.0), Seconds(0.5), Seconds(2.0)}).known());
}

}  // namespace
}  // namespace joulecast
