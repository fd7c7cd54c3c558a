#include "joulecast/forecast/over_clocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "joulecast/device/device_table.h"
#include "joulecast/forecast/at_point.h"
#include "joulecast/model/jcp.h"
#include "joulecast/train/fit_over_clocks.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

const double unknown = std::nan("");

Device card() {
    Device device = find_device("a100-40g-pcie");
    device.min_power_limit_w = 1;  // to see what limits do, whichever the driver takes
    return device;
}

/// relu of so many numbers.
std::string relu(int numbers) {
    return "aten::relu(self=f32[" + std::to_string(numbers) + "])";
}
std::string linear(int rows) {
    const std::string n = std::to_string(rows);
    return "aten::linear(input=f32[" + n + ",1024], weight=f32[1024,1024])";
}

TrainingRow row_of(const std::string& text, double asked_mhz, double real_mhz) {
    TrainingRow row;
    const Operation operation = parse_operation(text);
    row.operation = prepare(operation, card(), Math::ieee);
    row.group = operation_group(operation);
    row.time_s = 1e-3;
    row.sm_clock_mhz = real_mhz;
    row.asked_sm_clock_mhz = asked_mhz;
    return row;
}

std::vector<TrainingRow> rows_at(double asked_mhz, std::vector<double> real_mhz) {
    std::vector<TrainingRow> rows;
    for (const double mhz : real_mhz)
        rows.push_back(row_of(relu(1000 + static_cast<int>(rows.size())), asked_mhz, mhz));
    return rows;
}

