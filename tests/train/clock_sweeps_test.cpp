#include "joulecast/train/clock_sweeps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "joulecast/device/device_table.h"

namespace joulecast {
namespace {

/// Over power limits, by parameters made up.
ClockSweep limit_sweep(const LimitParameters& truth, const std::string& model, double power_w) {
    const LimitCurve curve(truth, {}, 0, {250, 100, power_w});
    ClockSweep sweep;
    sweep.network.model = model;
    sweep.source = "sweep";
    for (const double limit : {100.0, 125.0, 150.0, 175.0, 200.0, 250.0}) {
        SweptRow& row = sweep.rows.emplace_back();
        if (limit < 250) row.asked.power_limit_w = limit;
        row.time_s = curve.at(limit).time_s;
        row.power_w = curve.at(limit).power_w;
    }
    return sweep;
}

LimitParameters truth_of(const Device& device, double knee) {
    ClockParameters clocks = default_clock_parameters(device);
    clocks.knee = knee;
    return default_limit_parameters(clocks, device);
}

TEST(ClockSweeps, ARowWithoutALimitIsUnderTheDevicesOwn) {
    const Device device = find_device("v100-16g-pcie");
    ClockSweep sweep = limit_sweep(truth_of(device, 0.7), "net", 200);
    sweep.rows[1].power_w = std::nan("");
    const SweptLimits limits = swept_limits(sweep, KernelLevels{}, device);
    EXPECT_EQ(limits.group, "net");
    EXPECT_EQ(limits.points.size(), 5U);
    EXPECT_EQ(highest_limit(limits.points).limit_w, device.tdp_w);
    EXPECT_FALSE(limits.never_waits);
    sweep.source = "own";
    EXPECT_TRUE(swept_limits(sweep, KernelLevels{}, device).never_waits);
}

TEST(ClockSweeps, TheRowWithoutALimitIsTheReference) {
    const Device device = find_device("v100-16g-pcie");
    const ClockSweep sweep = limit_sweep(truth_of(device, 0.7), "net", 200);
    EXPECT_TRUE(is_limit_sweep(sweep));
    EXPECT_EQ(reference_row(sweep), 5U);
    EXPECT_TRUE(is_same_memory_clock(sweep.rows[0], sweep.rows[5]));
}

TEST(ClockSweeps, PowerLimitsAloneTellTheKnee) {
    const Device device = find_device("v100-16g-pcie");
    const LimitParameters truth = truth_of(device, 0.58);
    const std::vector<ClockSweep> sweeps = {limit_sweep(truth, "a", 120), limit_sweep(truth, "b", 200),
                                            limit_sweep(truth, "c", 210)};
    const auto calibrated = calibrated_clocks(device, sweeps, {});
    ASSERT_TRUE(calibrated);
    EXPECT_EQ(calibrated->workloads, 3);
    EXPECT_LT(calibrated->knee, 0.67);  // from 0.70 by architecture
    EXPECT_EQ(calibrated->spread, default_clock_parameters(device).spread);
}

TEST(ClockSweeps, OnePointOfEachTellsNothing) {
    const Device device = find_device("v100-16g-pcie");
    ClockSweep sweep = limit_sweep(truth_of(device, 0.7), "net", 200);
    sweep.rows.resize(1);
    EXPECT_FALSE(calibrated_clocks(device, std::vector{sweep}, {}));
    EXPECT_FALSE(calibrated_clocks(device, {}, {}));
}

TEST(ClockSweeps, AnUnknownWorkloadIsTheMeanOfThoseThatItMayBe) {
    const ClockParameters parameters = default_clock_parameters(find_device("v100-16g-pcie"));
    const std::vector<KnownShare> known = {{{200}, 0.9}, {{200}, 0.1}, {{200}, 0.9}};
    const WorkloadCurve likely(parameters, likely_kernels({200}, known), 0, {1, 1, 1, 200});
    const auto alone = [&](double share) {
        return WorkloadCurve(parameters, {of_compute_share(share)}, 0, {1, 1, 1, 200}).time_s(0.6);
    };
    EXPECT_NEAR(likely.time_s(0.6), (2 * alone(0.9) + alone(0.1)) / 3, 5e-3);
}

TEST(ClockSweeps, LikenessOfPowerTellsWhatAWorkloadMayBe) {
    const ClockParameters parameters = default_clock_parameters(find_device("v100-16g-pcie"));
    const std::vector<KnownShare> known = {{{240}, 1.0}, {{120}, 0.0}};
    const auto time_at = [&](double power_w) {
        return WorkloadCurve(parameters, likely_kernels({power_w}, known), 0, {1, 1, 1, power_w}).time_s(0.7);
    };
    EXPECT_GT(time_at(235), 1.3);
    EXPECT_LT(time_at(120), 1.1);
    const WorkloadCurve of_nothing(parameters, likely_kernels({200}, {}), 0, {1, 1, 1, 200});
    EXPECT_DOUBLE_EQ(of_nothing.time_s(0.7),
                     WorkloadCurve(parameters, {of_compute_share(0.5)}, 0, {1, 1, 1, 200}).time_s(0.7));
}

TEST(ClockSweeps, ActivityOfTheMemoryTellsWhatTakesTheTime) {
    const ClockParameters parameters = default_clock_parameters(find_device("v100-16g-pcie"));
    const auto time_at = [&](double active, std::span<const KnownShare> known) {
        return WorkloadCurve(parameters, likely_kernels({200, active}, known), 0, {1, 1, 1, 200}).time_s(0.7);
    };
    EXPECT_DOUBLE_EQ(time_at(0, {}), 1 / 0.7);  // nothing but arithmetic: as the clock
    EXPECT_LT(time_at(0.85, {}), 1.05);         // nothing but bytes
    EXPECT_DOUBLE_EQ(time_at(0.9, {}), time_at(0.85, {}));
    EXPECT_GT(time_at(0.6, {}), time_at(0.8, {}));
    // On a device whose memory never gets beyond 0.7 that is nothing but bytes; power does not matter then.
    const std::vector<KnownShare> known = {
        {{100, 0.7}, 0.0}, {{300, 0.69}, 0.0}, {{50, 0.35}, 0.875}, {{90, 0.0}, 1.0}};
    EXPECT_DOUBLE_EQ(time_at(0.7, known), time_at(0.85, {}));
    EXPECT_GT(time_at(0.7, {}), time_at(0.7, known));
}

}  // namespace
}  // namespace joulecast
