#include "joulecast/measure/calibration.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/measure/simulated_bench.h"

namespace joulecast {
namespace {

/// A card with a counter and a power reading, both of one sensor that renews itself every 50 ms.
struct Card {
    SimulatedBench bench;
    SimulatedCalls calls{bench, 1e-3};
    SimulatedMeter counter{bench, true};
    SimulatedMeter power{bench, false};

    Card() {
        calls.issue_s = 10e-6;
        bench.period_s = 0.05;
    }
    Calibration calibrate_with(Meter& meter, Meter* second) {
        return calibrate({calls, 1e-3, meter, second, bench}, {});
    }
};

TEST(Calibration, FindsPeriodQuantumAndCostOfACounter) {
    Card card;
    card.counter.quantum = 0.75;  // 250 W x 50 ms are 16.7 of them: steps of 16 and 17
    const Calibration found = card.calibrate_with(card.counter, nullptr);
    EXPECT_NEAR(found.period_s, 0.05, 0.002);
    EXPECT_NEAR(found.quantum, 0.75, 1e-9);
    EXPECT_NEAR(found.read_cost_s, 100e-6, 1e-6);
    EXPECT_EQ(found.meter, "simulated-counter");
    // Without a power reading there is no square wave to follow and nothing to compare with.
    EXPECT_TRUE(std::isnan(found.lag_s));
    EXPECT_TRUE(std::isnan(found.busy_disagreement));
    EXPECT_FALSE(is_suspect(found));
}

TEST(Calibration, FindsIdleAndBusyPower) {
    Card card;
    const Calibration found = card.calibrate_with(card.counter, nullptr);
    EXPECT_NEAR(found.idle_power_w, 50.0, 0.5);
    EXPECT_NEAR(found.busy_power_w, 250.0, 2.5);
    const Calibration by_power = card.calibrate_with(card.power, nullptr);
    EXPECT_NEAR(by_power.idle_power_w, 50.0, 0.5);
    EXPECT_NEAR(by_power.busy_power_w, 250.0, 2.5);
}

TEST(Calibration, IdlePowerIsOfAHostThatSleeps) {
    Card card;
    card.calibrate_with(card.counter, nullptr);
    EXPECT_GT(card.bench.slept_s, 2.0);
}

TEST(Calibration, FollowsASquareWaveOfLoad) {
    Card card;
    const Calibration found = card.calibrate_with(card.power, nullptr);
    // A mean over 50 ms: the first value after the step holds a share of it, the second all of it.
    EXPECT_GE(found.lag_s, 0.0);
    EXPECT_LE(found.lag_s, 0.06);
    EXPECT_GE(found.rise_s, 0.0);
    EXPECT_LE(found.rise_s, 0.06);
}

TEST(Calibration, EnergyAndPowerMoreThanThreePercentApartAreSuspect) {
    Card agreeing;
    agreeing.power.gain = 1.02;
    const Calibration good = agreeing.calibrate_with(agreeing.counter, &agreeing.power);
    EXPECT_NEAR(good.busy_disagreement, 1.0 / 1.02 - 1.0, 0.004);
    EXPECT_NEAR(good.idle_disagreement, 1.0 / 1.02 - 1.0, 0.004);
    EXPECT_FALSE(is_suspect(good));

    Card apart;
    apart.power.gain = 1.05;
    EXPECT_TRUE(is_suspect(apart.calibrate_with(apart.counter, &apart.power)));
}

TEST(Calibration, TakesTenSecondsAtMost) {
    Card card;
    const double start_s = card.bench.time();
    card.calibrate_with(card.counter, &card.power);
    EXPECT_LT(card.bench.time() - start_s, 10.0);
    EXPECT_GT(card.bench.time() - start_s, 5.0);
}

TEST(Calibration, DecidesHowEnergyWindowsAreTaken) {
    Calibration found;
    found.period_s = 0.02;
    found.read_cost_s = 0.005;
    found.lag_s = 0.1;
    found.rise_s = 0.4;
    found.idle_power_w = 33.0;
    found.busy_disagreement = -0.04;
    MeterFacts facts;
    facts.period_s = 0.1;
    const MeterTraits traits = traits_from(found, facts);
    EXPECT_DOUBLE_EQ(traits.period_s, 0.02);
    EXPECT_DOUBLE_EQ(traits.read_cost_s, 0.005);
    EXPECT_DOUBLE_EQ(traits.settle_s, 0.9);  // 0.1 + 2 x 0.4
    EXPECT_DOUBLE_EQ(traits.idle_power_w, 33.0);
    EXPECT_TRUE(traits.suspect);
    // Nothing found: the meter's own word.
    const MeterTraits believed = traits_from(Calibration{}, facts);
    EXPECT_DOUBLE_EQ(believed.period_s, 0.1);
    EXPECT_DOUBLE_EQ(believed.settle_s, 0.3);
    EXPECT_FALSE(believed.suspect);
}

}  // namespace
}  // namespace joulecast
