#include "joulecast/measure/sponner_method.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/measure/simulated_bench.h"

namespace joulecast {
namespace {

TEST(SponnerOutliers, LieBeyondTukeysFences) {
    // Quartiles (type 7) of 1..9 and 100 are 3.25 and 7.75: fences at -3.5 and 14.5.
    EXPECT_EQ(without_outliers(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 100}).size(), 9U);
    EXPECT_EQ(without_outliers(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 14}).size(), 10U);
    EXPECT_EQ(without_outliers(std::vector<double>{5, 5, 5}).size(), 3U);
    EXPECT_TRUE(without_outliers(std::vector<double>{}).empty());
}

struct Rig {
    SimulatedBench bench;
    SimulatedCalls calls{bench, 1e-3};
    ClockBlockTimer timer{bench};

    Measurement measure(Meter* with) {
        MeasureSettings settings;
        settings.method = Method::sponner;
        Measurement measurement;
        measure_calls({{&calls}, {}, true, {}}, {bench, timer, with, "none here", {}, nullptr}, settings, measurement);
        return measurement;
    }
};

TEST(SponnerMethod, LabelsWithMediansOfFiftyRepetitions) {
    for (const bool counts_energy : {false, true}) {
        Rig rig;
        SimulatedMeter meter(rig.bench, counts_energy);
        const Measurement measurement = rig.measure(&meter);
        EXPECT_EQ(measurement.time.blocks + measurement.time.dropped_blocks, 50);
        EXPECT_EQ(measurement.time.mean_s, measurement.time.median_s);
        EXPECT_NEAR(measurement.time.mean_s, 1e-3, 1e-6);
        ASSERT_TRUE(measurement.energy) << measurement.energy_missing_reason;
        // A counter's renewals are seen to a chunk of 3 ms in 100 ms.
        EXPECT_NEAR(measurement.energy->power_w, 250.0, 7.5);
        EXPECT_NEAR(measurement.energy->energy_j, measurement.energy->power_w * 1e-3, 1e-4);  // power x time
        EXPECT_GE(measurement.energy->ticks, 49);
        EXPECT_TRUE(std::isnan(measurement.energy->half_width_j));  // the paper gives no errors
        EXPECT_EQ(measurement.outcome, Outcome::ok);
        // Warm caches: nothing but one set of tensors.
        EXPECT_EQ(rig.calls.hot_calls, rig.calls.done);
    }
}

TEST(SponnerMethod, LoopsOverTheSamplingWindowEachTime) {
    Rig rig;
    SimulatedMeter meter(rig.bench, false);
    const double start_s = rig.bench.time();
    rig.measure(&meter);
    // 50 x (burn-in 0.05 s + 1/6 s) = 10.8 s
    EXPECT_NEAR(rig.bench.time() - start_s, 10.9, 0.8);
}

TEST(SponnerMethod, WithoutAMeterThereIsTimeAndAReason) {
    Rig rig;
    const double start_s = rig.bench.time();
    const Measurement measurement = rig.measure(nullptr);
    EXPECT_EQ(measurement.energy_missing_reason, "none here");
    EXPECT_NEAR(measurement.time.mean_s, 1e-3, 1e-6);
    EXPECT_LT(rig.bench.time() - start_s, 1.0);
}

}  // namespace
}  // namespace joulecast
