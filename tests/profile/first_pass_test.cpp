#include "joulecast/profile/first_pass.h"

#include <cmath>

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(FirstPass, IsAQuarterOfWhatThereIsForEachFrom30To50Milliseconds) {
    EXPECT_DOUBLE_EQ(first_pass_s(0.16).value(), 0.04);
    EXPECT_DOUBLE_EQ(first_pass_s(0.01).value(), 0.03);
    EXPECT_DOUBLE_EQ(first_pass_s(0.49).value(), 0.05);
    EXPECT_EQ(first_pass_s(0.5), std::nullopt);  // as long as the recipe takes
}

TEST(FirstPass, TimesShortlyAndLeavesOutWhatTakesLongest) {
    const MeasureSettings pass = first_pass_settings({}, 0.04);
    EXPECT_DOUBLE_EQ(pass.time_budget_s, 0.04);
    EXPECT_DOUBLE_EQ(pass.warm_up_s, 0.01);
    EXPECT_DOUBLE_EQ(pass.min_block_s, 0.5e-3);  // 80 blocks: the rule tests at 50 and 75
    EXPECT_FALSE(pass.measure_hot);
    EXPECT_FALSE(pass.measure_energy);
    EXPECT_TRUE(pass.measure_memory);
    EXPECT_DOUBLE_EQ(network_settings(pass).time_budget_s, 0.1);
    EXPECT_DOUBLE_EQ(network_settings({}).time_budget_s, MeasureSettings{}.time_budget_s);
}

TEST(FirstPass, IsToldFromTheRecipeByTheSessionsSettings) {
    Provenance provenance;
    provenance.settings = R"({"time_budget_s":0.04})";
    EXPECT_TRUE(is_of_first_pass(provenance));
    provenance.settings = R"({"time_budget_s":0.25})";
    EXPECT_FALSE(is_of_first_pass(provenance));
    for (const char* other : {"", "{}", "[1]", R"({"time_budget_s":"short"})"}) {
        provenance.settings = other;
        EXPECT_FALSE(is_of_first_pass(provenance)) << other;
    }
}

TEST(FirstPass, IsRoughWhereTheTimeHasNotSettledOrWantedEnergyIsMissing) {
    Measurement measured;
    measured.time.mean_s = 1;
    measured.time.half_width_s = 0.02;
    measured.time.converged = true;
    EXPECT_FALSE(is_rough(measured, false));
    EXPECT_TRUE(is_rough(measured, true));
    EXPECT_DOUBLE_EQ(error_s(measured, false), 0.02);
    EXPECT_DOUBLE_EQ(error_s(measured, true), 0.32);
    measured.energy.emplace();
    EXPECT_FALSE(is_rough(measured, true));
    EXPECT_DOUBLE_EQ(error_s(measured, true), 0.02);
    measured.time.converged = false;
    EXPECT_TRUE(is_rough(measured, false));
    measured.time.half_width_s = std::nan("");  // a single block: as far off as it is long
    EXPECT_DOUBLE_EQ(error_s(measured, false), 1);
    measured.outcome = Outcome::out_of_memory;
    EXPECT_FALSE(is_rough(measured, true));
}

}  // namespace
}  // namespace joulecast
