#include "joulecast/measure/measure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/error.h"
#include "joulecast/measure/issue.h"
#include "tests/measure/simulated_bench.h"

namespace joulecast {
namespace {

/// As CUDA events do: the device's time between the first call and the end of the last.
class DeviceTimer final : public BlockTimer {
  public:
    explicit DeviceTimer(SimulatedBench& bench) : bench_(bench) {}
    double run(Workload& workload, std::int64_t calls, bool hot) override {
        const double start_s = bench_.time();
        workload.issue(calls, hot);
        const double end_s = bench_.busy_until();
        workload.wait();
        return end_s - start_s;
    }

  private:
    SimulatedBench& bench_;
};

struct Probe final : DeviceStateProbe {
    DeviceState read() override {
        DeviceState state;
        state.sm_clock_mhz = ++reads == 1 ? 1400.0 : 1200.0;
        state.throttle_reasons = reads == 1 ? 0 : 0x4;
        return state;
    }
    int reads = 0;
};

struct Rig {
    SimulatedBench bench;
    ClockBlockTimer clock_timer{bench};
    DeviceTimer device_timer{bench};
    SimulatedMeter meter{bench, true};
    MeasureSettings settings;
    Calls calls;

    Measurement measure(bool apart = true, Meter* with = nullptr, DeviceStateProbe* state = nullptr) {
        BlockTimer& timer = apart ? static_cast<BlockTimer&>(device_timer) : clock_timer;
        Instruments instruments{bench, timer, with, "no meter here", {}, state};
        instruments.traits.idle_power_w = 50.0;
        Measurement measurement;
        measure_calls(calls, instruments, settings, measurement);
        return measurement;
    }
};

TEST(MeasureCalls, OnAHostTimesAndTakesEnergy) {
    Rig rig;
    SimulatedCalls whole(rig.bench, 1e-4);
    SimulatedCalls forward(rig.bench, 4e-5);
    rig.calls = {{&whole}, {&forward}, true, [] { return 4096.0; }};
    const Measurement measurement = rig.measure(false, &rig.meter);
    EXPECT_NEAR(measurement.time.mean_s, 1e-4, 1e-6);
    ASSERT_TRUE(measurement.forward && measurement.hot && measurement.energy) << measurement.energy_missing_reason;
    EXPECT_NEAR(measurement.forward->mean_s, 4e-5, 1e-6);
    EXPECT_NEAR(measurement.energy->energy_j, 250.0 * 1e-4, 0.02 * 250.0 * 1e-4);
    EXPECT_TRUE(measurement.energy_missing_reason.empty());
    EXPECT_FALSE(measurement.issue);  // issuing and executing are one
    EXPECT_DOUBLE_EQ(measurement.peak_memory_bytes, 4096.0);
    EXPECT_EQ(measurement.block_s.size(), 50U);
    EXPECT_EQ(measurement.outcome, Outcome::ok);
    EXPECT_GT(whole.hot_calls, 0);
    EXPECT_EQ(forward.hot_calls, 0);
}

TEST(MeasureCalls, SaysWhyThereIsNoEnergy) {
    Rig rig;
    SimulatedCalls whole(rig.bench, 1e-4);
    rig.calls.whole = {&whole};
    EXPECT_EQ(rig.measure(false).energy_missing_reason, "no meter here");
    rig.settings.measure_energy = false;
    EXPECT_EQ(rig.measure(false, &rig.meter).energy_missing_reason, "not asked for");
    EXPECT_EQ(rig.meter.reads, 0);
}

TEST(MeasureCalls, LaunchBoundCallsAreTimedAndMeteredAsAGraph) {
    Rig rig;
    SimulatedCalls eager(rig.bench, 4e-6);
    eager.issue_s = 10e-6;
    SimulatedCalls graph(rig.bench, 4e-6);
    graph.issue_s = 12e-6;
    graph.multiple = 300;
    rig.calls.whole = {&eager, [&] { return Replay{&graph, nullptr, "graph"}; }};
    const Measurement measurement = rig.measure(true, &rig.meter);
    ASSERT_TRUE(measurement.issue);
    EXPECT_TRUE(measurement.issue->launch_bound);
    EXPECT_EQ(measurement.issue->device_time_by, "graph");
    EXPECT_NEAR(measurement.issue->issue_s, 10e-6, 0.5e-6);
    EXPECT_NEAR(measurement.issue->eager_s, 10e-6, 1e-6);
    EXPECT_NEAR(measurement.time.mean_s, 4e-6, 0.1e-6);  // not the host's 10
    ASSERT_TRUE(measurement.energy) << measurement.energy_missing_reason;
    EXPECT_NEAR(measurement.energy->energy_j, 250.0 * 4e-6, 0.02 * 250.0 * 4e-6);
    EXPECT_EQ(graph.uneven, 0);
}

TEST(MeasureCalls, LaunchBoundCallsWithoutAGraphHaveTheWaitingTakenOff) {
    Rig rig;
    SimulatedCalls eager(rig.bench, 4e-6);
    eager.issue_s = 10e-6;
    rig.calls.whole = {&eager, [] { return Replay{}; }};
    const Measurement measurement = rig.measure(true, &rig.meter);
    EXPECT_EQ(measurement.issue->device_time_by, "events");
    ASSERT_TRUE(measurement.energy);
    EXPECT_NEAR(measurement.energy->dynamic_energy_j, 200.0 * 4e-6, 0.15 * 200.0 * 4e-6);
}

/// As events around calls that were all queued before the first could start.
struct SpinTimer final : BlockTimer {
    double run(Workload& workload, std::int64_t calls, bool hot) override {
        workload.run(calls, hot);
        return 4e-6 * static_cast<double>(calls);
    }
};

TEST(MeasureCalls, CallsTimedBehindASpinningKernelAreMeteredWithoutTheWaiting) {
    Rig rig;
    SimulatedCalls eager(rig.bench, 4e-6);
    eager.issue_s = 10e-6;
    SpinTimer spin;
    rig.calls.whole = {&eager, [&] { return Replay{&eager, &spin, "spin"}; }};
    const Measurement measurement = rig.measure(true, &rig.meter);
    EXPECT_EQ(measurement.issue->device_time_by, "spin");
    EXPECT_NEAR(measurement.time.mean_s, 4e-6, 1e-9);
    ASSERT_TRUE(measurement.energy);
    // 250 W for 4 us are 1.0 mJ. The window's mean power of 130 W, for the 10 us that the host takes, would be 1.3.
    EXPECT_NEAR(measurement.energy->energy_j, 1.0e-3, 0.12e-3);
}

TEST(MeasureCalls, OtherCallsAreNeverCaptured) {
    Rig rig;
    SimulatedCalls eager(rig.bench, 1e-3);
    eager.issue_s = 10e-6;
    bool captured = false;
    rig.calls.whole = {&eager, [&] {
                           captured = true;
                           return Replay{};
                       }};
    const Measurement measurement = rig.measure(true, &rig.meter);
    EXPECT_FALSE(captured);
    EXPECT_FALSE(measurement.issue->launch_bound);
    EXPECT_NEAR(measurement.issue->issue_s, 10e-6, 0.5e-6);
    EXPECT_NEAR(measurement.issue->eager_s, 1e-3, 0.1e-3);
    EXPECT_NEAR(measurement.time.mean_s, 1e-3, 1.5e-5);  // a block of one call begins with its issue
}

TEST(MeasureCalls, TellsRealClockAndLimitAroundTheWindows) {
    Rig rig;
    SimulatedCalls whole(rig.bench, 1e-4);
    rig.calls.whole = {&whole};
    Probe probe;
    const Measurement measurement = rig.measure(false, &rig.meter, &probe);
    EXPECT_DOUBLE_EQ(measurement.real.sm_clock_mhz, 1300.0);
    EXPECT_EQ(measurement.conditions.limited_by, LimitedBy::power_cap);
    EXPECT_EQ(probe.reads, 2);
}

TEST(MeasureCalls, AMeterLostLeavesTheTime) {
    Rig rig;
    SimulatedCalls whole(rig.bench, 1e-4);
    rig.calls.whole = {&whole};
    rig.meter.lost_at_s = rig.bench.time() + 0.4;
    const Measurement measurement = rig.measure(false, &rig.meter);
    EXPECT_FALSE(measurement.energy);
    EXPECT_NE(measurement.energy_missing_reason.find("fell off the bus"), std::string::npos);
    EXPECT_NEAR(measurement.time.mean_s, 1e-4, 1e-6);
    EXPECT_EQ(measurement.outcome, Outcome::ok);
}

TEST(MeasureCalls, TakesAboutASecondWithEnergyOnADeviceApart) {
    Rig rig;
    SimulatedCalls whole(rig.bench, 1e-4);
    whole.issue_s = 10e-6;
    rig.calls.whole = {&whole};
    const double start_s = rig.bench.time();
    rig.measure(true, &rig.meter);
    // Warm-ups and 0.05 s of timing, the rest of the 0.3 s until the sensor has settled, 0.6 s of window and its edges.
    EXPECT_LT(rig.bench.time() - start_s, 1.1);
}

TEST(Issue, IsLaunchBoundByShareOrShortness) {
    EXPECT_TRUE(is_launch_bound(6e-6, 10e-6));
    EXPECT_TRUE(is_launch_bound(1e-6, 19e-6));  // shorter than 20 us
    EXPECT_FALSE(is_launch_bound(1e-6, 21e-6));
    EXPECT_TRUE(is_launch_bound(60e-6, 100e-6));  // 0.6 of it
    EXPECT_FALSE(is_launch_bound(40e-6, 100e-6));
}

TEST(Issue, LongCallsAreIssuedThreeTimesOnly) {
    SimulatedBench bench;
    SimulatedCalls slow(bench, 0.5);
    slow.issue_s = 1e-4;
    const IssueSummary issue = measure_issue(slow, bench, 0.5);
    EXPECT_EQ(slow.done, 3);
    EXPECT_NEAR(issue.issue_s, 1e-4, 1e-5);
}

}  // namespace
}  // namespace joulecast
