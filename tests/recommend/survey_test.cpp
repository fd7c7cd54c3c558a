#include "joulecast/recommend/survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/device/device_table.h"
#include "joulecast/forecast/at_point.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/physics/clock_curve.h"
#include "joulecast/recommend/grid.h"
#include "joulecast/recommend/limit.h"
#include "tests/train/synthetic.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;

/// Times by the roofline, power by the data sheet.
DeviceModel roofline_model(Device device) {
    DeviceModel model;
    model.device = std::move(device);
    model.point.device = model.device.id;
    return model;
}

NetworkForecast eight_images(const DeviceModel& model) {
    return forecast_network(synthetic_graph("resnet18", 8), "fp32", model, all_columns(), {}, model.point.host);
}

TEST(Survey, HasTheForecastAtEveryPointWithTheDefaultFirst) {
    const DeviceModel model = roofline_model(find_device("a30"));
    const NetworkForecast forecast = eight_images(model);
    const auto points = grid_points(clock_table_mhz(model.device), {.all_clocks = false, .clocks_mhz = {900, 300}});
    const Surveyed all = survey(forecast, model, points);
    ASSERT_EQ(all.candidates.size(), 3U);
    EXPECT_TRUE(all.refused.empty());
    const Candidate& usual = all.candidates[0];
    EXPECT_TRUE(usual.is_default);
    EXPECT_EQ(usual.asked.sm_clock_mhz, highest_clock_mhz(model.device));
    EXPECT_FALSE(usual.sets_clock());
    EXPECT_EQ(usual.samples, 8);
    EXPECT_TRUE(std::isnan(usual.tokens));
    EXPECT_DOUBLE_EQ(usual.memory.value.value(), forecast.memory_plan->reserved_bytes);
    EXPECT_GE(usual.memory.value.value(), forecast.resident_bytes + forecast.cost.peak_memory.value.value());
    const Candidate& low = all.candidates[1];
    EXPECT_EQ(low.asked.sm_clock_mhz, 300);
    EXPECT_FALSE(low.is_default);
    EXPECT_TRUE(low.sets_clock());
    EXPECT_DOUBLE_EQ(low.time.value.value(), ForecastCurve(forecast, model).at(low.asked).time.value.value());
    ASSERT_TRUE(unfit(low)) << "300 MHz are below (knee - 0.1) of 1440 MHz";
    EXPECT_EQ(unfit(low)->kind, Unfit::Kind::clock);
    EXPECT_FALSE(unfit(all.candidates[2]));
}

TEST(Survey, NamesWhatTheDeviceDoesNotHave) {
    const DeviceModel model = roofline_model(find_device("a30"));
    const auto points = grid_points(clock_table_mhz(model.device), {.all_clocks = false, .clocks_mhz = {900, 9000}});
    const Surveyed all = survey(eight_images(model), model, points);
    EXPECT_EQ(all.candidates.size(), 2U);
    ASSERT_EQ(all.refused.size(), 1U);
    EXPECT_THAT(all.refused[0], HasSubstr("9000"));
}

TEST(Survey, OffersNoPowerLimitThatNobodyKnowsTheDriverToTake) {
    Device device = find_device("a30");
    const auto limited = [&] {
        const DeviceModel model = roofline_model(device);
        return survey(eight_images(model), model,
                      grid_points(clock_table_mhz(device), {.all_clocks = false, .power_limits_w = {120, 165}}));
    };
    EXPECT_EQ(limited().candidates.size(), 3U) << "a30 takes 100 to 165 W";
    device.min_power_limit_w = Device::unknown;
    const Surveyed without = limited();
    EXPECT_EQ(without.candidates.size(), 2U) << "its own limit is always there";
    ASSERT_EQ(without.refused.size(), 1U);
    EXPECT_THAT(without.refused[0], HasSubstr("the lowest that its driver takes is not known"));
}

TEST(Survey, TellsTimeAndEnergyOverTheDefault) {
    const DeviceModel model = roofline_model(find_device("a30"));
    const NetworkForecast forecast = eight_images(model);
    const auto points = grid_points(clock_table_mhz(model.device), {.all_clocks = false, .clocks_mhz = {900}});
    const Surveyed all = survey(forecast, model, points);
    EXPECT_DOUBLE_EQ(all.candidates[0].over_default.time.value.value(), 1);
    const Candidate& low = all.candidates[1];
    EXPECT_DOUBLE_EQ(low.over_default.time.value.value(),
                     low.time.value.value() / all.candidates[0].time.value.value());
    EXPECT_GT(low.over_default.time.value.value(), 1);
    EXPECT_LT(low.over_default.energy.value.value(), 1);
    const double of_ratio = low.over_default.time.high / low.over_default.time.low;
    EXPECT_LT(of_ratio, low.time.high / low.time.low) << "what is missed at both clocks cancels";
}

TEST(Survey, OfADeviceWithoutClocksIsTheForecast) {
    Device cpu;
    cpu.id = "cpu-made-up";
    cpu.units = 2;
    cpu.peak_flop_per_s_fp32 = 1e11;
    cpu.bandwidth_bytes_per_s = 1e10;
    const DeviceModel model = roofline_model(cpu);
    NetworkForecast forecast = eight_images(model);
    forecast.training.accumulation = 4;
    const Surveyed one = survey(forecast, model, grid_points(clock_table_mhz(cpu), {}));
    ASSERT_EQ(one.candidates.size(), 1U);
    EXPECT_TRUE(one.candidates[0].is_default);
    EXPECT_EQ(one.candidates[0].time.value, forecast.time.value);
    EXPECT_EQ(one.candidates[0].over_default.time.high.value(), 1);
    EXPECT_EQ(one.candidates[0].samples, 32) << "eight in each of four passes";
    const Surveyed limited = survey(forecast, model, grid_points(clock_table_mhz(cpu), {.power_limits_w = {50}}));
    EXPECT_EQ(limited.candidates.size(), 1U);
    ASSERT_EQ(limited.refused.size(), 1U);
    EXPECT_THAT(limited.refused[0], HasSubstr("cpu-made-up cannot be set"));
}

}  // namespace
}  // namespace joulecast::testing
