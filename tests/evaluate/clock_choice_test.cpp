#include "joulecast/evaluate/clock_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "joulecast/error.h"

namespace joulecast {
namespace {

/// Energy is least at 0.6, energy times time at 0.8 (11.5 against 14.4 and 12.6).
const std::vector<ClockOption> u_curve{{0.4, 2.5, 11}, {0.6, 1.6, 9}, {0.8, 1.15, 10}, {0.9, 1.05, 12}, {1.0, 1.0, 14}};

TEST(ClockChoice, FindsTheLeastOfEachObjective) {
    EXPECT_EQ(best_option(u_curve, ClockObjective::energy), 1U);
    EXPECT_EQ(best_option(u_curve, ClockObjective::edp), 2U);                // 11.5 J s
    EXPECT_EQ(best_option(u_curve, ClockObjective::energy_within_1_1), 3U);  // 1.05 s is within 1.1 s, 1.15 s is not
    EXPECT_EQ(best_option(u_curve, ClockObjective::energy_within_1_2), 2U);
    EXPECT_EQ(best_option(u_curve, ClockObjective::energy, 0.7), 2U);  // not below the floor
    EXPECT_THROW(best_option({}, ClockObjective::energy), Error);
}

TEST(ClockChoice, RegretIsWhatAChoiceCostsMoreThanTheBest) {
    EXPECT_DOUBLE_EQ(regret_of(u_curve, 1, ClockObjective::energy), 0);
    EXPECT_DOUBLE_EQ(regret_of(u_curve, 4, ClockObjective::energy), 14.0 / 9 - 1);
    EXPECT_DOUBLE_EQ(regret_of(u_curve, 4, ClockObjective::edp), 14 / 11.5 - 1);
    // Cheaper than any that keeps the time, but too slow: no regret, and said.
    EXPECT_DOUBLE_EQ(regret_of(u_curve, 1, ClockObjective::energy_within_1_1), 0);
    EXPECT_TRUE(is_over_limit(u_curve, 1, ClockObjective::energy_within_1_1));
    EXPECT_FALSE(is_over_limit(u_curve, 3, ClockObjective::energy_within_1_1));
    EXPECT_FALSE(is_over_limit(u_curve, 0, ClockObjective::energy));
}

TEST(ClockChoice, RulesTakeTheNearestClock) {
    EXPECT_EQ(nearest_option(u_curve, 0.68), 1U);
    EXPECT_EQ(nearest_option(u_curve, 1), 4U);
}

TEST(ClockChoice, TheBestConstantClockIsThatOfAllWorkloads) {
    // Both are served best at 0.6: the other one loses more by 0.8 than the first by 0.6.
    const std::vector<std::vector<ClockOption>> workloads{u_curve, {{0.6, 1.2, 5}, {0.8, 1.1, 9}, {1, 1, 12}}};
    EXPECT_NEAR(best_constant_share(workloads, ClockObjective::energy), 0.69, 0.011);  // the highest that means 0.6
    // Within 1.2 of the time on average: 0.6 takes 1.6 and 1.2, so 0.8.
    const double kept = best_constant_share(workloads, ClockObjective::energy_within_1_2);
    EXPECT_EQ(nearest_option(u_curve, kept), 2U);
}

TEST(ClockChoice, IsSummarisedByRuleAndObjective) {
    const std::vector<ClockChoice> choices{{"a", ClockObjective::energy, "one", 0.1, false},
                                           {"b", ClockObjective::energy, "one", 0.0, true},
                                           {"a", ClockObjective::energy, "two", 0.3, false},
                                           {"a", ClockObjective::edp, "two", 0.5, false}};
    const auto regrets = summarised(choices, "v100");
    ASSERT_EQ(regrets.size(), 3U);
    EXPECT_EQ(regrets[0].rule, "a");
    EXPECT_EQ(regrets[0].workloads, 2);
    EXPECT_DOUBLE_EQ(regrets[0].mean, 0.2);
    EXPECT_DOUBLE_EQ(regrets[0].worst, 0.3);
    EXPECT_EQ(regrets[0].worst_workload, "two");
    EXPECT_EQ(regrets[1].over_limit, 1);
    EXPECT_EQ(regrets[2].objective, "edp");
    EXPECT_EQ(regrets[2].device, "v100");
}

}  // namespace
}  // namespace joulecast
