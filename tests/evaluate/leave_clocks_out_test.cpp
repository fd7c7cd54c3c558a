#include "joulecast/evaluate/leave_clocks_out.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

/// A card whose voltage rises earlier than its architecture's does. Numbers made up.
ClockParameters true_parameters(const Device& device) {
    ClockParameters parameters = default_clock_parameters(device);
    parameters.knee = 0.58;
    parameters.slope = 1.2;
    return parameters;
}

ClockSweep made_up_sweep(const std::string& model, double share, double power_w) {
    const Device device = find_device("v100-16g-pcie");
    const ClockParameters parameters = true_parameters(device);
    const WorkloadCurve curve(parameters, {of_compute_share(share)}, 0, {1, 1, 2e-3, power_w});
    ClockSweep sweep;
    sweep.network.model = model;
    sweep.network.asked.device = device.id;
    sweep.source = "sweep";
    for (double mhz = 600; mhz <= 1380; mhz += 60) {
        SweptRow& row = sweep.rows.emplace_back();
        row.asked.sm_clock_mhz = row.sm_clock_mhz = mhz;
        row.time_s = curve.time_s(mhz / 1380);
        row.power_w = curve.power_w(mhz / 1380);
    }
    return sweep;
}

std::vector<ClockSweep> made_up_sweeps() {
    std::vector<ClockSweep> sweeps;
    for (int i = 0; i < 6; ++i)
        sweeps.push_back(made_up_sweep("model" + std::to_string(i), 0.15 * i + 0.1, 120 + 15 * i));
    return sweeps;
}

ClockValidation validated(const std::vector<ClockSweep>& sweeps) {
    ClockValidationSettings settings;
    settings.trees = 10;
    settings.threads = 1;
    return validate_clocks(find_device("v100-16g-pcie"), sweeps, {}, settings);
}

double mean_error(const ClockValidation& validation, const std::string& model, const std::string& metric) {
    double sum = 0;
    int rows = 0;
    for (const OutOfFoldRow& row : out_of_fold_rows(validation.networks)) {
        if (row.model != model || row.metric != metric) continue;
        sum += std::abs(row.predicted / row.measured - 1);
        ++rows;
    }
    return sum / rows;
}

const ClockRegret& regret(const ClockValidation& validation, const std::string& rule, const std::string& objective) {
    for (const ClockRegret& one : validation.regrets) {
        if (one.rule == rule && one.objective == objective) return one;
    }
    throw Error("no regret of " + rule);
}

TEST(LeaveClocksOut, OtherWorkloadsTeachTheDevice) {
    const ClockValidation validation = validated(made_up_sweeps());
    EXPECT_EQ(validation.swept, 6);
    EXPECT_EQ(validation.listed, 0);
    EXPECT_LT(mean_error(validation, "joulecast", "power_w"), 0.06);
    EXPECT_LT(mean_error(validation, "joulecast", "power_w"), mean_error(validation, "joulecast_defaults", "power_w"));
    EXPECT_LT(mean_error(validation, "joulecast", "energy_j"), mean_error(validation, "thesis_forest", "energy_j"));
}

TEST(LeaveClocksOut, TheClockThatIsKnownIsNotScored) {
    const ClockValidation validation = validated(made_up_sweeps());
    int scored = 0;
    for (const OutOfFoldRow& row : out_of_fold_rows(validation.networks))
        scored += row.model == "joulecast" && row.metric == "time_s" ? 1 : 0;
    EXPECT_EQ(scored, 6 * 13);  // 14 clocks each, of which the highest is known
    for (const ClockForecast& forecast : validation.networks)
        EXPECT_EQ(forecast.is_reference, forecast.row.asked.sm_clock_mhz == 1380) << forecast.model;
}

TEST(LeaveClocksOut, AWorkloadsOwnClocksTeachNothingOfIt) {
    std::vector<ClockSweep> sweeps = made_up_sweeps();
    const auto before = validated(sweeps).networks;
    // Nonsense at a lower clock of one workload leaves the forecasts of that workload as they were.
    sweeps[2].rows[3].time_s *= 3;
    const auto after = validated(sweeps).networks;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i].workload != "model2" || before[i].model != "joulecast") continue;
        EXPECT_EQ(before[i].time.value, after[i].time.value);
        EXPECT_EQ(before[i].power.value, after[i].power.value);
    }
}

