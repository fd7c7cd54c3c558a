#include "joulecast/measure/energy_window.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "tests/measure/simulated_bench.h"

namespace joulecast {
namespace {

constexpr double call_s = 1e-3;

struct Bench {
    SimulatedBench bench;
    SimulatedCalls calls{bench, call_s};
    SimulatedMeter meter{bench, true};
    EnergyRule rule;
    MeterTraits traits;

    explicit Bench(bool apart = true) {
        if (apart) calls.issue_s = 10e-6;
        rule.call_s = call_s;
        traits.read_cost_s = 100e-6;
        traits.idle_power_w = 50.0;
    }
    EnergyResult take() { return measure_energy(calls, meter, bench, rule, traits); }
};

TEST(EnergyWindow, GivesJoulesOfACallGrossAndAboveIdle) {
    Bench bench;
    const EnergyResult result = bench.take();
    ASSERT_TRUE(result.summary) << result.missing_reason;
    // 250 W for 1 ms; 200 W of them above idle.
    EXPECT_NEAR(result.summary->energy_j, 0.25, 0.25 * 0.005);
    EXPECT_NEAR(result.summary->dynamic_energy_j, 0.2, 0.2 * 0.005);
    EXPECT_NEAR(result.summary->power_w, 250.0, 0.5);
    EXPECT_EQ(result.summary->idle_power_w, 50.0);
    EXPECT_EQ(result.summary->gain_error, 0.05);
    EXPECT_EQ(result.summary->meter, "simulated-counter");
    EXPECT_FALSE(result.summary->suspect);
}

TEST(EnergyWindow, CountsRenewalsOfTheMeterAndNotReads) {
    Bench bench;
    const EnergyResult result = bench.take();
    ASSERT_TRUE(result.summary);
    EXPECT_EQ(result.summary->ticks, 6);  // 0.6 s of 100 ms
    EXPECT_NEAR(result.summary->window_s, 0.6, 0.01);
    EXPECT_GT(bench.meter.reads, 100);
}

TEST(EnergyWindow, LastsSixPeriodsOfTheMeterButFiveSecondsAtMost) {
    EnergyRule rule;
    MeterTraits traits;
    traits.period_s = 0.1;
    EXPECT_DOUBLE_EQ(window_length(rule, traits), 0.6);
    traits.period_s = 0.001;
    EXPECT_DOUBLE_EQ(window_length(rule, traits), 0.6);
    traits.period_s = 0.5;
    EXPECT_DOUBLE_EQ(window_length(rule, traits), 3.0);
    traits.period_s = 1.0;
    EXPECT_DOUBLE_EQ(window_length(rule, traits), 5.0);
}

TEST(EnergyWindow, KeepsTheQueueOfADeviceApartFilled) {
    Bench bench;
    ASSERT_TRUE(bench.take().summary);
    EXPECT_EQ(bench.bench.gaps_s, 0.0);
    // No deeper than a few chunks of 2 ms: what is queued runs on after the window.
    EXPECT_LE(bench.calls.most_pending, 8);
}

TEST(EnergyWindow, ReplaysWholeGraphs) {
    Bench bench;
    bench.calls.multiple = 7;
    ASSERT_TRUE(bench.take().summary);
    EXPECT_EQ(bench.calls.uneven, 0);
}

TEST(EnergyWindow, IgnoresWhatTheMeterSaysBeforeItHasSettled) {
    Bench bench;
    const double start = bench.bench.time();
    // Half the power for the first 0.29 s.
    bench.bench.busy_w = [start](double time) { return time < start + 0.29 ? 125.0 : 250.0; };
    const EnergyResult settled = bench.take();
    ASSERT_TRUE(settled.summary);
    EXPECT_NEAR(settled.summary->power_w, 250.0, 0.5);

    // Told that the load has been on already, it does not wait.
    Bench hasty;
    hasty.rule.load_on_s = 0.3;
    const double hasty_start = hasty.bench.time();
    ASSERT_TRUE(hasty.take().summary);
    EXPECT_LT(hasty.bench.time() - hasty_start, 0.75);
}

TEST(EnergyWindow, OnADeviceInStepTheReadsBetweenTheCallsAreNotCalls) {
    Bench bench(false);
    bench.meter.read_cost_s = 200e-6;
    bench.traits.read_cost_s = 200e-6;
    const EnergyResult result = bench.take();
    ASSERT_TRUE(result.summary);
    // A twelfth of the window goes into reads at 50 W (a sixth while looking for a renewal, which is half of the time):
    // uncorrected, the joules would be 6.7 % short. Half of that is made up for, the other half is error.
    EXPECT_NEAR(result.summary->energy_j, 0.25, 0.25 * 0.045);
    EXPECT_NEAR(result.summary->energy_j, 0.25, 1.1 * result.summary->half_width_j);
    EXPECT_LT(result.summary->half_width_j, 0.25 * 0.06);
}

TEST(EnergyWindow, PowerIsIntegratedWhereNothingCounts) {
    for (const bool apart : {true, false}) {
        Bench bench(apart);
        SimulatedMeter power(bench.bench, false);
        bench.bench.period_s = bench.traits.period_s = 0.025;
        // A ripple of 20 W and 7 Hz, which averages out over the window's 4.2 turns but for a fifth of a turn.
        bench.bench.busy_w = [](double time) { return 250.0 + 20.0 * std::sin(2.0 * 3.14159265 * 7.0 * time); };
        const EnergyResult result = measure_energy(bench.calls, power, bench.bench, bench.rule, bench.traits);
        ASSERT_TRUE(result.summary) << result.missing_reason;
        EXPECT_NEAR(result.summary->power_w, 250.0, 250.0 * 0.01);
        EXPECT_NEAR(result.summary->energy_j, 0.25, 0.25 * 0.01);
        EXPECT_NEAR(static_cast<double>(result.summary->ticks), 24.0, 6.0);  // 0.6 s / 25 ms
        // At half the period, not as fast as the host can.
        EXPECT_LT(power.reads, 100);
    }
}

TEST(EnergyWindow, SteadyPowerThatNeverChangesIsRenewedOnceAPeriod) {
    Bench bench;
    SimulatedMeter power(bench.bench, false);
    const EnergyResult result = measure_energy(bench.calls, power, bench.bench, bench.rule, bench.traits);
    ASSERT_TRUE(result.summary) << result.missing_reason;
    EXPECT_NEAR(result.summary->energy_j, 0.25, 0.25 * 0.001);
    EXPECT_NEAR(static_cast<double>(result.summary->ticks), 6.0, 1.0);
}

TEST(EnergyWindow, TellsThermalDrift) {
    Bench bench;
    const double start = bench.bench.time();
    // 2 % of 250 W more with every second.
    bench.bench.busy_w = [start](double time) { return 250.0 + 5.0 * (time - start); };
    const EnergyResult result = bench.take();
    ASSERT_TRUE(result.summary);
    EXPECT_NEAR(result.summary->drift_per_s, 0.02, 0.004);
    Bench steady;
    EXPECT_NEAR(steady.take().summary->drift_per_s, 0.0, 0.005);
}

TEST(EnergyWindow, CallsLongerThanAPeriodAndTheWindowAreSeenThreeTimes) {
    Bench bench(false);
    SimulatedCalls slow(bench.bench, 0.5);
    bench.rule.call_s = 0.5;
    const EnergyResult result = measure_energy(slow, bench.meter, bench.bench, bench.rule, bench.traits);
    ASSERT_TRUE(result.summary) << result.missing_reason;
    EXPECT_GE(result.summary->ticks, 3);
    // Each read tells the energy of up to 100 ms ago: of 1.5 s that may be 7 %, and the interval holds the truth.
    EXPECT_NEAR(result.summary->energy_j, 125.0, result.summary->half_width_j);
    EXPECT_NEAR(result.summary->energy_j, 125.0, 125.0 * 0.07);
}

TEST(EnergyWindow, LaunchBoundCallsWithoutAGraphAreFreedOfTheWaiting) {
    Bench bench;
    // The host takes 50 us for a call that keeps the device busy for 10: the mean power is 50 + 0.2 x 200 = 90 W.
    SimulatedCalls tiny(bench.bench, 10e-6);
    tiny.issue_s = 50e-6;
    bench.rule.call_s = 10e-6;
    bench.rule.waits_between_calls = true;
    const EnergyResult result = measure_energy(tiny, bench.meter, bench.bench, bench.rule, bench.traits);
    ASSERT_TRUE(result.summary) << result.missing_reason;
    EXPECT_NEAR(result.summary->energy_j, 250.0 * 10e-6, 0.1 * 250.0 * 10e-6);
    EXPECT_NEAR(result.summary->dynamic_energy_j, 200.0 * 10e-6, 0.1 * 200.0 * 10e-6);

    bench.traits.idle_power_w = std::numeric_limits<double>::quiet_NaN();
    const EnergyResult unknown = measure_energy(tiny, bench.meter, bench.bench, bench.rule, bench.traits);
    EXPECT_FALSE(unknown.summary);
    EXPECT_NE(unknown.missing_reason.find("launch-bound"), std::string::npos);
}

TEST(EnergyWindow, AMeterLostHalfWayIsAReasonAndNotAnEnd) {
    Bench bench;
    bench.meter.lost_at_s = bench.bench.time() + 0.5;
    const EnergyResult result = bench.take();
    EXPECT_FALSE(result.summary);
    EXPECT_NE(result.missing_reason.find("fell off the bus"), std::string::npos);
    EXPECT_EQ(bench.calls.pending(), 0);
}

TEST(EnergyWindow, ACounterThatStandsStillUnderLoadIsLost) {
    Bench bench;
    bench.meter.stuck = true;
    const EnergyResult result = bench.take();
    EXPECT_FALSE(result.summary);
    EXPECT_NE(result.missing_reason.find("did not move"), std::string::npos);
}

/// Root mean square of the relative error of simulated 0.6 s windows on a counter of 100 ms, that begin anywhere.
double rms_error(bool aligned) {
    constexpr int trials = 60;
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> phase(0.0, 0.1);
    double sum = 0.0;
    for (int trial = 0; trial < trials; ++trial) {
        Bench bench;
        bench.bench.step_s = 1.0;
        bench.meter.read_cost_s = bench.traits.read_cost_s = 300e-6;
        bench.bench.advance(phase(random));
        double power = 0.0;
        if (aligned) {
            power = bench.take().summary->power_w;
        } else {
            // What everybody does: read, run for about 0.6 s, read.
            bench.calls.run(300, false);
            const MeterReading before = bench.meter.read();
            bench.calls.run(550 + static_cast<std::int64_t>(1000.0 * phase(random)), false);
            const MeterReading after = bench.meter.read();
            power = (after.energy_j - before.energy_j) / (after.time_s - before.time_s);
        }
        sum += std::pow(power / 250.0 - 1.0, 2);
    }
    return std::sqrt(sum / trials);
}

// A stale reading at both ends is uniform in 0 to 100 ms each: sqrt(2 / 12) x 100 / 600 = 6.8 %.
TEST(EnergyWindow, UnalignedEdgesCostSevenPercentAndAlignedNextToNothing) {
    EXPECT_NEAR(rms_error(false), 0.068, 0.02);
    EXPECT_LT(rms_error(true), 0.0028);
}

/// Calls whose power depends on how far into them the device is.
class PhasedCalls final : public Workload {
  public:
    PhasedCalls(SimulatedBench& bench, double seconds, double& busy_since_s)
        : calls_(bench, seconds), bench_(bench), busy_since_s_(busy_since_s) {}
    void run(std::int64_t calls, bool hot) override {
        issue(calls, hot);
        wait();
    }
    std::int64_t rotation() const override { return 1; }
    bool runs_apart() const override { return true; }
    void issue(std::int64_t calls, bool hot) override {
        calls_.issue_s = 10e-6;
        if (bench_.busy_until() <= bench_.time()) busy_since_s_ = bench_.time() + calls_.issue_s;
        calls_.issue(calls, hot);
    }
    std::int64_t pending() override { return calls_.pending(); }
    void wait() override { calls_.wait(); }

