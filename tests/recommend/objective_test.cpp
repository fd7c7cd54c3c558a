#include "joulecast/recommend/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/recommend/candidates.h"

namespace joulecast::testing {
namespace {

/// Two samples in 4 s for 7200 J at 3 an hour: of a sample 2 s, 3600 J, 1 Wh.
Candidate pair_of_samples() {
    Candidate c = run_of("d", 4, 7200);
    c.samples = 2;
    c.device_per_hour = 3;
    return c;
}

TEST(Objective, CountsEverythingPerSample) {
    const Prices prices{.electricity_per_kwh = 0.25, .carbon_g_per_kwh = 400};
    const auto of = [&](Objective objective) { return per_sample(pair_of_samples(), objective, prices); };
    EXPECT_DOUBLE_EQ(of(Objective::time), 2);
    EXPECT_DOUBLE_EQ(of(Objective::energy), 3600);
    EXPECT_DOUBLE_EQ(of(Objective::edp), 3600 * 2);
    EXPECT_DOUBLE_EQ(of(Objective::ed2p), 3600 * 2 * 2);
    EXPECT_DOUBLE_EQ(of(Objective::carbon), 0.4) << "400 g a kWh, and a sample takes a thousandth of one";
    EXPECT_DOUBLE_EQ(of(Objective::price), 3.0 * 2 / 3600 + 0.25 / 1000);
}

TEST(Objective, TakesOnePriceWhereOnlyOneIsGiven) {
    EXPECT_DOUBLE_EQ(per_sample(pair_of_samples(), Objective::price, {}), 3.0 * 2 / 3600);
    Candidate owned = pair_of_samples();
    owned.device_per_hour = Candidate::unknown;
    EXPECT_DOUBLE_EQ(per_sample(owned, Objective::price, {.electricity_per_kwh = 0.25}), 0.25 / 1000);
}

TEST(Objective, IsNotKnownWhereSomethingItNeedsIsNot) {
    Candidate unmetered = pair_of_samples();
    unmetered.energy = {};
    const Prices prices{.electricity_per_kwh = 0.25, .carbon_g_per_kwh = 400};
    for (const ObjectiveRule& one : objectives()) {
        EXPECT_EQ(std::isnan(per_sample(unmetered, one.objective, prices)), one.objective != Objective::time)
            << one.name;
    }
    EXPECT_DOUBLE_EQ(per_sample(unmetered, Objective::price, {}), 3.0 * 2 / 3600)
        << "without a price of electricity its energy does not matter";
    unmetered.device_per_hour = Candidate::unknown;
    EXPECT_TRUE(std::isnan(per_sample(unmetered, Objective::price, {})));
}

TEST(Objective, SaysWhichPriceIsMissing) {
    EXPECT_THAT(missing_prices(Objective::carbon, {}, true).value(), ::testing::HasSubstr("--carbon"));
    EXPECT_THAT(missing_prices(Objective::price, {}, false).value(), ::testing::HasSubstr("--electricity-price"));
    EXPECT_FALSE(missing_prices(Objective::price, {}, true));
    EXPECT_FALSE(missing_prices(Objective::price, {.electricity_per_kwh = 0.25}, false));
    EXPECT_FALSE(missing_prices(Objective::energy, {}, false));
}

TEST(Objective, IsFoundByItsWord) {
    for (const ObjectiveRule& one : objectives()) EXPECT_EQ(parse_objective(one.name), one.objective);
    EXPECT_EQ(parse_objective("money"), std::nullopt);
}

}  // namespace
}  // namespace joulecast::testing
