#include "joulecast/dataset/repeat_spread.h"

#include <cmath>

#include <gtest/gtest.h>

#include "dataset/samples.h"

namespace joulecast {
namespace {

using joulecast::testing::sample_reference;

std::vector<ReferenceRow> repeats(const std::vector<double>& times, const std::string& session, double mhz = 900) {
    std::vector<ReferenceRow> rows;
    for (const double time_s : times) {
        rows.push_back(sample_reference("t" + std::to_string(rows.size()), time_s, session));
        rows.back().asked.sm_clock_mhz = mhz;
    }
    return rows;
}

TEST(RepeatSpread, IsTheStandardDeviationOverTheMean) {
    const RepeatSpread spread(repeats({0.98, 1.0, 1.0, 1.02}, "s1"));
    // squares: 2 * 0.0004, three degrees of freedom
    EXPECT_NEAR(spread.of("cpu-test", "s1"), std::sqrt(0.0008 / 3), 1e-12);
}

TEST(RepeatSpread, IsNotKnownWithoutRepeats) {
    EXPECT_TRUE(std::isnan(RepeatSpread({}).of("cpu-test", "s1")));
    EXPECT_TRUE(std::isnan(RepeatSpread(repeats({1.0}, "s1")).of("cpu-test", "s1")));
    EXPECT_TRUE(std::isnan(RepeatSpread(repeats({1, 2, 3, 4}, "s1")).of("another-device", "s1")));
}

TEST(RepeatSpread, DoesNotTakeAnotherClockForSpread) {
    auto rows = repeats({1, 1, 1}, "s1", 900);
    for (const ReferenceRow& row : repeats({2, 2, 2}, "s1", 450)) rows.push_back(row);
    EXPECT_EQ(RepeatSpread(rows).of("cpu-test", "s1"), 0);
    rows = repeats({1, 1, 1, 1}, "s1", std::nan(""));  // as it is: one clock too
    EXPECT_EQ(RepeatSpread(rows).of("cpu-test", "s1"), 0);
}

TEST(RepeatSpread, IsThatOfDrawnPairsWhereTheyLieFurtherApart) {
    auto rows = repeats({0.98, 1.0, 1.0, 1.02}, "s1");
    for (const double second : {1.1, 0.9}) {
        for (ReferenceRow row : repeats({1.0, second}, "s1")) {
            row.operation = "x" + std::to_string(second);
            rows.push_back(row);
        }
    }
    // Pairs: (0.1 / sqrt(2) / 1.05)^2 and (0.1 / sqrt(2) / 0.95)^2, one degree of freedom each
    const double expected = std::sqrt((0.005 / (1.05 * 1.05) + 0.005 / (0.95 * 0.95)) / 2);
    EXPECT_NEAR(RepeatSpread(rows).of("cpu-test", "s1"), expected, 1e-12);
    for (ReferenceRow& row : rows)
        if (row.operation.starts_with("x")) row.time_mean_s = 1;
    EXPECT_NEAR(RepeatSpread(rows).of("cpu-test", "s1"), std::sqrt(0.0008 / 3), 1e-12);
}

TEST(RepeatSpread, BorrowsFromOtherSessionsWhenThereAreFewRepeats) {
    auto rows = repeats({0.98, 1.0, 1.0, 1.02}, "s1");
    for (const ReferenceRow& row : repeats({1.0, 1.0, 1.0}, "s2")) rows.push_back(row);
    const RepeatSpread spread(rows);
    EXPECT_NEAR(spread.of("cpu-test", "s1"), std::sqrt(0.0008 / 3), 1e-12);
    EXPECT_NEAR(spread.of("cpu-test", "s2"), std::sqrt(0.0008 / 5), 1e-12);  // three degrees and two
    EXPECT_NEAR(spread.of("cpu-test", "unknown"), std::sqrt(0.0008 / 5), 1e-12);
}

}  // namespace
}  // namespace joulecast
