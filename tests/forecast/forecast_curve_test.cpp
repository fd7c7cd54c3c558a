#include "joulecast/forecast/forecast_curve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/device/device_table.h"
#include "joulecast/forecast/log_interval.h"
#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

template <class Unit>
Estimate<Unit> around(double value, double half_width) {
    return within_log<Unit>(value, half_width);
}

/// A network of 10 ms and 1 J at 1410 MHz, each to within a factor of exp(0.2), that nothing but the clock limits.
NetworkForecast forecast_of_a_network() {
    NetworkForecast forecast;
    forecast.point.sm_clock_mhz = 1410;
    forecast.time = around<Seconds>(0.010, 0.2);
    forecast.cost.device_time = forecast.time;
    forecast.cost.host_time = {Seconds(0), Seconds(0), Seconds(0)};
    forecast.energy = around<Joules>(1, 0.2);
    forecast.power = around<Watts>(100, 0.2);
    OperationForecast& operation = forecast.operations.emplace_back();
    operation.cost.device_time = forecast.time;
    operation.cost.host_time = {Seconds(0), Seconds(0), Seconds(0)};
    operation.balance = {0.010, 0, 0};
    return forecast;
}

DeviceModel card() {
    DeviceModel model;
    model.device = find_device("a100-40g-pcie");
    model.device.min_power_limit_w = 1;  // to see what limits do, whichever the driver takes
    model.point.device = model.device.id;
    model.point.sm_clock_mhz = 1410;
    return model;
}

/// The same card, its models trained at three clocks, whose ratios are off by 3 %, 4 % and 5 %.
DeviceModel card_over_clocks() {
    DeviceModel model = card();
    model.clocks = default_clock_parameters(model.device);
    model.over_clocks =
        OverClocks{{{705, std::nan(""), 9}, {1000, std::nan(""), 9}, {1410, std::nan(""), 9}}, {}, {0.03, 0.04, 0.05}};
    return model;
}

NetworkForecast at_three_clocks() {
    NetworkForecast forecast = forecast_of_a_network();
    for (const double mhz : {705.0, 1000.0, 1410.0}) {
        const double seconds = 0.010 * 1410 / mhz;
        forecast.at_clocks.push_back({mhz,
                                      std::nan(""),
                                      around<Seconds>(seconds, 0.2),
                                      around<Seconds>(seconds, 0.2),
                                      forecast.cost.host_time,
                                      around<Watts>(mhz / 14.1, 0.2),
                                      around<Joules>((mhz / 14.1) * seconds, 0.2),
                                      {}});
    }
    return forecast;
}

OperatingPoint clock(double mhz) {
    OperatingPoint point;
    point.sm_clock_mhz = mhz;
    return point;
}

double half_width(const Estimate<Ratio>& ratio) {
    return log_half_width(ratio);
}

TEST(ForecastCurve, RatiosAreOfTheValuesAndNarrowerThanThem) {
    const ForecastCurve curve(at_three_clocks(), card_over_clocks());
    const PointForecast low = curve.at(clock(750));
    const RelativeCost relative = curve.relative_to_default(low);
    const PointForecast own = curve.at({});
    EXPECT_DOUBLE_EQ(relative.time.value.value(), low.time.value / own.time.value);
    EXPECT_DOUBLE_EQ(relative.energy.value.value(), low.energy.value / own.energy.value);
    EXPECT_DOUBLE_EQ(relative.power.value.value(), low.power.value / own.power.value);
    EXPECT_LT(half_width(relative.time), 0.5 * log_half_width(low.time));
    EXPECT_LT(half_width(relative.energy), 0.5 * log_half_width(low.energy));
}

TEST(ForecastCurve, RatiosWidenAsTheModelLearned) {
    const ForecastCurve curve(at_three_clocks(), card_over_clocks());
    const RelativeCost relative = curve.relative_to_default(curve.at(clock(705)));
    const double distance = std::log(2.0);  // 1410 over 705
    EXPECT_NEAR(half_width(relative.time), normal_90 * 0.03 * ratio_share_of_time(distance), 1e-6);
    EXPECT_NEAR(half_width(relative.power), normal_90 * 0.04 * ratio_share_of_power(distance), 1e-6);
    EXPECT_NEAR(half_width(relative.energy), normal_90 * 0.05 * ratio_share_of_power(distance), 1e-6);
    // Below the lowest trained clock the curve itself adds to that.
    const double beyond = half_width(curve.relative_to_default(curve.at(clock(400))).time);
    EXPECT_GT(beyond, 2 * half_width(relative.time));
}

