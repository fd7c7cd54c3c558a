#include "joulecast/forecast/at_point.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using testing::synthetic_graph;

/// Times by the roofline, power by the data sheet.
DeviceModel model_of(const std::string& id) {
    DeviceModel model;
    model.device = find_device(id);
    model.device.min_power_limit_w = 1;  // to see what limits do, whichever the driver takes
    model.point.device = model.device.id;
    model.call_overhead_s = 4e-6;
    return model;
}

NetworkForecast forecast_of(const DeviceModel& model, int batch) {
    return forecast_network(synthetic_graph("resnet18", batch), "fp32", model, all_columns(), {}, Host::graph);
}

OperatingPoint clock(double sm_mhz, double limit_w = std::nan("")) {
    OperatingPoint point;
    point.sm_clock_mhz = sm_mhz;
    point.power_limit_w = limit_w;
    return point;
}

class AtPoint : public ::testing::Test {
  protected:
    DeviceModel model_ = model_of("a100-40g-pcie");
    NetworkForecast forecast_ = forecast_of(model_, 64);
};

TEST_F(AtPoint, IsTheForecastWhereNothingElseIsAsked) {
    const PointForecast same = ForecastCurve(forecast_, model_).at({});
    EXPECT_NEAR(same.time.value / forecast_.time.value, 1, 1e-6);
    EXPECT_NEAR(same.energy.value / forecast_.energy.value, 1, 1e-6);
    EXPECT_NEAR(same.time.high / forecast_.time.high, 1, 1e-6);
    EXPECT_NEAR(same.power.low / forecast_.power.low, 1, 1e-6);
    EXPECT_EQ(same.limited_by, forecast_.limited_by);
}

TEST_F(AtPoint, ALowerClockTakesLongerAndDrawsLess) {
    const ForecastCurve curve(forecast_, model_);
    PointForecast before = curve.at(clock(1410));
    for (const double mhz : {1200.0, 1000.0, 800.0, 600.0, 400.0}) {
        const PointForecast point = curve.at(clock(mhz));
        EXPECT_GT(point.time.value, before.time.value) << mhz;
        EXPECT_LT(point.power.value, before.power.value) << mhz;
        EXPECT_DOUBLE_EQ(point.real.sm_clock_mhz, mhz);
        EXPECT_NEAR(point.energy.value.value(), (point.power.value * point.time.value).value(), 1e-9);
        EXPECT_NEAR(point.energy.value.value(), point.idle_energy_j + point.dynamic_energy_j, 1e-9);
        // No kernel slows down by more than the clock does.
        EXPECT_LE(point.time.value / curve.at(clock(1410)).time.value, 1410 / mhz + 1e-9) << mhz;
        before = point;
    }
}

TEST_F(AtPoint, LowerClocksLeaveMoreKernelsToTheirArithmetic) {
    double before = forecast_.compute_share;
    EXPECT_GT(before, 0.1);
    EXPECT_LT(before, 0.9);
    for (const double mhz : {1200.0, 900.0, 600.0}) {
        NetworkForecast summary = forecast_;
        summary.operations.clear();
        const ForecastCurve curve(forecast_, model_);
        const double there = at_point(forecast_, curve, clock(mhz)).compute_share;
        EXPECT_DOUBLE_EQ(at_point(summary, curve, clock(mhz)).compute_share, there) << "told without the list too";
        EXPECT_GE(there, before - 1e-3) << mhz;
        before = there;
    }
    EXPECT_GT(before, forecast_.compute_share + 0.01);
}

TEST_F(AtPoint, IntervalsWidenWithTheDistance) {
    const ForecastCurve curve(forecast_, model_);
    const auto width = [](const auto& estimate) { return std::log(estimate.high / estimate.low); };
    EXPECT_LT(width(curve.at(clock(1410)).time), width(curve.at(clock(1200)).time));
    EXPECT_LT(width(curve.at(clock(1200)).time), width(curve.at(clock(700)).time));
    EXPECT_LT(width(curve.at(clock(1410)).energy), width(curve.at(clock(700)).energy));
    DeviceModel calibrated = model_;
    calibrated.clocks = clock_parameters(model_);
    calibrated.clocks->spread = {0.01, 0.01, 0.01};
    EXPECT_LT(width(ForecastCurve(forecast_, calibrated).at(clock(700)).time), width(curve.at(clock(700)).time));
}

TEST_F(AtPoint, APowerLimitLeavesLessThanTheClockAsked) {
    const ForecastCurve curve(forecast_, model_);
    const double limit = (curve.at(clock(1410)).power.value * 0.7).value();
    const PointForecast held = curve.at(clock(1410, limit));
    EXPECT_EQ(held.asked.sm_clock_mhz, 1410);
    EXPECT_LT(held.real.sm_clock_mhz, 1400);
    EXPECT_EQ(held.real.power_limit_w, limit);
    EXPECT_LE(held.power.value.value(), limit);
    EXPECT_GT(held.power.value.value(), 0.98 * limit);
    EXPECT_EQ(held.limited_by, Bound::power_cap);
    // Every higher clock asked for is the same.
    EXPECT_NEAR(curve.at(clock(1300, limit)).time.value / held.time.value, 1, 1e-4);
}

