#include "joulecast/train/fit_learned_clocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "joulecast/physics/curve_errors.h"

namespace joulecast {
namespace {

ClockParameters start_parameters() {
    ClockParameters parameters;
    parameters.highest_mhz = 1000;
    parameters.lowest_mhz = 200;
    parameters.memory_mhz = 2000;
    parameters.still_w = 30;
    parameters.clocked_w = 8;
    parameters.spread = {0.25, 0.25, 0.2};
    return parameters;
}

/// A workload whose power tells what binds it: the more it draws, the more is arithmetic. Numbers made up.
SweptWorkload bound_by_power(const std::string& name, double power_w) {
    const double share = (power_w - 100) / 100;
    const WorkloadCurve curve(start_parameters(), {of_compute_share(share)}, 0, {1, 1, 2e-3, power_w});
    SweptWorkload workload;
    workload.kernels = {of_compute_share(0.5)};  // what is guessed of all of them
    workload.traits.name = name;
    for (const double x : {0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0})
        workload.points.push_back({x, 1, curve.time_s(x), curve.power_w(x)});
    return workload;
}

std::vector<SweptWorkload> told_by_power(int count) {
    std::vector<SweptWorkload> workloads;
    for (int i = 0; i < count; ++i)
        workloads.push_back(bound_by_power("kernel" + std::string(1, static_cast<char>('a' + i)), 100.0 + 4 * i));
    return workloads;
}

double worst_time_error(const ClockParameters& parameters, const SweptWorkload& workload) {
    const WorkloadCurve curve = curve_of(parameters, workload);
    double worst = 0;
    for (const ClockedPoint& point : workload.points)
        worst = std::max(worst, std::abs(std::log(curve.time_s(point.x, point.y) / point.time_s)));
    return worst;
}

TEST(FitLearnedClocks, PowerTellsWhatBindsAWorkload) {
    const auto workloads = told_by_power(24);
    const ClockParameters taught = with_learned_sweeps(start_parameters(), workloads);
    ASSERT_TRUE(taught.learned);
    const SweptWorkload unseen = bound_by_power("other", 186);
    EXPECT_LT(worst_time_error(taught, unseen), 0.3 * worst_time_error(start_parameters(), unseen));
    const ClockParameters untaught = [&] {
        ClockParameters parameters = start_parameters();
        parameters.residuals = fit_residuals(parameters, workloads);
        parameters.spread = spread_of(parameters, workloads, parameters.spread);
        return parameters;
    }();
    EXPECT_LT(taught.spread.time, 0.5 * untaught.spread.time);
}

TEST(FitLearnedClocks, IntervalsAreOfWorkloadsThatWereLeftOut) {
    const ClockParameters taught = with_learned_sweeps(start_parameters(), told_by_power(24));
    int inside = 0;
    int all = 0;
    for (double power_w = 102; power_w < 190; power_w += 4) {  // between those that taught
        const SweptWorkload unseen = bound_by_power("other", power_w);
        const WorkloadCurve curve = curve_of(taught, unseen);
        for (const ClockedPoint& point : unseen.points) {
            if (point.x == 1) continue;
            const double error = std::abs(std::log(curve.time_s(point.x) / point.time_s));
            inside += error < 1.645 * taught.spread.time * std::log(1 / point.x) ? 1 : 0;
            ++all;
        }
    }
    EXPECT_GT(inside, 0.85 * all);
}

TEST(FitLearnedClocks, WordsOfNamesTellWhereNumbersDoNot) {
    // All take as long and draw as much: only "add" or "copy" tells them apart.
    std::vector<SweptWorkload> workloads;
    for (int i = 0; i < 20; ++i) {
        workloads.push_back(bound_by_power((i % 2 ? "add_" : "copy_") + std::to_string(i), i % 2 ? 199 : 101));
        for (ClockedPoint& point : workloads.back().points) point.power_w = 150;
    }
    const ClockParameters taught = with_learned_sweeps(start_parameters(), workloads);
    ASSERT_TRUE(taught.learned);
    SweptWorkload unseen = workloads[1];
    unseen.traits.name = "add_of_another";
    EXPECT_LT(worst_time_error(taught, unseen), 0.03);
    unseen.traits.name = "copy_of_another";
    EXPECT_GT(worst_time_error(taught, unseen), 0.1);
}

TEST(FitLearnedClocks, FewWorkloadsKeepTheForms) {
    EXPECT_FALSE(with_learned_sweeps(start_parameters(), told_by_power(2)).learned) << "two names";
    // Where the forms tell everything, trees earn nothing.
    std::vector<SweptWorkload> known = told_by_power(24);
    for (std::size_t i = 0; i < known.size(); ++i) known[i].kernels = {of_compute_share(0.04 * static_cast<double>(i))};
    EXPECT_FALSE(with_learned_sweeps(start_parameters(), known).learned);
}

TEST(FitLearnedClocks, NamesAreLeftOutTogether) {
    // Many of each name, each name with a pace of its own at low clocks: what siblings tell must not count.
    constexpr int of_each = 24;
    std::vector<SweptWorkload> workloads;
    for (int i = 0; i < 6 * of_each; ++i) {
        workloads.push_back(bound_by_power("kernel" + std::to_string(i / of_each), 150));
        const double pace = (i / of_each) % 2 ? 0.3 : -0.3;
        for (ClockedPoint& point : workloads.back().points) {
            point.time_s *= std::exp(pace * std::log(1 / point.x));
            point.power_w += 0.01 * i;
        }
    }
    EXPECT_GT(with_learned_sweeps(start_parameters(), workloads).spread.time, 0.3 / 1.645 * 0.8);
}

}  // namespace
}  // namespace joulecast
