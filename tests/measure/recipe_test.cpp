#include "joulecast/measure/recipe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "joulecast/measure/measure.h"

namespace joulecast {
namespace {

/// A clock that only the simulated workload moves.
class SimulatedClock final : public Clock {
  public:
    double now_s() override { return now_; }
    void advance(double seconds) { now_ += seconds; }

  private:
    double now_ = 100.0;
};

/// Calls take what `call_s` says of the number of calls done so far.
class SimulatedWorkload final : public Workload {
  public:
    SimulatedWorkload(SimulatedClock& clock, std::function<double(std::int64_t)> call_s)
        : clock_(clock), call_s_(std::move(call_s)) {}

    void run(std::int64_t calls, bool hot) override {
        runs.push_back(calls);
        hot_runs += hot ? 1 : 0;
        for (std::int64_t i = 0; i < calls; ++i) clock_.advance(call_s_(done++));
    }
    std::int64_t rotation() const override { return 4; }
    void prepare(std::int64_t calls, bool /*hot*/) override {
        prepared += calls;
        clock_.advance(prepare_s);
    }
    std::int64_t longest_run(bool /*hot*/) const override { return longest; }

    std::vector<std::int64_t> runs;
    std::int64_t done = 0;
    std::int64_t hot_runs = 0;
    std::int64_t prepared = 0;
    std::int64_t longest = std::numeric_limits<std::int64_t>::max();
    double prepare_s = 0.0;

  private:
    SimulatedClock& clock_;
    std::function<double(std::int64_t)> call_s_;
};

struct Simulation {
    SimulatedClock clock;
    std::mt19937_64 random{1};

    Timing time(SimulatedWorkload& workload, const TimingRule& rule = {}) {
        return time_calls(workload, clock, rule, false, random);
    }
};

constexpr double ten_us = 10e-6;

/// Without meter or probe: time alone.
template <class AnyMeasurement>
void measure_phases(const Calls& calls, SimulatedClock& clock, const MeasureSettings& settings,
                    AnyMeasurement& measurement) {
    ClockBlockTimer timer(clock);
    measure_calls(calls, {clock, timer, nullptr, "", {}, nullptr}, settings, measurement);
}

TEST(Recipe, SteadyCallsConvergeAtTheFirstTest) {
    Simulation simulation;
    SimulatedWorkload workload(simulation.clock, [](std::int64_t) { return ten_us; });
    const Timing timing = simulation.time(workload);
    EXPECT_TRUE(timing.summary.converged);
    EXPECT_EQ(timing.block_s.size(), 50U);
    EXPECT_NEAR(timing.summary.mean_s, ten_us, 1e-12);
}

TEST(Recipe, BlocksLastAMillisecondAndVaryByAFifth) {
    Simulation simulation;
    SimulatedWorkload workload(simulation.clock, [](std::int64_t) { return ten_us; });
    const Timing timing = simulation.time(workload);
    EXPECT_EQ(timing.summary.calls_per_block, 100);  // 1 ms / 10 us, rounded up; the sum of steps may round once more
    const std::vector<std::int64_t> blocks(workload.runs.end() - 50, workload.runs.end());
    const auto [shortest, longest] = std::minmax_element(blocks.begin(), blocks.end());
    EXPECT_GE(*shortest, 100);
    EXPECT_LE(*longest, 120);
    EXPECT_GT(*longest, *shortest + 10);
}

TEST(Recipe, WarmsUpForThreeCallsAndTheAskedTime) {
    Simulation simulation;
    SimulatedWorkload workload(simulation.clock, [](std::int64_t) { return ten_us; });
    simulation.time(workload);
    std::int64_t timed = 0;
    for (auto run = workload.runs.end() - 50; run != workload.runs.end(); ++run) timed += *run;
    const double warm_up_s = static_cast<double>(workload.done - timed) * ten_us;
    EXPECT_GE(warm_up_s, 0.05);
    EXPECT_LE(warm_up_s, 0.10);
}

TEST(Recipe, SlowFirstCallsAreDroppedAndCounted) {
    Simulation simulation;
    // Twice as slow for longer than the warm-up, whose 50 ms end after some 2500 such calls: a leading transient.
    SimulatedWorkload workload(simulation.clock, [](std::int64_t call) {
        return (call < 2900 ? 2.0 : 1.0 + 0.001 * static_cast<double>(call / 100 % 3)) * ten_us;
    });
    const Timing timing = simulation.time(workload);
    EXPECT_GE(timing.summary.dropped_blocks, 1);
    EXPECT_NEAR(timing.summary.mean_s, ten_us, 0.02 * ten_us);
    EXPECT_EQ(timing.summary.blocks + timing.summary.dropped_blocks, static_cast<std::int64_t>(timing.block_s.size()));
}

TEST(Recipe, TheBudgetsEndKeepsTheResultUnconverged) {
    Simulation simulation;
    std::mt19937_64 noise(3);
    std::uniform_real_distribution<double> wild(0.1, 1.9);
    SimulatedWorkload workload(simulation.clock, [&](std::int64_t) { return 1e-3 * wild(noise); });
    const Timing timing = simulation.time(workload);
    EXPECT_FALSE(timing.summary.converged);
    EXPECT_GT(timing.block_s.size(), 75U);
    // 0.25 s of blocks of 1 to 2 calls; more would be beyond the budget.
    EXPECT_LT(timing.block_s.size(), 300U);
    EXPECT_GT(timing.summary.half_width_s, 0.005 * timing.summary.mean_s);
}

TEST(Recipe, CallsBeyond10MillisecondsNeedTenBlocks) {
    Simulation simulation;
    SimulatedWorkload workload(simulation.clock, [](std::int64_t) { return 0.012; });
    EXPECT_EQ(simulation.time(workload).block_s.size(), 10U);
}

TEST(Recipe, ACallLongerThanTheBudgetIsTimedThreeTimesAfterOneWarmUp) {
    Simulation simulation;
    SimulatedWorkload workload(simulation.clock, [](std::int64_t) { return 2.0; });
    const Timing timing = simulation.time(workload);
    EXPECT_EQ(workload.done, 4);
    EXPECT_EQ(timing.block_s.size(), 3U);
    EXPECT_FALSE(timing.summary.converged);
    EXPECT_DOUBLE_EQ(timing.summary.median_s, 2.0);
}

TEST(Recipe, PreparationIsNotTimed) {
    Simulation simulation;
    SimulatedWorkload workload(simulation.clock, [](std::int64_t) { return ten_us; });
    workload.longest = 8;
    workload.prepare_s = 1e-6;
    const Timing timing = simulation.time(workload);
    EXPECT_NEAR(timing.summary.mean_s, ten_us, 1e-12);
    EXPECT_LE(*std::max_element(workload.runs.begin(), workload.runs.end()), 8);
    EXPECT_EQ(workload.prepared, workload.done);
}

/// A thousand calls take a microsecond, and fewer nothing that a clock could see.
class EmptyWorkload final : public Workload {
  public:
    explicit EmptyWorkload(SimulatedClock& clock) : clock_(clock) {}
    void run(std::int64_t calls, bool /*hot*/) override { clock_.advance(static_cast<double>(calls / 1000) * 1e-6); }
    std::int64_t rotation() const override { return 1; }