TEST(ForecastCurve, BetweenTrainedClocksRatiosAreLessCertain) {
    const ForecastCurve curve(at_three_clocks(), card_over_clocks());
    // 840 lies in the middle of the gap from 705 to 1000, for the logarithm.
    const double middle = std::sqrt(705.0 * 1000.0);
    const RelativeCost relative = curve.relative_to_default(curve.at(clock(middle)));
    const double learned = 0.04 * ratio_share_of_power(std::log(1410 / middle));
    const double bend = 0.05 * std::log(1000.0 / 705);
    EXPECT_NEAR(half_width(relative.power), normal_90 * std::hypot(learned, bend), 1e-6);
    EXPECT_GT(half_width(relative.power), half_width(curve.relative_to_default(curve.at(clock(705))).power));
}

TEST(ForecastCurve, TheDefaultClockOverItselfIsOne) {
    const ForecastCurve curve(at_three_clocks(), card_over_clocks());
    for (const PointForecast& own : {curve.at({}), curve.at(clock(1410))}) {
        const RelativeCost same = curve.relative_to_default(own);
        EXPECT_DOUBLE_EQ(same.time.value.value(), 1);
        EXPECT_DOUBLE_EQ(same.time.low.value(), 1);
        EXPECT_DOUBLE_EQ(same.energy.high.value(), 1);
    }
}

TEST(ForecastCurve, OfOneClockRatiosAreAsFarOffAsTheCurve) {
    DeviceModel model = card();
    model.clocks = default_clock_parameters(model.device);
    model.clocks->spread = {0.02, 0.03, 0.04};
    const ForecastCurve curve(forecast_of_a_network(), model);
    const RelativeCost relative = curve.relative_to_default(curve.at(clock(705)));
    EXPECT_NEAR(half_width(relative.time), normal_90 * 0.02 * std::log(2.0), 1e-6);
    EXPECT_NEAR(half_width(relative.energy), normal_90 * 0.04 * std::log(2.0), 1e-6);
}

TEST(ForecastCurve, NoRatioIsLessCertainThanTwoValuesThatShareNothing) {
    DeviceModel model = card_over_clocks();
    model.over_clocks->ratio = {9, 9, 9};
    const ForecastCurve vague(at_three_clocks(), model);
    EXPECT_NEAR(half_width(vague.relative_to_default(vague.at(clock(705))).time), std::hypot(0.2, 0.2), 1e-6);
}

TEST(ForecastCurve, ALimitBlursWhichClockRuns) {
    const ForecastCurve curve(at_three_clocks(), card_over_clocks());
    // What the control loop leaves of it is the power at 1000 MHz, where the curve was trained.
    const double limit = curve.at(clock(1000)).power.value.value() / 0.995;
    OperatingPoint asked = clock(1300);
    asked.power_limit_w = limit;
    OperatingPoint more = clock(1400);
    more.power_limit_w = limit;
    const PointForecast held = curve.at(asked), held_more = curve.at(more);
    ASSERT_NEAR(held.real.sm_clock_mhz, held_more.real.sm_clock_mhz, 0.01);
    const double blurred = normal_90 * 0.03 * ratio_share_of_time(std::log(1400.0 / 1300));
    EXPECT_NEAR(half_width(curve.relative(held, held_more).time), blurred, 1e-4);
}

TEST(ForecastCurve, WithoutEnergyItsRatioIsNotKnown) {
    NetworkForecast forecast = forecast_of_a_network();
    forecast.energy = {};
    forecast.power = {};
    const ForecastCurve curve(forecast, card());
    const RelativeCost relative = curve.relative_to_default(curve.at(clock(900)));
    EXPECT_TRUE(relative.time.known());
    EXPECT_FALSE(relative.energy.known());
    EXPECT_FALSE(relative.power.known());
}

}  // namespace
}  // namespace joulecast
