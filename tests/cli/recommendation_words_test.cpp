#include "cli/recommendation_words.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace joulecast::cli {
namespace {

Candidate with_batch() {
    Candidate candidate;
    candidate.symbols = {{"batch", 8}};
    return candidate;
}

TEST(CostWords, EnergyAndTimeAreOfASampleOrARun) {
    EXPECT_EQ(cost_words(Objective::energy, 0.0123, with_batch()), "12.3 mJ of energy a sample");
    EXPECT_EQ(cost_words(Objective::time, 0.002, Candidate{}), "2.00 ms of time a run");
}

TEST(CostWords, MoneyIsOfAMillionSamplesAndNeverInPowersOfTen) {
    EXPECT_EQ(cost_words(Objective::price, 2.39e-07, with_batch()), "price 0.239 per million samples");
    EXPECT_EQ(cost_words(Objective::price, 2.39e-07, Candidate{}), "price 0.239 per million runs");
}

TEST(CostWords, Co2IsOfAMillionSamplesInGramsOrKilograms) {
    EXPECT_EQ(cost_words(Objective::carbon, 3.2e-05, with_batch()), "32.0 g CO2 per million samples");
    EXPECT_EQ(cost_words(Objective::carbon, 3.2e-03, with_batch()), "3.20 kg CO2 per million samples");
}

TEST(LimitWords, APriceIsOfTheJobWhereThereIsOneElseOfAMillionSamples) {
    const auto rules = limit_rules();
    const LimitRule& price = *std::ranges::find(rules, "price", &LimitRule::name);
    Goal goal;
    EXPECT_EQ(limit_words(price, 5e-07, goal), "0.5 per million samples");
    goal.job = Job{1e6};
    EXPECT_EQ(limit_words(price, 12.5, goal), "12.5");
}

}  // namespace
}  // namespace joulecast::cli
