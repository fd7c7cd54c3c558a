#include "joulecast/measure/soak.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/measure/simulated_bench.h"

namespace joulecast {
namespace {

struct Thermometer final : DeviceStateProbe {
    Thermometer(SimulatedBench& bench, std::function<double(double)> celsius)
        : bench_(bench), celsius_(std::move(celsius)), start_s_(bench.time()) {}
    DeviceState read() override {
        DeviceState state;
        state.temperature_c = celsius_(bench_.time() - start_s_);
        return state;
    }

  private:
    SimulatedBench& bench_;
    std::function<double(double)> celsius_;
    double start_s_;
};

Soak soaked(const std::function<double(double)>& celsius, std::int64_t* calls = nullptr) {
    SimulatedBench bench;
    SimulatedCalls load(bench, 5e-3);
    Thermometer thermometer(bench, celsius);
    SoakRule rule;
    rule.call_s = 5e-3;
    const Soak result = soak(load, thermometer, bench, rule);
    if (calls != nullptr) *calls = load.done;
    return result;
}

TEST(Soak, EndsWhenTemperatureRisesByLessThanADegreeInTenSeconds) {
    // 70 - 30 exp(-t / 8): the rise over the last 10 s is 30 exp(-t / 8) (exp(10 / 8) - 1) = 74.7 exp(-t / 8), below
    // 1 from t = 8 ln 74.7 = 34.5 s on.
    const Soak result = soaked([](double t) { return 70.0 - 30.0 * std::exp(-t / 8.0); });
    EXPECT_TRUE(result.settled);
    EXPECT_NEAR(result.soak_s, 34.5, 1.0);
    EXPECT_NEAR(result.temperature_c, 69.6, 0.1);
}

TEST(Soak, OfAWarmDeviceTakesTheTimeToSeeThat) {
    const Soak result = soaked([](double) { return 65.0; });
    EXPECT_TRUE(result.settled);
    EXPECT_NEAR(result.soak_s, 10.0, 1.0);
}

TEST(Soak, GivesUpAfterAMinuteAndSaysSo) {
    const Soak result = soaked([](double t) { return 40.0 + t; });
    EXPECT_FALSE(result.settled);
    EXPECT_NEAR(result.soak_s, 60.0, 1.0);
}

TEST(Soak, WithoutAThermometerIsNone) {
    std::int64_t calls = -1;
    const Soak result = soaked([](double) { return std::nan(""); }, &calls);
    EXPECT_EQ(result.soak_s, 0.0);
    EXPECT_TRUE(result.settled);
    EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace joulecast
