#include "joulecast/evaluate/device_choice.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace joulecast {
namespace {

Device sheet(const char* id, double year, double bandwidth, double tdp_w) {
    Device device;
    device.id = id;
    device.release_year = year;
    device.bandwidth_bytes_per_s = bandwidth;
    device.tdp_w = tdp_w;
    return device;
}

NetworkAccuracy ran(const char* network, const char* device, double measured_s, double forecast_s) {
    NetworkAccuracy one;
    one.network = network;
    one.device = device;
    one.precision = "fp32";
    one.measured_time_s = measured_s;
    one.predicted_time = {Seconds(forecast_s), Seconds(forecast_s), Seconds(forecast_s)};
    return one;
}

NetworkAccuracy with_energy(NetworkAccuracy one, double measured_j, double forecast_j) {
    one.measured_energy_j = measured_j;
    one.predicted_energy = {Joules(forecast_j), Joules(forecast_j), Joules(forecast_j)};
    return one;
}

const ClockRegret* line(const std::vector<ClockRegret>& regrets, const std::string& rule, const std::string& what) {
    const auto found = std::ranges::find_if(
        regrets, [&](const ClockRegret& regret) { return regret.rule == rule && regret.objective == what; });
    return found == regrets.end() ? nullptr : &*found;
}

const std::vector<Device> made_up_sheets{sheet("old", 2015, 9e11, 70), sheet("new", 2023, 5e11, 300)};

TEST(DeviceChoice, RegretIsWhatTheDeviceChosenTakesMoreThanTheBest) {
    // "one" is forecast the right way round, "two" the wrong one: 3 s on the device chosen, 2 s on the other.
    const auto regrets = device_regrets(std::vector{ran("one", "old", 2, 3), ran("one", "new", 1, 2),
                                                    ran("two", "old", 3, 1), ran("two", "new", 2, 1.5)},
                                        made_up_sheets);
    const ClockRegret* const own = line(regrets, "joulecast", "time");
    ASSERT_NE(own, nullptr);
    EXPECT_EQ(own->workloads, 2);
    EXPECT_DOUBLE_EQ(own->mean, 0.25);  // (0 + 0.5) / 2
    EXPECT_DOUBLE_EQ(own->worst, 0.5);
    EXPECT_EQ(own->worst_workload, "two, inference, fp32");
    EXPECT_DOUBLE_EQ(line(regrets, "newest device", "time")->mean, 0);
    EXPECT_DOUBLE_EQ(line(regrets, "largest bandwidth", "time")->mean, 0.75);  // "old": (1 + 0.5) / 2
    EXPECT_DOUBLE_EQ(line(regrets, "least TDP", "time")->mean, 0.75);
    EXPECT_EQ(line(regrets, "joulecast", "energy"), nullptr) << "nobody metered it";
}

TEST(DeviceChoice, EnergyIsWithinTimesOfTheFastestDevice) {
    // The thrifty one takes 1.15 times as long: too long for 1.1 of the time, not for 1.2.
    const auto regrets = device_regrets(
        std::vector{with_energy(ran("one", "old", 1.15, 1.15), 4, 4), with_energy(ran("one", "new", 1, 1), 8, 8)},
        made_up_sheets);
    for (const char* objective : {"energy", "edp", "energy within 1.1 of the time", "energy within 1.2 of the time"})
        EXPECT_DOUBLE_EQ(line(regrets, "joulecast", objective)->mean, 0) << objective;
    EXPECT_DOUBLE_EQ(line(regrets, "newest device", "energy")->mean, 1);  // 8 J against 4
    EXPECT_DOUBLE_EQ(line(regrets, "newest device", "energy within 1.1 of the time")->mean, 0);
    EXPECT_EQ(line(regrets, "least TDP", "energy within 1.1 of the time")->over_limit, 1);
    EXPECT_EQ(line(regrets, "least TDP", "energy within 1.2 of the time")->over_limit, 0);
}

TEST(DeviceChoice, ComparesOnlyTheSameWorkOnSeveralDevices) {
    NetworkAccuracy other = ran("one", "new", 1, 1);
    other.symbols["batch"] = 2;
    EXPECT_TRUE(device_regrets(std::vector{ran("one", "old", 2, 2), other}, made_up_sheets).empty());
    // The same device twice is no choice.
    EXPECT_TRUE(device_regrets(std::vector{ran("one", "old", 2, 2), ran("one", "old", 3, 3)}, made_up_sheets).empty());
}

TEST(DeviceChoice, ARuleWithoutItsFigureHasNoLine) {
    const std::vector<Device> sheets{made_up_sheets[0], sheet("new", Device::unknown, 5e11, 300)};
    const auto regrets = device_regrets(std::vector{ran("one", "old", 2, 2), ran("one", "new", 1, 1)}, sheets);
    EXPECT_EQ(line(regrets, "newest device", "time"), nullptr);
    EXPECT_NE(line(regrets, "largest bandwidth", "time"), nullptr);
}

}  // namespace
}  // namespace joulecast