TEST_F(AtPoint, BelowItsLowestClockALimitStopsAndGoes) {
    const ForecastCurve curve(forecast_, model_);
    const PointForecast lowest = curve.at(clock(210));
    const PointForecast held = curve.at(clock(1410, 46));
    EXPECT_NEAR(held.real.sm_clock_mhz, 210, 1e-6);
    EXPECT_NEAR(held.power.value.value(), 46, 1e-6);
    EXPECT_NEAR(held.energy.value / lowest.energy.value, 1, 1e-6);  // the same work, with pauses
}

TEST_F(AtPoint, TheMemorysClockSlowsWhatMovesBytes) {
    OperatingPoint slow;
    slow.memory_clock_mhz = 810;
    const PointForecast point = ForecastCurve(forecast_, model_).at(slow);
    EXPECT_GT(point.time.value, forecast_.time.value);
    EXPECT_LE(point.time.value / forecast_.time.value, 1215.0 / 810 + 1e-9);
    EXPECT_NEAR(point.real.memory_clock_mhz, 810, 1e-9);
}

TEST_F(AtPoint, SaysTheRangeOfWhatTheDeviceDoesNotHave) {
    DeviceModel of_sheet = model_;
    of_sheet.device = find_device("a100-40g-pcie");
    const ForecastCurve curve(forecast_, of_sheet);
    const auto message = [&](const OperatingPoint& asked) -> std::string {
        try {
            curve.at(asked);
        } catch (const UsageError& error) {
            return error.what();
        }
        return "no error";
    };
    EXPECT_EQ(message(clock(2500)), "a100-40g-pcie runs at 210 to 1410 MHz, not at 2500 MHz");
    EXPECT_EQ(message(clock(1e300)), "a100-40g-pcie runs at 210 to 1410 MHz, not at 1e+300 MHz");
    EXPECT_EQ(message(clock(100)), "a100-40g-pcie runs at 210 to 1410 MHz, not at 100 MHz");
    EXPECT_EQ(message(clock(1000, 120)), "a100-40g-pcie takes power limits of 150 W to 250 W, not of 120 W");
    EXPECT_EQ(message(clock(1000, 300)), "a100-40g-pcie takes power limits of 150 W to 250 W, not of 300 W");
    EXPECT_EQ(message(clock(1000, 250)), "no error");
    OperatingPoint memory;
    memory.memory_clock_mhz = 9000;
    EXPECT_EQ(message(memory), "the memory of a100-40g-pcie runs at up to 1215 MHz, not at 9000 MHz");
}

TEST_F(AtPoint, TakesTheLimitsOfTheDriverBeforeThoseOfTheSheet) {
    DeviceModel told = model_;
    told.device.max_power_limit_w = 280;
    told.device.min_power_limit_w = 90;
    const ForecastCurve curve(forecast_, told);
    EXPECT_NO_THROW(curve.at(clock(1000, 280)));
    EXPECT_NO_THROW(curve.at(clock(1000, 90)));
    EXPECT_THROW(curve.at(clock(1000, 281)), UsageError);
    // What it was measured under, its driver took.
    told.point.power_limit_w = 300;
    EXPECT_NO_THROW(ForecastCurve(forecast_, told).at(clock(1000, 300)));
}

TEST_F(AtPoint, CarriesTheOperationsAlong) {
    const NetworkForecast moved = at_point(forecast_, model_, clock(705));
    EXPECT_EQ(moved.asked.sm_clock_mhz, 705);
    EXPECT_EQ(moved.point.sm_clock_mhz, 705);
    ASSERT_EQ(moved.operations.size(), forecast_.operations.size());
    for (std::size_t i = 0; i < moved.operations.size(); ++i) {
        const OperationForecast& before = forecast_.operations[i];
        const OperationForecast& after = moved.operations[i];
        EXPECT_GE(after.cost.device_time.value, before.cost.device_time.value);
        EXPECT_LE(after.cost.device_time.value.value(), 2.001 * before.cost.device_time.value.value());
        if (before.power.known()) {
            EXPECT_LE(after.power.value, before.power.value);
        }
        EXPECT_NE(after.evidence, Evidence::interpolated);
    }
    EXPECT_EQ(moved.cost.peak_memory.value, forecast_.cost.peak_memory.value);
}

