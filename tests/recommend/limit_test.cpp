#include "joulecast/recommend/limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/recommend/candidates.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;

TEST(Job, CountsRunsUpAndPricesThem) {
    Candidate c = run_of("d", 36, 7.2e5);  // a hundredth of an hour, 0.2 kWh
    c.samples = 32;
    c.device_per_hour = 2;
    const JobCost cost = job_cost(c, {.samples = 1000}, {.electricity_per_kwh = 0.25, .carbon_g_per_kwh = 400});
    EXPECT_EQ(cost.runs, 32) << "31.25 runs: the last one is a part and takes as long";
    EXPECT_DOUBLE_EQ(cost.hours, 0.32);
    EXPECT_DOUBLE_EQ(cost.kwh, 6.4);
    EXPECT_DOUBLE_EQ(cost.price, 2 * 0.32 + 0.25 * 6.4);
    EXPECT_DOUBLE_EQ(cost.carbon_g, 400 * 6.4);
}

TEST(Limit, TellsTheChanceThatItIsHeld) {
    // The limit is the upper end of the 90 % interval: 5 % are above.
    const Candidate c = with_spread(run_of("d", 1, 100), 0.2, 0.2);
    const Goal goal{.limits = {.time_s = 1.2, .power_w = 100}};
    const auto held = held_limits(c, goal);
    ASSERT_EQ(held.size(), 2U);
    EXPECT_EQ(held[0].rule->flag, "--max-time");
    EXPECT_NEAR(held[0].chance, 0.95, 1e-4);
    EXPECT_EQ(held[1].chance, 1) << "at the limit, and without an interval";
}

TEST(Limit, OfASlowdownIsOverTheDefaultWithTheRatiosOwnInterval) {
    Candidate c = with_spread(run_of("d", 1, 100), 0.5, 0.5);
    c.over_default.time = {Ratio(1.08), Ratio(1.08 / 1.02), Ratio(1.08 * 1.02)};
    c.over_default.energy = {Ratio(0.9), Ratio(0.9), Ratio(0.9)};
    const auto held = held_limits(c, {.limits = {.time_ratio = 1.08 * 1.02, .energy_ratio = 0.8}});
    ASSERT_EQ(held.size(), 2U);
    EXPECT_EQ(held[0].rule->flag, "--max-slowdown");
    EXPECT_NEAR(held[0].chance, 0.95, 1e-4) << "not the interval of the time, which is far wider";
    EXPECT_EQ(held[1].rule->flag, "--max-energy");
    EXPECT_EQ(held[1].chance, 0);
}

TEST(Limit, OfAPriceIsThatOfTheJobWhereThereIsOne) {
    Candidate c = run_of("d", 3600, 1);
    c.device_per_hour = 2;
    Goal goal{.limits = {.price = 5}};
    EXPECT_DOUBLE_EQ(held_limits(c, goal)[0].value, 2);
    goal.job = Job{3};
    EXPECT_DOUBLE_EQ(held_limits(c, goal)[0].value, 6);
}

TEST(Unfit, IsWhatTheMemoryCannotHold) {
    Candidate c = run_of("d", 1, 1);
    c.memory.value = Bytes(9e9);
    EXPECT_FALSE(unfit(c)) << "nobody knows the device's memory";
    c.device_memory = 8e9;
    ASSERT_TRUE(unfit(c));
    EXPECT_EQ(unfit(c)->kind, Unfit::Kind::memory);
    EXPECT_EQ(unfit(c)->reason, "needs 9 GB of the device's 8 GB");
    c.overflow = "needs 1 GB too much: a smaller batch";
    EXPECT_EQ(unfit(c)->reason, c.overflow);
    c.device_memory = 9e9;
    EXPECT_FALSE(unfit(c));
}

TEST(Unfit, IsAClockBelowTheFloorButForTheDefault) {
    Candidate c = run_of("d", 1, 1);
    c.real.sm_clock_mhz = 500;
    c.lowest_clock_mhz = 600;
    ASSERT_TRUE(unfit(c));
    EXPECT_EQ(unfit(c)->kind, Unfit::Kind::clock);
    EXPECT_THAT(unfit(c)->reason, HasSubstr("runs at 500 MHz, below the 600 MHz"));
    c.is_default = true;
    EXPECT_FALSE(unfit(c)) << "a power limit as sold may hold a device that low";
}

class Empty : public ::testing::Test {
  protected:
    Emptiness why(const Goal& goal) const {
        std::vector<std::size_t> fit;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            if (!unfit(candidates[i])) fit.push_back(i);
        }
        return why_empty(candidates, fit, goal);
    }
    std::vector<Candidate> candidates{run_of("fast", 1, 100), run_of("frugal", 2, 60)};
};

TEST_F(Empty, NamesEveryLimitThatNobodyHoldsAndTheNearest) {
    const Emptiness because = why({.limits = {.time_s = 0.8, .power_w = 20, .memory_bytes = 1e9}});
    EXPECT_FALSE(because.together);
    ASSERT_EQ(because.binding.size(), 2U);
    EXPECT_EQ(because.binding[0].rule->name, "time");
    EXPECT_EQ(because.binding[0].candidate, 0U);
    EXPECT_DOUBLE_EQ(because.binding[0].excess(), 0.25);
    EXPECT_EQ(because.binding[1].rule->name, "power");
    EXPECT_EQ(because.binding[1].candidate, 1U);
    EXPECT_DOUBLE_EQ(because.binding[1].nearest, 30) << "60 J in 2 s";
}

TEST_F(Empty, NamesTheSmallestBreachWhereEachLimitCanBeHeld) {
    // fast holds the time and draws 100 W of 50 (100 % too much), frugal takes 2 s of 1.5 (33 %) and holds the power.
    const Emptiness because = why({.limits = {.time_s = 1.5, .power_w = 50}});
    EXPECT_TRUE(because.together);
    ASSERT_EQ(because.binding.size(), 1U);
    EXPECT_EQ(because.binding[0].rule->name, "time");
    EXPECT_EQ(because.binding[0].candidate, 1U);
    EXPECT_NEAR(because.binding[0].excess(), 1.0 / 3, 1e-12);
}

TEST_F(Empty, IsTheMemoryWhereNothingFits) {
    for (Candidate& c : candidates) c.device_memory = 8e9;
    candidates[0].memory.value = Bytes(20e9);
    candidates[1].memory.value = Bytes(10e9);
    const Emptiness because = why({.limits = {.time_s = 0.8}});
    ASSERT_EQ(because.binding.size(), 1U);
    EXPECT_EQ(because.binding[0].rule, nullptr);
    EXPECT_EQ(because.binding[0].candidate, 1U);
    EXPECT_DOUBLE_EQ(because.binding[0].excess(), 0.25);
}

}  // namespace
}  // namespace joulecast::testing