  private:
    SimulatedCalls calls_;
    SimulatedBench& bench_;
    double& busy_since_s_;
};

/// Power under load as a series of means over `step_s`, by `next`.
std::function<double(double)> noisy_power(double start_s, double step_s, const std::function<double()>& next) {
    std::vector<double> series;
    for (int i = 0; i < 400; ++i) series.push_back(next());
    return [start_s, step_s, series](double time_s) {
        const auto at = static_cast<std::size_t>(std::max(0.0, (time_s - start_s) / step_s + 1e-6));
        return series[std::min(at, series.size() - 1)];
    };
}

/// Share of simulated windows whose interval holds the energy of a call at the noise's mean power, 250 W.
double coverage(double period_s, const std::function<std::function<double()>(std::mt19937_64&)>& noise) {
    constexpr int trials = 300;
    constexpr double long_call_s = 2e-3;
    std::mt19937_64 random(20260728);
    int held = 0;
    for (int trial = 0; trial < trials; ++trial) {
        SimulatedBench bench;
        bench.period_s = bench.step_s = period_s;
        bench.busy_w = noisy_power(bench.next_tick() - 2.0 * period_s, period_s, noise(random));
        SimulatedCalls calls(bench, long_call_s);
        calls.issue_s = 10e-6;
        calls.pending_cost_s = 200e-6;
        SimulatedMeter meter(bench, period_s > 0.05);
        meter.read_cost_s = 500e-6;
        EnergyRule rule;
        rule.call_s = long_call_s;
        rule.load_on_s = 0.2;
        MeterTraits traits;
        traits.period_s = period_s;
        traits.read_cost_s = meter.read_cost_s;
        const EnergyResult result = measure_energy(calls, meter, bench, rule, traits);
        if (!result.summary) continue;
        held += std::abs(result.summary->energy_j - 250.0 * long_call_s) <= result.summary->half_width_j ? 1 : 0;
    }
    return static_cast<double>(held) / trials;
}

std::function<double()> independent(std::mt19937_64& random) {
    return [&random, normal = std::normal_distribution<double>(250.0, 5.0)]() mutable { return normal(random); };
}
std::function<double()> autocorrelated(std::mt19937_64& random) {
    return [&random, normal = std::normal_distribution<double>(0.0, 5.0), state = 0.0]() mutable {
        state = 0.5 * state + normal(random);
        return 250.0 + state;
    };
}
/// 2 % of the stretches draw a fifth more.
std::function<double()> with_outliers(std::mt19937_64& random) {
    return [&random, normal = std::normal_distribution<double>(249.0, 5.0),
            outlier = std::bernoulli_distribution(0.02)]() mutable {
        const double watts = normal(random);
        return outlier(random) ? watts + 50.0 : watts;
    };
}

// 300 windows have a standard error of 0.013 at 0.95 and 0.022 at 0.83: three of them either side.
TEST(EnergyCoverage, OfTwentyFourSamplesOfPowerIsThatOfTheTimingRule) {
    EXPECT_NEAR(coverage(0.025, independent), 0.95, 0.04);
    EXPECT_NEAR(coverage(0.025, autocorrelated), 0.91, 0.055);
    EXPECT_NEAR(coverage(0.025, with_outliers), 0.90, 0.055);
}

// Six ticks are too few to see an autocorrelation in: there the interval holds the truth less often, and docs say so.
TEST(EnergyCoverage, OfSixTicksOfACounterSuffersFromAutocorrelation) {
    EXPECT_NEAR(coverage(0.1, independent), 0.96, 0.035);
    EXPECT_NEAR(coverage(0.1, autocorrelated), 0.83, 0.065);
    EXPECT_NEAR(coverage(0.1, with_outliers), 0.95, 0.04);
}

/// Root mean square of the relative error with a sensor that sees the last quarter of each 100 ms, for calls of exactly
/// 100 ms that draw 400 W in their first half and 100 W in their second.
double rms_error_in_step(double duty_known) {
    constexpr int trials = 40;
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> phase(0.0, 0.1);
    double sum = 0.0;
    for (int trial = 0; trial < trials; ++trial) {
        SimulatedBench bench;
        bench.duty = 0.25;
        bench.step_s = 5e-3;
        bench.advance(phase(random));
        double busy_since_s = 0.0;
        bench.busy_w = [&](double time_s) {
            const double into_s = std::fmod(std::max(0.0, time_s - busy_since_s) + 1e-9, 0.1);
            return into_s < 0.05 ? 400.0 : 100.0;
        };
        PhasedCalls calls(bench, 0.1, busy_since_s);
        SimulatedMeter meter(bench, true);
        meter.read_cost_s = 500e-6;
        EnergyRule rule;
        rule.call_s = 0.1;
        rule.seed = static_cast<std::uint64_t>(trial) + 1;
        MeterTraits traits;
        traits.duty = duty_known;
        traits.read_cost_s = meter.read_cost_s;
        traits.idle_power_w = bench.idle_w;
        const EnergyResult result = measure_energy(calls, meter, bench, rule, traits);
        sum += std::pow(result.summary->power_w / 250.0 - 1.0, 2);
    }
    return std::sqrt(sum / trials);
}

TEST(EnergyWindow, CallsInStepWithASensorThatLooksAwayAreShiftedAgainstIt) {
    // A quarter of each call is seen, and always the same one: 400 W or 100 W instead of 250, or a mixture.
    EXPECT_GT(rms_error_in_step(1.0), 0.3);
    // Some 22 pauses spread over the call: what each of them sees is off by up to 60 %, over sqrt(22) 10 %.
    EXPECT_LT(rms_error_in_step(0.25), 0.15);
}

}  // namespace
}  // namespace joulecast
