#include "joulecast/physics/learned_clocks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

ClockParameters start_parameters() {
    ClockParameters parameters;
    parameters.highest_mhz = 1000;
    parameters.lowest_mhz = 200;
    parameters.memory_mhz = 2000;
    parameters.still_w = 30;
    parameters.clocked_w = 8;
    return parameters;
}

/// Says `low` where the value of a column is at most `threshold`, else `high`.
Forest stump(std::int32_t column, float threshold, float low, float high) {
    return {{{column, threshold, 2}, {-1, low, 0}, {-1, high, 0}}, {0}};
}

/// Of which every workload takes e^0.4 times as long below half of the clock, and draws e^-0.2 times as much.
LearnedMember slow_below_half(double weight) {
    const auto half = static_cast<float>(std::log(0.5));
    return {{}, stump(0, half, 0.4F, 0), stump(0, half, -0.2F, 0), weight, weight};
}

ClockParameters taught(LearnedMember member) {
    ClockParameters parameters = start_parameters();
    LearnedClocks clocks;
    clocks.members.push_back(std::move(member));
    parameters.learned = SharedLearnedClocks(std::make_shared<const LearnedClocks>(std::move(clocks)));
    return parameters;
}

WorkloadCurve half_curve(const ClockParameters& parameters, ClockedPoint known, WorkloadTraits traits = {}) {
    return {parameters, {of_compute_share(0.5)}, 0, known, std::move(traits)};
}

TEST(LearnedClocks, MoveACurveByTheirWeight) {
    const ClockedPoint known{1, 1, 2, 200};
    const WorkloadCurve plain = half_curve(start_parameters(), known);
    for (const double weight : {0.0, 0.5, 1.0}) {
        const WorkloadCurve curve = half_curve(taught(slow_below_half(weight)), known);
        EXPECT_NEAR(curve.time_s(0.4) / plain.time_s(0.4), std::exp(0.4 * weight), 1e-6);
        EXPECT_NEAR(curve.power_w(0.4) / plain.power_w(0.4), std::exp(-0.2 * weight), 1e-6);
        EXPECT_NEAR(curve.time_s(0.8) / plain.time_s(0.8), 1, 1e-6);
    }
}

TEST(LearnedClocks, LeaveTheKnownPointAsItIsWhereverItLies) {
    const WorkloadCurve low = half_curve(taught(slow_below_half(1)), {0.4, 1, 2, 100});
    EXPECT_NEAR(low.time_s(0.4), 2, 1e-9);
    EXPECT_NEAR(low.power_w(0.4), 100, 1e-9);
    // From below half of the clock the higher ones are that much quicker.
    const WorkloadCurve plain = half_curve(start_parameters(), {0.4, 1, 2, 100});
    EXPECT_NEAR(low.time_s(0.8) / plain.time_s(0.8), std::exp(-0.4), 1e-6);
}

TEST(LearnedClocks, SeeTimePowerAndActivityAtTheHighestClocks) {
    // By power: column 3 is its logarithm.
    const auto watts = static_cast<float>(std::log(150));
    const LearnedMember by_power{{}, stump(3, watts, 0.4F, 0), {}, 1, 0};
    // At the known point the tree says the same, and the difference is what counts: a tree of power alone says nothing.
    EXPECT_NEAR(half_curve(taught(by_power), {1, 1, 2, 100}).time_s(0.4),
                half_curve(start_parameters(), {1, 1, 2, 100}).time_s(0.4), 1e-9);
    const LearnedWorkload workload(start_parameters(), {1, 1, 2, 100}, {"sp_add", 0.3});
    const std::vector<float> row = workload.row({"add", "mul"});
    const std::vector<double> expected = {0, 0, std::log(2.0), std::log(100.0), 0.3, 1, 0};
    ASSERT_EQ(row.size(), expected.size());
    for (std::size_t i = 0; i < row.size(); ++i) EXPECT_NEAR(row[i], expected[i], 1e-6) << i;
    // Known at a lower clock: what it took at the highest is told by the curve of half arithmetic, half bytes.
    const WorkloadCurve half = half_curve(start_parameters(), {0.5, 1, 2, 100});
    const std::vector<float> moved = LearnedWorkload(start_parameters(), {0.5, 1, 2, 100}, {}).row({});
    EXPECT_NEAR(moved[2], std::log(half.time_s(1)), 1e-5);
    EXPECT_NEAR(moved[3], std::log(half.power_w(1)), 1e-5);
}

TEST(LearnedClocks, APowerThatNobodyMeasuredStaysUnknown) {
    const WorkloadCurve curve = half_curve(taught(slow_below_half(1)), {1, 1, 2, std::nan("")});
    EXPECT_TRUE(std::isnan(curve.power_w(0.4)));
    EXPECT_GT(curve.time_s(0.4), 0);
}

TEST(LearnedClocks, NamesFallIntoWords) {
    const std::vector<std::string> expected = {"2",          "32", "benchmark", "conv",    "cuda",
                                               "cudaconv2d", "d",  "double",    "double32"};
    EXPECT_EQ(words_of("cudaConv2D:benchmark_double32"), expected);
    EXPECT_TRUE(words_of(" :-").empty());
}

TEST(LearnedClocks, KernelsTellHowActiveTheMemoryIs) {
    const std::vector<KernelTime> bytes = {{0, 3, 0}};
    EXPECT_NEAR(memory_active_of(bytes), saturated_memory, 1e-12);
    const std::vector<KernelTime> both = {{0, 3, 0}, {3, 0, 0}};
    EXPECT_NEAR(memory_active_of(both), saturated_memory / 2, 1e-12);
}

TEST(LearnedClocks, AreEqualByWhatTheyHold) {
    EXPECT_EQ(taught(slow_below_half(1)).learned, taught(slow_below_half(1)).learned);
    EXPECT_FALSE(taught(slow_below_half(1)).learned == taught(slow_below_half(0.5)).learned);
    EXPECT_FALSE(taught(slow_below_half(1)).learned == SharedLearnedClocks{});
}

}  // namespace
}  // namespace joulecast
