#include "joulecast/evaluate/network_clock_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace joulecast {
namespace {

struct Measured {
    double time_s, energy_j, forecast_j;
};

/// Times are forecast right.
NetworkAccuracy ran_at(const char* network, double clock_mhz, const Measured& measured) {
    NetworkAccuracy one;
    one.network = network;
    one.device = "card";
    one.precision = "fp32";
    one.sm_clock_mhz = clock_mhz;
    one.measured_time_s = measured.time_s;
    one.predicted_time = {Seconds(measured.time_s), Seconds(measured.time_s), Seconds(measured.time_s)};
    one.measured_energy_j = measured.energy_j;
    one.predicted_energy = {Joules(measured.forecast_j), Joules(measured.forecast_j), Joules(measured.forecast_j)};
    return one;
}

/// Least energy at 800 MHz; by forecast at 1000 MHz.
std::vector<NetworkAccuracy> misjudged(const char* network) {
    return {ran_at(network, 600, {3, 11, 12}), ran_at(network, 800, {2, 10, 11}), ran_at(network, 1000, {1, 12, 10})};
}

const ClockRegret* line(const std::vector<ClockRegret>& regrets, const std::string& rule, const std::string& what) {
    const auto found = std::ranges::find_if(
        regrets, [&](const ClockRegret& regret) { return regret.rule == rule && regret.objective == what; });
    return found == regrets.end() ? nullptr : &*found;
}

TEST(NetworkClockChoice, RegretIsWhatTheClockChosenTakesMoreThanTheBest) {
    const auto regrets = network_clock_regrets(misjudged("net"));
    const ClockRegret* const own = line(regrets, "joulecast", "energy");
    ASSERT_NE(own, nullptr);
    EXPECT_EQ(own->device, "card");
    EXPECT_EQ(own->workloads, 1);
    EXPECT_NEAR(own->mean, 0.2, 1e-12);  // 12 J in place of 10
    EXPECT_EQ(own->worst_workload, "net, inference, fp32");
    EXPECT_DOUBLE_EQ(line(regrets, "joulecast", "edp")->mean, 0);  // 12 Js is least, and forecast so
    EXPECT_NEAR(line(regrets, "maximum clock", "energy")->mean, 0.2, 1e-12);
    EXPECT_NEAR(line(regrets, "68 % of maximum", "energy")->mean, 0.1, 1e-12);  // 600 MHz is nearest to 680
    EXPECT_EQ(line(regrets, "best constant clock", "energy"), nullptr) << "no other network tells a share";
}

TEST(NetworkClockChoice, TheConstantShareIsTheOtherNetworksBest) {
    auto networks = misjudged("net");
    for (const NetworkAccuracy& n :
         {ran_at("other", 600, {3, 9, 9}), ran_at("other", 800, {2, 10, 10}), ran_at("other", 1000, {1, 12, 12})})
        networks.push_back(n);
    const auto regrets = network_clock_regrets(networks);
    const ClockRegret* const constant = line(regrets, "best constant clock", "energy");
    ASSERT_NE(constant, nullptr);
    EXPECT_EQ(constant->workloads, 2);
    EXPECT_NEAR(constant->mean, (0.1 + 1.0 / 9) / 2, 1e-12);  // net at 600: 11 for 10; other at 800: 10 for 9
}

TEST(NetworkClockChoice, NoChoiceGoesBelowTheLowestClockThatRecommendTakes) {
    std::vector<NetworkAccuracy> networks{ran_at("net", 600, {3, 12, 8}), ran_at("net", 800, {2, 10, 11}),
                                          ran_at("net", 1000, {1, 13, 13})};
    EXPECT_NEAR(line(network_clock_regrets(networks), "joulecast", "energy")->mean, 0.2, 1e-12);
    for (NetworkAccuracy& n : networks) n.lowest_chosen_mhz = 700;
    EXPECT_DOUBLE_EQ(line(network_clock_regrets(networks), "joulecast", "energy")->mean, 0);
}

TEST(NetworkClockChoice, LeavesOutWhatIsNoChoiceOfACoreClock) {
    auto networks = misjudged("net");
    networks.pop_back();
    EXPECT_TRUE(network_clock_regrets(networks).empty()) << "two clocks";
    networks = misjudged("net");
    networks.back().power_limit_w = 150;
    EXPECT_TRUE(network_clock_regrets(networks).empty()) << "one of three under a power limit";
    networks = misjudged("net");
    networks.back().measured_energy_j = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(network_clock_regrets(networks).empty()) << "energy of two clocks";
    networks = misjudged("net");
    networks.back().memory_clock_mhz = 900;
    EXPECT_TRUE(network_clock_regrets(networks).empty()) << "one clock at the highest memory clock";
}

}  // namespace
}  // namespace joulecast
