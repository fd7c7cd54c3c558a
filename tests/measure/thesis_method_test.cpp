#include "joulecast/measure/thesis_method.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "joulecast/measure/measure.h"
#include "tests/measure/simulated_bench.h"

namespace joulecast {
namespace {

std::vector<PowerSample> log_of(const std::vector<double>& watts) {
    std::vector<PowerSample> log;
    for (const double w : watts) log.push_back({0.01 * static_cast<double>(log.size()), w});
    return log;
}

TEST(ThesisPower, DropsWhatLiesOutsideThreeSigmaOfTheMean) {
    // Twenty samples of 182.11 and 178.50 W in turn and one of 40 W: mean 173.62, sigma 30.68 (n - 1), so the channel
    // reaches from 81.6 to 265.7 W and the 40 W of the start stay out.
    std::vector<double> watts(20);
    for (std::size_t i = 0; i < watts.size(); ++i) watts[i] = i % 2 == 0 ? 182.11 : 178.50;
    watts.insert(watts.begin(), 40.0);
    const ThesisPower power = thesis_power(log_of(watts));
    EXPECT_EQ(power.samples, 20);
    EXPECT_EQ(power.dropped, 1);
    EXPECT_NEAR(power.mean_w, 180.305, 1e-9);
    // Deviations of 1.805 W, twenty of them over 19: 1.805 sqrt(20 / 19)
    EXPECT_NEAR(power.sigma_w, 1.805 * std::sqrt(20.0 / 19.0), 1e-9);
}

TEST(ThesisPower, ASteadyLogKeepsAllItsLines) {
    const ThesisPower power = thesis_power(log_of({100.0, 100.0, 100.0}));
    EXPECT_EQ(power.samples, 3);
    EXPECT_EQ(power.mean_w, 100.0);
    EXPECT_EQ(power.sigma_w, 0.0);
}

TEST(ThesisPower, LinesWithoutANumberAreLeftOut) {
    EXPECT_EQ(thesis_power(log_of({100.0, std::nan(""), 102.0})).samples, 2);
    EXPECT_TRUE(std::isnan(thesis_power(log_of({100.0})).mean_w));
}

TEST(ThesisResult, DividesTimeAndEnergyByTheIterations) {
    ThesisPower power;
    power.mean_w = 180.0;
    power.sigma_w = 9.0;
    const ThesisResult result = thesis_result(power, 5.0, 0.1, 1000);
    EXPECT_DOUBLE_EQ(result.time_s, 5e-3);           // (3.6)
    EXPECT_DOUBLE_EQ(result.time_sigma_s, 1e-4);     // (3.8)
    EXPECT_DOUBLE_EQ(result.energy_j, 0.9);          // (3.4), (3.7): 180 W x 5 s / 1000
    EXPECT_DOUBLE_EQ(result.energy_sigma_j, 0.045);  // (3.5), (3.9): 9 W x 5 s / 1000
}

struct Rig {
    SimulatedBench bench;
    SimulatedCalls calls{bench, 1e-3};
    ClockBlockTimer timer{bench};
    SimulatedMeter meter{bench, false};

    // nvidia-smi writes the log beside the run: looking at it costs next to nothing.
    Rig() { meter.read_cost_s = 1e-6; }
    Measurement measure(Meter* with) {
        MeasureSettings settings;
        settings.method = Method::thesis;
        Measurement measurement;
        measure_calls({{&calls}, {}, true, {}}, {bench, timer, with, "none here", {}, nullptr}, settings, measurement);
        return measurement;
    }
};

TEST(ThesisMethod, RunsForSecondsAndReportsItsOwnNumbers) {
    Rig rig;
    const double start_s = rig.bench.time();
    const Measurement measurement = rig.measure(&rig.meter);
    EXPECT_GE(rig.bench.time() - start_s, 5.0);
    EXPECT_LT(rig.bench.time() - start_s, 6.0);
    EXPECT_NEAR(measurement.time.mean_s, 1e-3, 1e-6);
    ASSERT_TRUE(measurement.energy) << measurement.energy_missing_reason;
    EXPECT_NEAR(measurement.energy->power_w, 250.0, 1.0);
    EXPECT_NEAR(measurement.energy->energy_j, 0.25, 0.001);
    // Lines of the log, not renewals of the sensor, of which there were 50.
    EXPECT_GT(measurement.energy->ticks, 300);
    EXPECT_TRUE(std::isnan(measurement.energy->dynamic_energy_j));
    EXPECT_EQ(measurement.energy->meter, "simulated-power");
    EXPECT_EQ(measurement.outcome, Outcome::ok);
    EXPECT_FALSE(measurement.hot);
}

TEST(ThesisMethod, WithoutAMeterThereIsTimeAndAReason) {
    Rig rig;
    const Measurement none = rig.measure(nullptr);
    EXPECT_NEAR(none.time.mean_s, 1e-3, 1e-6);
    EXPECT_EQ(none.energy_missing_reason, "none here");
    Rig lost;
    lost.meter.lost_at_s = lost.bench.time() + 2.0;
    const Measurement half = lost.measure(&lost.meter);
    EXPECT_FALSE(half.energy);
    EXPECT_NE(half.energy_missing_reason.find("fell off the bus"), std::string::npos);
}

// What is wrong about it, and why our own method counts renewals: a log of 1 ms lines from a sensor that renews itself
// every 100 ms repeats each value a hundred times, and an error of the mean from all lines is ten times too small.
TEST(ThesisMethod, TakingLinesForIndependentHoldsTheTruthInOneOfSixRuns) {
    std::mt19937_64 random(9);
    std::normal_distribution<double> noise(200.0, 5.0);
    constexpr int trials = 600;
    int held = 0;
    for (int trial = 0; trial < trials; ++trial) {
        std::vector<double> watts;
        for (int renewal = 0; renewal < 30; ++renewal) watts.insert(watts.end(), 100, noise(random));
        const ThesisPower power = thesis_power(log_of(watts));
        const double error_of_mean = power.sigma_w / std::sqrt(static_cast<double>(power.samples));
        held += std::abs(power.mean_w - 200.0) <= 1.96 * error_of_mean ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(held) / trials, 0.16, 0.05);
}

}  // namespace
}  // namespace joulecast
