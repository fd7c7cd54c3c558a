#include "joulecast/evaluate/network_curves.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "joulecast/device/device_table.h"
#include "joulecast/train/network_ratios.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

/// Times by the roofline, power by the data sheet.
DeviceModel card() {
    DeviceModel model;
    model.device = find_device("a100-40g-pcie");
    model.point.device = model.device.id;
    model.call_overhead_s = 4e-6;
    return model;
}

TrainingNetwork measured(double mhz, double seconds, double watts, int batch = 8) {
    const Graph graph = testing::synthetic_graph("resnet18", batch);
    TrainingNetwork network{graph, testing::synthetic_network(graph).measurement};
    NetworkMeasurement& m = network.measurement;
    m.asked.sm_clock_mhz = m.real.sm_clock_mhz = mhz;
    m.real.host = Host::graph;
    m.time.median_s = seconds;
    m.energy.emplace();
    m.energy->power_w = watts;
    m.energy->energy_j = watts * seconds;
    return network;
}

class OverTheClock : public ::testing::Test {
  protected:
    DeviceModel device_ = card();
    MeasuredOperations none_;
    std::vector<const Feature*> columns_ = all_columns();
    ForecastCache known_{device_, columns_, none_};
};

TEST_F(OverTheClock, CurvesGoFromTheLowestToTheHighestMeasuredClock) {
    std::vector<TrainingNetwork> networks{measured(1200, 0.002, 200), measured(600, 0.004, 90),
                                          measured(900, 0.003, 130), measured(900, 0.001, 70, 2)};
    networks[0].measurement.asked.power_limit_w = 180;  // lies on no curve over the clock
    const auto curves = network_curves(known_, networks);
    ASSERT_EQ(curves.size(), 1U);  // one clock is no curve
    const NetworkCurve& curve = curves[0];
    EXPECT_EQ(curve.symbols.at("batch"), 8);
    ASSERT_EQ(curve.measured.size(), 2U);
    EXPECT_EQ(curve.measured[0].clock_mhz, 600);
    EXPECT_EQ(curve.measured[1].time_s, 0.003);
    EXPECT_NEAR(curve.measured[0].energy_j, 0.36, 1e-12);
    EXPECT_EQ(curve.forecast.front().clock_mhz, 600);
    EXPECT_EQ(curve.forecast.back().clock_mhz, 900);
    EXPECT_GT(curve.forecast.front().time.value, curve.forecast.back().time.value);
    EXPECT_TRUE(curve.forecast.front().energy.known());
}

TEST_F(OverTheClock, NoCurveAtClocksThatTheDeviceDoesNotHave) {
    EXPECT_TRUE(network_curves(known_, std::vector{measured(600, 4, 90), measured(9000, 1, 300)}).empty());
}

TEST_F(OverTheClock, RatiosAreToTheHighestMeasuredClock) {
    const auto ratios = network_ratios(
        known_, std::vector{measured(600, 0.004, 90), measured(1200, 0.002, 200), measured(900, 0.003, 130)});
    ASSERT_EQ(ratios.size(), 2U);
    EXPECT_EQ(ratios[0].reference.real.sm_clock_mhz, 1200);
    EXPECT_NEAR(ratios[0].distance, std::log(2.0), 1e-9);
    EXPECT_NEAR(ratios[0].measured_time(), 2, 1e-12);
    EXPECT_NEAR(ratios[0].measured_power(), 0.45, 1e-12);
    EXPECT_NEAR(ratios[0].measured_energy(), 0.9, 1e-12);
    EXPECT_NEAR(ratios[0].forecast.time.value.value(), ratios[0].here.time.value / ratios[0].there.time.value, 1e-12);
}

TEST_F(OverTheClock, ClocksNearEachOtherAreNoRatio) {
    EXPECT_TRUE(network_ratios(known_, std::vector{measured(1200, 0.002, 200), measured(1215, 0.002, 200)}).empty());
}

}  // namespace
}  // namespace joulecast
