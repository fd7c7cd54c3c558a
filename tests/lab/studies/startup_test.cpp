#include "lab/studies/startup.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/measure/simulated_bench.h"

namespace joulecast {
namespace {

struct Trial {
    SimulatedBench bench;
    SimulatedCalls calls{bench, 1e-3};
    StartupPlan plan;

    Trial() {
        bench.period_s = 0.02;
        plan.call_s = 1e-3;
        plan.run_s = 1.0;
        plan.rest_s = 0.5;
    }
    PowerTrace trace(bool counts_energy = false) {
        SimulatedMeter meter(bench, counts_energy);
        return trace_startup(calls, meter, bench, plan);
    }
};

TEST(StartupTrace, RestsAndRunsInTurn) {
    Trial trial;
    const PowerTrace trace = trial.trace();
    ASSERT_EQ(trace.spans.size(), 11U);
    for (std::size_t i = 0; i < trace.spans.size(); ++i) {
        EXPECT_EQ(trace.spans[i].running, i % 2 == 1);
        EXPECT_NEAR(trace.spans[i].end_s - trace.spans[i].start_s, i % 2 == 1 ? 1.0 : 0.5, 0.03);
    }
    // 5 x 1 s + 6 x 0.5 s = 8 s, looked at every 20 ms.
    EXPECT_NEAR(static_cast<double>(trace.samples.size()), 400.0, 60.0);
    EXPECT_NEAR(trial.bench.slept_s, 3.0, 0.1);
}

TEST(StartupTrace, WithoutRestsRunsFollowOneAnother) {
    Trial trial;
    trial.plan.rest_s = 0.0;
    const PowerTrace trace = trial.trace();
    EXPECT_EQ(trace.spans.size(), 5U);
    EXPECT_EQ(trial.bench.slept_s, 0.0);
}

TEST(StartupTrace, ACounterGivesMeanPowerBetweenItsRenewals) {
    Trial trial;
    trial.bench.period_s = 0.1;
    for (const PowerSample& sample : trial.trace(true).samples) {
        EXPECT_GE(sample.power_w, 50.0 * 0.7);
        EXPECT_LE(sample.power_w, 250.0 * 1.3);
    }
}

TEST(StartupTrace, OverlaidRunsBeginAtZero) {
    Trial trial;
    const auto runs = overlaid_runs(trial.trace());
    ASSERT_EQ(runs.size(), 5U);
    for (const auto& run : runs) {
        EXPECT_LT(run.front().time_s, 0.05);
        EXPECT_NEAR(run.back().time_s, 1.0, 0.05);
    }
}

TEST(StartupTrace, TellsWhenPowerHasSettled) {
    PowerTrace trace;
    // A run of 10 s that draws half of its 200 W in the first 2 s; +-1 W of noise after that.
    trace.spans = {{true, 50.0, 60.0}};
    for (int i = 0; i < 100; ++i) {
        const double after_s = 0.1 * i;
        trace.samples.push_back({50.0 + after_s, after_s < 1.95 ? 100.0 : (i % 2 == 0 ? 199.0 : 201.0)});
    }
    const Startup startup = summarise_startup(trace);
    EXPECT_NEAR(startup.steady_w, 200.0, 0.1);
    EXPECT_NEAR(startup.sigma_w, 1.0, 0.05);
    ASSERT_EQ(startup.settled_after_s.size(), 1U);
    EXPECT_NEAR(startup.settled_after_s[0], 2.0, 0.01);
}

}  // namespace
}  // namespace joulecast
