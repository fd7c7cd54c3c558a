#include "cli/json_number.h"

#include <gtest/gtest.h>

#include <limits>

namespace joulecast::cli {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(JsonNumber, WhatIsNotKnownIsNull) {
    EXPECT_EQ(number_or_null(1.5).dump(), "1.5");
    EXPECT_EQ(number_or_null(0).dump(), "0.0");
    // Not by its text: the library prints null for a number that is not finite.
    EXPECT_TRUE(number_or_null(nan).is_null());
    EXPECT_TRUE(number_or_null(infinity).is_null());
    EXPECT_TRUE(number_or_null(-infinity).is_null());
}

TEST(JsonNumber, AnEstimateHasItsValueBeforeItsBoundsEachKnownOrNot) {
    const Estimate<Joules> energy{Joules(2), Joules(1), Joules(infinity)};
    EXPECT_EQ(estimate_json(energy).dump(), R"({"value":2.0,"low":1.0,"high":null})");
    EXPECT_EQ(estimate_json(Estimate<Joules>{}).dump(), R"({"value":null,"low":null,"high":null})");
}

}  // namespace
}  // namespace joulecast::cli