TEST(LeaveClocksOut, ChoosesBetterThanTheMaximumClock) {
    const ClockValidation validation = validated(made_up_sweeps());
    EXPECT_LT(regret(validation, "joulecast", "energy").mean, 0.01);
    EXPECT_GT(regret(validation, "maximum clock", "energy").mean, 0.05);
    EXPECT_EQ(regret(validation, "68 % of maximum", "edp").workloads, 6);
    EXPECT_EQ(regret(validation, "best constant clock", "energy").workloads, 6);
    EXPECT_EQ(regret(validation, "maximum clock", "energy within 1.1 of the time").over_limit, 0);
}

/// Trainings that wait for their data for a part of the time, more or less. Numbers made up.
std::vector<ClockSweep> limit_sweeps(const LimitParameters& truth) {
    std::vector<ClockSweep> sweeps;
    for (int i = 0; i < 5; ++i) {
        const LimitCurve curve(truth, {}, 0, {250, 100.0 + i, 80 + 35.0 * i});
        ClockSweep& sweep = sweeps.emplace_back();
        sweep.network.model = "training" + std::to_string(i);
        sweep.source = "sweep";
        for (const double limit : {125.0, 150.0, 200.0, 250.0}) {
            SweptRow& row = sweep.rows.emplace_back();
            row.asked.power_limit_w = limit;
            row.time_s = curve.at(limit).time_s;
            row.power_w = curve.at(limit).power_w;
        }
    }
    return sweeps;
}

TEST(LeaveClocksOut, ForecastsPowerLimitsFromTheHighest) {
    const Device device = find_device("v100-16g-pcie");
    LimitParameters truth = default_limit_parameters(default_clock_parameters(device), device);
    truth.duty.working_w = 250;
    truth.duty.waiting_w = 60;
    const ClockValidation validation = validated(limit_sweeps(truth));
    for (const ClockForecast& forecast : validation.networks) {
        EXPECT_LE(forecast.power.value.value(), forecast.row.asked.power_limit_w) << forecast.model;
        EXPECT_EQ(forecast.is_reference, forecast.row.asked.power_limit_w == 250);
        if (forecast.model != "thesis_forest") {
            EXPECT_LT(forecast.power.low, forecast.power.value);
            // Half of the highest limit holds the device well below its highest clock, 1380 MHz.
            if (forecast.row.asked.power_limit_w == 125) {
                EXPECT_LT(forecast.sm_clock_mhz, 1200) << forecast.model;
            }
            if (forecast.is_reference) {
                EXPECT_GT(forecast.sm_clock_mhz, 1200) << forecast.model;
            }
        }
    }
    for (const char* metric : {"time_s", "power_w"}) {
        EXPECT_LT(mean_error(validation, "joulecast", metric), 0.02) << metric;
        EXPECT_LT(mean_error(validation, "joulecast", metric), mean_error(validation, "joulecast_defaults", metric));
    }
    EXPECT_EQ(regret(validation, "best constant clock", "energy").workloads, 5);
}

TEST(LeaveClocksOut, APowerLimitTeachesNothingOfItsOwnWorkload) {
    const Device device = find_device("v100-16g-pcie");
    auto sweeps = limit_sweeps(default_limit_parameters(default_clock_parameters(device), device));
    const auto before = validated(sweeps).networks;
    sweeps[2].rows[0].time_s *= 3;
    const auto after = validated(sweeps).networks;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (before[i].workload != "training2" || before[i].model != "joulecast") continue;
        EXPECT_EQ(before[i].time.value, after[i].time.value);
        EXPECT_EQ(before[i].power.value, after[i].power.value);
    }
}

TEST(LeaveClocksOut, RefusesADeviceWithoutClocks) {
    Device cpu;
    cpu.id = "cpu-made-up";
    EXPECT_THROW(validate_clocks(cpu, {}, {}, {}), Error);
}

}  // namespace
}  // namespace joulecast