/// The update's time used to stay that of the clock of the forecast.
TEST_F(AtPoint, StretchesTheUpdateAsItsCalls) {
    forecast_.operations.front().part = StepPart::update;
    forecast_.update_time = {Seconds(1e-3), Seconds(0.8e-3), Seconds(1.25e-3)};
    const NetworkForecast slow = at_point(forecast_, model_, clock(700));
    const double stretch =
        slow.operations.front().cost.device_time.value / forecast_.operations.front().cost.device_time.value;
    EXPECT_GT(stretch, 1.01);
    EXPECT_NEAR(slow.update_time.value.value(), 1e-3 * stretch, 1e-12);
    EXPECT_GT(slow.update_time.high / slow.update_time.low, 1.25 / 0.8) << "wider away from the forecast's clock";
    forecast_.operations.clear();
    const NetworkForecast unlisted = at_point(forecast_, model_, clock(700));
    EXPECT_NEAR(unlisted.update_time.value.value(), 1e-3 * (unlisted.time.value / forecast_.time.value), 1e-12);
}

TEST_F(AtPoint, CallsAnotherClockExtrapolatedUnlessClocksWereMeasured) {
    NetworkForecast known = forecast_;
    known.evidence_share = {{Evidence::measured, 0.5}, {Evidence::analytic, 0.5}};
    EXPECT_DOUBLE_EQ(at_point(known, model_, clock(705)).evidence_share.at(Evidence::extrapolated), 0.5);
    EXPECT_DOUBLE_EQ(at_point(known, model_, clock(705)).evidence_share.at(Evidence::analytic), 0.5);
    EXPECT_DOUBLE_EQ(at_point(known, model_, clock(1410)).evidence_share.at(Evidence::measured), 0.5);
    DeviceModel calibrated = model_;
    calibrated.clocks = clock_parameters(model_);
    calibrated.clocks->workloads = 2;
    EXPECT_DOUBLE_EQ(at_point(known, calibrated, clock(705)).evidence_share.at(Evidence::interpolated), 0.5);
}

TEST_F(AtPoint, AForecastThatTheLimitHoldsIsOneForTheClockThatIsLeft) {
    DeviceModel hungry = model_;
    hungry.power = {50, 150, 150, 0, 0};  // capped at 150 W
    NetworkForecast held = forecast_;
    held.limited_by = Bound::power_cap;
    held.power = {Watts(149.25), Watts(140), Watts(150)};
    held.energy = {Joules(149.25 * held.time.value.value()), Joules(1), Joules(1000)};
    // The operations alone would draw 100 W more than idle for all of the time, and 60 W more.
    double sum = 0;
    for (OperationForecast& operation : held.operations) {
        const double joules = 160 * held.time.value.value() / static_cast<double>(held.operations.size());
        operation.cost.dynamic_energy.value = Joules(joules / static_cast<double>(operation.count));
        sum += joules;
    }
    ASSERT_NEAR(50 + sum / held.time.value.value(), 210, 1e-6);
    const ForecastCurve curve(held, hungry);
    EXPECT_LT(curve.curve().known().x, 0.95);
    const PointForecast highest = curve.at({});
    EXPECT_NEAR(highest.time.value / held.time.value, 1, 1e-4);
    EXPECT_NEAR(highest.power.value.value(), 149.25, 0.05);
    EXPECT_EQ(highest.limited_by, Bound::power_cap);
    // A little less than the highest clock costs nothing, since it was not reached anyway.
    EXPECT_NEAR(curve.at(clock(1395)).time.value / held.time.value, 1, 1e-4);
    // With a higher limit it is faster.
    EXPECT_LT(curve.at(clock(1410, 250)).time.value, held.time.value);
}

TEST(AtPointOfOtherDevices, RefusesACpu) {
    DeviceModel cpu;
    cpu.device = testing::synthetic_cpu();
    cpu.point = testing::synthetic_point();
    try {
        clock_parameters(cpu);
        FAIL() << "a CPU has no clock model";
    } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("only GPUs have a clock model"), std::string::npos) << error.what();
    }
}

TEST(AtPointOfOtherDevices, AHostThatDecidesHoldsTheTimeAtEveryClock) {
    const DeviceModel model = model_of("a100-40g-pcie");
    NetworkForecast forecast = forecast_of(model, 8);
    const double device = forecast.cost.device_time.value.value();
    forecast.cost.host_time = {Seconds(3 * device), Seconds(3 * device), Seconds(3 * device)};
    const ForecastCurve curve(forecast, model);
    const PointForecast slower = curve.at(clock(1200));
    // ((3 / 3)^8 + (1.175 / 3)^8)^(1/8): the device is hidden.
    EXPECT_NEAR(slower.time.value / forecast.time.value, 1, 1e-3);
    EXPECT_EQ(slower.limited_by, Bound::host);
    EXPECT_EQ(slower.host_time.value, forecast.cost.host_time.value);
}

}  // namespace
}  // namespace joulecast