  private:
    SimulatedClock& clock_;
};

TEST(Recipe, AnEmptyWorkloadEnds) {
    Simulation simulation;
    EmptyWorkload workload(simulation.clock);
    const Timing timing = time_calls(workload, simulation.clock, {}, false, simulation.random);
    EXPECT_GE(timing.block_s.size(), 3U);
}

TEST(Recipe, TheSeedDecidesTheBlocks) {
    const auto blocks_with = [](std::uint64_t seed) {
        SimulatedClock clock;
        SimulatedWorkload workload(clock, [](std::int64_t) { return ten_us; });
        MeasureSettings settings;
        settings.seed = seed;
        Measurement measurement;
        measure_phases({{&workload}, {}, false, {}}, clock, settings, measurement);
        return workload.runs;
    };
    EXPECT_EQ(blocks_with(7), blocks_with(7));
    EXPECT_NE(blocks_with(7), blocks_with(8));
}

TEST(Phases, ForwardAndHotStandApart) {
    SimulatedClock clock;
    SimulatedWorkload whole(clock, [](std::int64_t) { return 3.0 * ten_us; });
    SimulatedWorkload forward(clock, [](std::int64_t) { return ten_us; });
    Measurement measurement;
    measure_phases({{&whole}, {&forward}, true, {}}, clock, {}, measurement);
    EXPECT_NEAR(measurement.time.mean_s, 3.0 * ten_us, 1e-12);
    ASSERT_TRUE(measurement.forward && measurement.hot);
    EXPECT_NEAR(measurement.forward->mean_s, ten_us, 1e-12);
    EXPECT_GT(whole.hot_runs, 0);
    EXPECT_EQ(forward.hot_runs, 0);
    EXPECT_EQ(measurement.outcome, Outcome::ok);
    EXPECT_EQ(measurement.block_s.size(), 50U);
}

TEST(Phases, RawBlocksAreSentOnlyWhenAsked) {
    SimulatedClock clock;
    SimulatedWorkload whole(clock, [](std::int64_t) { return ten_us; });
    MeasureSettings settings;
    settings.keep_blocks = false;
    Measurement measurement;
    measure_phases({{&whole}, {}, false, {}}, clock, settings, measurement);
    EXPECT_TRUE(measurement.block_s.empty());
    EXPECT_FALSE(measurement.hot || measurement.forward);
}

TEST(Phases, NoiseBeyondATenthIsUnstableButKept) {
    SimulatedClock clock;
    // Three calls of 1, 2 and 3 s: no interval of use.
    SimulatedWorkload whole(clock, [](std::int64_t call) { return 1.0 + static_cast<double>(call % 3); });
    Measurement measurement;
    measure_phases({{&whole}, {}, false, {}}, clock, {}, measurement);
    EXPECT_EQ(measurement.outcome, Outcome::unstable);
    EXPECT_GT(measurement.time.mean_s, 0.0);
    EXPECT_FALSE(measurement.message.empty());
}

TEST(Phases, NetworksGetTenTimesTheBudget) {
    SimulatedClock clock;
    SimulatedWorkload whole(clock, [](std::int64_t call) { return 0.2 + 0.02 * static_cast<double>(call % 2); });
    NetworkMeasurement measurement;
    measure_phases({{&whole}, {}, false, {}}, clock, {}, measurement);
    // 2.5 s of calls that take 0.21 s on average; at 0.25 s it would be three.
    EXPECT_GE(measurement.block_s.size(), 11U);
    EXPECT_LE(measurement.block_s.size(), 13U);
}

}  // namespace
}  // namespace joulecast
