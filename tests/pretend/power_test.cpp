#include "workers/pretend/power.h"

#include <gtest/gtest.h>

namespace joulecast::pretend {
namespace {

const SpanOf busy_alone = [](const Effort& effort) { return effort.busy_s; };

Work large_product() {
    return work_of(parse_operation("aten::matmul(self=f16[8192,8192], other=f16[8192,8192])"), true);
}

Setting at(const Card& card, double sm_clock_mhz) {
    return {sm_clock_mhz, card.memory_clocks_mhz.back(), 0, Math::ieee, Host::cpp};
}

std::vector<Card> gpus() {
    std::vector<Card> cards = built_in_cards();
    std::erase_if(cards, [](const Card& card) { return !card.is_gpu(); });
    return cards;
}

TEST(PretendedPower, TheLimitIsKeptByALowerClock) {
    for (const Card& card : gpus()) {
        const Setting top = at(card, card.sm_clocks_mhz.back());
        const double limit_w = 0.7 * card.sheet.tdp_w;
        const Running running = run_within(card, large_product(), top, limit_w, busy_alone);
        EXPECT_TRUE(running.capped) << card.sheet.id;
        EXPECT_LE(running.power_w, limit_w);
        EXPECT_GT(running.power_w, 0.999 * limit_w);
        EXPECT_LT(running.setting.sm_clock_mhz, top.sm_clock_mhz);
        const Running free = run_within(card, large_product(), top, 1e9, busy_alone);
        EXPECT_FALSE(free.capped);
        EXPECT_LT(free.span_s, running.span_s);
    }
}

TEST(PretendedPower, WhereNoClockKeepsTheLimitTheLowestIsTaken) {
    const Card card = gpus().front();
    const Running running = run_within(card, large_product(), at(card, 1500), 20, busy_alone);
    EXPECT_NEAR(running.setting.sm_clock_mhz, card.sm_clocks_mhz.front(), 1e-3);
    EXPECT_GT(running.power_w, 20);
}

TEST(PretendedPower, TheVoltageIsFlatUpToTheKneeAndRisesBehind) {
    for (const Card& card : gpus()) {
        const double highest = card.sm_clocks_mhz.back();
        EXPECT_EQ(relative_voltage(card, 0.3 * highest), 1);
        EXPECT_EQ(relative_voltage(card, 0.99 * card.voltage_knee * highest), 1);
        EXPECT_NEAR(relative_voltage(card, highest), 1 + card.voltage_rise, 1e-12);
    }
}

TEST(PretendedPower, PowerRisesWithTheClockAndStandsAboveIdle) {
    for (const Card& card : gpus()) {
        double before_w = 0;
        for (const double clock : card.sm_clocks_mhz) {
            const Running running = run_within(card, large_product(), at(card, clock), 1e9, busy_alone);
            EXPECT_GT(running.power_w, before_w) << card.sheet.id << " at " << clock;
            EXPECT_GT(running.power_w, running.idle_w);
            before_w = running.power_w;
        }
    }
}

TEST(PretendedPower, EachCardHasAClockOfLeastEnergyInsideItsRange) {
    for (const Card& card : gpus()) {
        double least_j = 1e300;
        double best_mhz = 0;
        for (const double clock : card.sm_clocks_mhz) {
            const Running running = run_within(card, large_product(), at(card, clock), 1e9, busy_alone);
            if (running.power_w * running.span_s >= least_j) continue;
            least_j = running.power_w * running.span_s;
            best_mhz = clock;
        }
        EXPECT_GT(best_mhz, card.sm_clocks_mhz.front()) << card.sheet.id;
        EXPECT_LT(best_mhz, card.sm_clocks_mhz.back()) << card.sheet.id;
    }
}

/// A card of which nothing draws but what a test gives back to it.
Card dark_card() {
    Card card = gpus().front();
    card.board_w = card.memory_idle_w = card.leakage_w = card.clocked_w = 0;
    card.kelvin_per_watt = 0;
    return card;
}

TEST(PretendedPower, SwitchingFollowsTheSquareOfTheVoltageAndMemoryDoesNot) {
    const Card card = dark_card();
    const double v = 1 + card.voltage_rise;
    Effort work;
    work.busy_s = 0.5;
    work.kernels = 1;
    work.switched_j = 10;
    EXPECT_NEAR(watts(card, at(card, 300), work, 2), 5, 1e-12);
    EXPECT_NEAR(watts(card, at(card, 1500), work, 2), 5 * v * v, 1e-12);
    work.switched_j = 0;
    work.memory_j = 10;
    EXPECT_NEAR(watts(card, at(card, 1500), work, 2), 5, 1e-12);
}

TEST(PretendedPower, LeakageFollowsTheVoltageAndClocksAreGatedWhereNothingRuns) {
    Card card = dark_card();
    card.leakage_w = 10;
    card.leakage_per_c = 0;
    EXPECT_NEAR(idle_watts(card, at(card, 1500)), 10 * (1 + card.voltage_rise), 1e-12);
    card = dark_card();
    card.clocked_w = 20;
    EXPECT_NEAR(idle_watts(card, at(card, 750)), 0.5 * 20 * card.gated_share, 1e-12);
    Effort work;
    work.kernels = work.busy_s = 1;
    EXPECT_NEAR(watts(card, at(card, 750), work, 1), 0.5 * 20, 1e-12);
}

TEST(PretendedPower, DataSheetsTellAnIdlePowerNearTheTrueOne) {
    for (const Card& card : gpus())
        EXPECT_NEAR(idle_watts(card, at(card, card.sm_clocks_mhz.back())) / card.sheet.idle_w, 1, 0.15);
}

TEST(PretendedPower, TemperatureAndPowerAgree) {
    // P = (A + L (1 + c (ambient - 50))) / (1 - L c rise) has T = ambient + rise P put back into L (1 + c (T - 50)).
    Card card = gpus().front();
    const double warm_w = idle_watts(card, at(card, 300));
    const double leakage_w = card.leakage_w * (1 + card.leakage_per_c * (temperature_c(card, warm_w) - 50));
    card.leakage_w = 0;
    EXPECT_NEAR(warm_w, idle_watts(card, at(card, 300)) + leakage_w, 1e-9);
}

}  // namespace
}  // namespace joulecast::pretend