std::vector<TrainingRow> operator+(std::vector<TrainingRow> a, const std::vector<TrainingRow>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

TEST(OverClocks, AreRowsWhoseSettingsRanApart) {
    EXPECT_TRUE(differ_in_clocks(card(), rows_at(900, {900, 900, 900}) + rows_at(1200, {1200, 1200, 1200})));
    // Both asked for more than a limit allowed: nothing tells them apart.
    EXPECT_FALSE(differ_in_clocks(card(), rows_at(1300, {1100, 1100, 1100}) + rows_at(1400, {1100, 1100, 1100})));
    // Boost wanders.
    EXPECT_FALSE(differ_in_clocks(card(), rows_at(unknown, {1380, 1395, 1410, 1402})));
    Device cpu = card();
    cpu.kind = Device::Kind::cpu;
    EXPECT_FALSE(differ_in_clocks(cpu, rows_at(900, {900, 900, 900}) + rows_at(1200, {1200, 1200, 1200})));
}

TEST(OverClocks, AreRowsOfOneOperationThatAnotherProgramHeldAtTwo) {
    EXPECT_TRUE(differ_in_clocks(card(), rows_at(unknown, {900, 900, 900}) + rows_at(unknown, {1400, 1400, 1400})));
}

TEST(OverClocks, TakeClocksNearEachOtherAsOne) {
    const auto clocks = trained_clocks(rows_at(900, {900, 903, 908}) + rows_at(1200, {1200, 1200, 1210, 1340}));
    ASSERT_EQ(clocks.size(), 2U);  // 1340 alone is no clock of its own
    EXPECT_DOUBLE_EQ(clocks[0].sm_clock_mhz, 903);
    EXPECT_EQ(clocks[0].rows, 3);
    EXPECT_DOUBLE_EQ(clocks[1].sm_clock_mhz, 1200);
}

TEST(OverClocks, LeaveOutRowsOfUnknownClockBesideOthers) {
    const auto rows = rows_at(unknown, {1410, 1410, 1410}) + rows_at(unknown, {unknown});
    DeviceModel frame = frame_of(card(), {});
    EXPECT_EQ(at_own_clocks(frame, rows).size(), 3U);
    EXPECT_EQ(rows_left_out(frame, rows),
              "1 of 4 operations of a100-40g-pcie have no clock beside others that do, and are left out");
    EXPECT_EQ(rows_left_out(frame, rows_at(unknown, {unknown, unknown})), "");
}

TEST(OverClocks, ScaleArithmeticByTheCoreClock) {
    const ClockParameters parameters = default_clock_parameters(card());
    const PreparedOperation highest = prepare(parse_operation(linear(4096)), card(), Math::ieee);
    const PreparedOperation half = at_clocks(highest, place_of(parameters, parameters.highest_mhz / 2, unknown));
    EXPECT_DOUBLE_EQ(half.roofline.flop_s, 2 * highest.roofline.flop_s);
    EXPECT_DOUBLE_EQ(half.clocks.x, 0.5);
    EXPECT_NEAR(roofline_at_highest(half).byte_s / highest.roofline.byte_s, 1, 1e-12);
}

/// A card by a law of this test: arithmetic at 70 % of its peak, bytes at 80 % of the bandwidth, 4 us beside; 40 W idle
/// at the highest clock, power that rises with the clock and its voltage.
TrainingRow measured(const std::string& text, double mhz) {
    TrainingRow row = row_of(text, mhz, mhz);
    const double x = mhz / highest_clock_mhz(card());
    const Roofline& work = row.operation.roofline;
    const double arithmetic = work.flop_s / 0.7 / x;
    const double bytes = work.byte_s / 0.8;
    row.time_s = 4e-6 + std::max(arithmetic, bytes);
    row.idle_power_w = 30 + 10 * x;
    const double voltage = 1 + 0.5 * std::max(0.0, x - 0.7);
    row.power_w = row.idle_power_w + (150 * x * arithmetic + 60 * bytes) / row.time_s * voltage * voltage;
    return row;
}

DeviceModel trained_over_clocks() {
    std::vector<TrainingRow> rows;
    for (const double mhz : {600.0, 870.0, 1140.0, 1410.0}) {
        for (int size = 6; size < 15; ++size) {
            for (const int part : {4, 5, 6, 7}) {
                rows.push_back(measured(linear(part << size), mhz));
                rows.push_back(measured(relu(part << (size + 10)), mhz));
            }
        }
    }
    TrainSettings settings;
    settings.trees = 20;
    settings.learner = Learner::extra_trees;
    OperatingPoint setting;
    setting.device = card().id;
    return train_device(card(), setting, rows, {}, settings);
}

TEST(OverClocks, ForecastOperationsAtClocksNeverMeasured) {
    const DeviceModel model = trained_over_clocks();
    ASSERT_TRUE(model.over_clocks);
    EXPECT_EQ(model.over_clocks->trained.size(), 4U);
    EXPECT_DOUBLE_EQ(model.point.sm_clock_mhz, 1410);
    for (const std::string& text : {linear(9000), linear(300), relu(9000000), relu(30000000)}) {
        for (const double mhz : {700.0, 1000.0, 1300.0}) {
            const TrainingRow truth = measured(text, mhz);
            const auto forecast = forecast_operation(model, all_columns(), at_own_clocks(model, truth), {});
            EXPECT_NEAR(forecast.cost.device_time.value.value() / truth.time_s, 1, 0.06) << text << mhz;
            EXPECT_NEAR(forecast.power.value.value() / truth.power_w, 1, 0.06) << text << mhz;
        }
    }
}

TEST(OverClocks, TakeWhatWasMeasuredAtTheClockAndMoveItToOthers) {
    const DeviceModel model = trained_over_clocks();
    MeasuredOperations measurements;
    const Seconds odd(0.123);
    MeasuredOperation& one = measurements[signature(parse_operation(relu(9000000)))];
    one.at_clocks.push_back({870, unknown, {odd, odd, odd}, {}});
    const auto at = [&](double mhz) {
        const PreparedOperation there = at_own_clocks(model, row_of(relu(9000000), mhz, mhz));
        return forecast_operation(model, all_columns(), there, measurements);
    };
    EXPECT_EQ(at(870).evidence, Evidence::measured);
    EXPECT_DOUBLE_EQ(at(870).cost.device_time.value.value(), 0.123);
    EXPECT_EQ(at(1410).evidence, Evidence::extrapolated);
    // Its bytes take as long at both clocks: so does what was measured.
    EXPECT_NEAR(at(1410).cost.device_time.value.value(), 0.123, 0.01);
}

TEST(OverClocks, ComeBackFromAFile) {
    Predictor predictor = empty_predictor();
    predictor.devices.push_back(trained_over_clocks());
    predictor.devices[0].laws[0].issue_s = 3e-6;
    predictor.devices[0].laws[0].law.tiles = {128, 32, 2, 0.8, 24, true};
    const Predictor back = from_jcp(to_jcp(predictor), "over.jcp");
    // Clocks that nobody told are NaN, which equals nothing: the files are compared.
    EXPECT_EQ(to_jcp(back), to_jcp(predictor));
    ASSERT_TRUE(back.devices[0].over_clocks);
    EXPECT_EQ(back.devices[0].over_clocks->trained.size(), 4U);
    EXPECT_EQ(back.devices[0].over_clocks->dynamic, predictor.devices[0].over_clocks->dynamic);
    EXPECT_EQ(back.devices[0].laws, predictor.devices[0].laws);
}

TEST(OverClocks, NetworksPassThroughTheClocksOfTheModelAndKeepTheLimit) {
    const DeviceModel model = trained_over_clocks();
    const NetworkForecast forecast =
        forecast_network(testing::synthetic_graph("resnet18", 64), "fp32", model, all_columns(), {}, Host::cpp);
    ASSERT_EQ(forecast.at_clocks.size(), 4U);
    OperatingPoint asked;
    asked.sm_clock_mhz = 870;
    const NetworkForecast there = at_point(forecast, model, asked);
    EXPECT_NEAR(there.time.value / forecast.at_clocks[1].time.value, 1, 1e-9);
    EXPECT_NEAR(there.power.value / forecast.at_clocks[1].power.value, 1, 1e-9);
    ASSERT_EQ(there.operations.size(), forecast.at_clocks[1].calls.size());
    EXPECT_NEAR(there.operations[0].cost.device_time.value / forecast.at_clocks[1].calls[0].time.value, 1, 1e-9);
    // A limit between what it draws at two clocks leaves a clock between them.
    asked.sm_clock_mhz = 1410;
    asked.power_limit_w = (forecast.at_clocks[1].power.value.value() + forecast.at_clocks[2].power.value.value()) / 2;
    const NetworkForecast limited = at_point(forecast, model, asked);
    EXPECT_EQ(limited.limited_by, Bound::power_cap);
    EXPECT_GT(limited.point.sm_clock_mhz, 870);
    EXPECT_LT(limited.point.sm_clock_mhz, 1140);
    EXPECT_LE(limited.power.value.value(), asked.power_limit_w);
}

}  // namespace
}  // namespace joulecast
