#include "joulecast/forecast/compose.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace joulecast {
namespace {

/// A second a call of which `host` is issuing, sigma 0.1; 10 J above idle.
OperationForecast operation(std::int64_t count, double host = 0) {
    OperationForecast o;
    o.count = count;
    const double up = std::exp(1.645 * 0.1);
    o.cost.device_time = {Seconds(1), Seconds(1 / up), Seconds(up)};
    o.cost.host_time = {Seconds(host), Seconds(host), Seconds(host)};
    o.cost.dynamic_energy = {Joules(10), Joules(10 / up), Joules(10 * up)};
    return o;
}

NetworkCorrection correction(double factor, double host_factor = 1, double energy_factor = 1) {
    NetworkCorrection c;
    c.factor = factor;
    c.host_factor = host_factor;
    c.energy_factor = energy_factor;
    return c;
}

PowerFacts power(double idle, double cap) {
    PowerFacts facts;
    facts.idle_w = idle;
    facts.cap_w = cap;
    facts.busy_w = cap;
    return facts;
}

TEST(Compose, AddsEqualCallsLinearlyAndDifferentOnesInSquares) {
    // Four calls of one operation: sigma stays 0.1. Four operations: 0.1 / 2.
    EXPECT_NEAR(parts_of(std::vector{operation(4)}).sigma_time, 0.1, 1e-9);
    const std::vector four{operation(1), operation(1), operation(1), operation(1)};
    EXPECT_NEAR(parts_of(four).sigma_time, 0.05, 1e-9);
    EXPECT_NEAR(parts_of(four).sigma_energy, 0.05, 1e-9);
    EXPECT_NEAR(spread_90(0.1), std::exp(0.1645), 1e-12);
}

TEST(Compose, IsTheFactorTimesTheSumWhereTheHostTakesNoTime) {
    const std::vector four{operation(1), operation(1), operation(1), operation(1)};
    EXPECT_NEAR(composed_seconds(parts_of(four), correction(1.5)), 6, 1e-12);
}

TEST(Compose, LetsTheSlowerOfHostAndDeviceDecide) {
    // Calls that only issue: no device time is left, and the host's factor alone counts.
    const auto issuing = parts_of(std::vector{operation(5, 1)});
    EXPECT_EQ(issuing.device_s, 0);
    EXPECT_NEAR(composed_seconds(issuing, correction(7, 0.5)), 2.5, 1e-12);
    // Half a second of issuing in one of one: d = (1 - 2^-8)^(1/8), and (h^8 + d^8)^(1/8) is the call again.
    EXPECT_NEAR(composed_seconds(parts_of(std::vector{operation(1, 0.5)}), correction(1)), 1, 1e-12);
    // Ten such calls and ten that are all device: 5 s of issuing are hidden.
    const auto mixed = parts_of(std::vector{operation(10, 0.5), operation(10)});
    EXPECT_NEAR(composed_seconds(mixed, correction(1)), 20, 0.02);
}

TEST(Compose, AddsIdlePowerAllAlongAndStopsAtTheCap) {
    const auto parts = parts_of(std::vector{operation(4)});  // 40 J above idle in 4 s
    EXPECT_NEAR(composed_joules(parts, correction(1), power(5, 100), 4), 5 * 4 + 40, 1e-12);
    EXPECT_NEAR(composed_joules(parts, correction(1, 1, 2), power(5, 100), 4), 5 * 4 + 80, 1e-12);
    // 15 W on average, but the cap is 12 W: 0.995 * 12 * 4.
    EXPECT_NEAR(composed_joules(parts, correction(1), power(5, 12), 4), 0.995 * 48, 1e-12);
    EXPECT_NEAR(composed_joules(parts, correction(1), power(5, std::nan("")), 4), 60, 1e-12);
}

TEST(Compose, TellsHowMuchOfTheTimeFollowsHostAndDevice) {
    const auto issuing = parts_of(std::vector{operation(5, 1)});
    EXPECT_NEAR(share_of_device(issuing, correction(1)), 0, 1e-9);
    EXPECT_NEAR(share_of_host(issuing, correction(1)), 1, 1e-9);
    const auto working = parts_of(std::vector{operation(5)});
    EXPECT_NEAR(share_of_device(working, correction(1)), 1, 1e-9);
    EXPECT_NEAR(share_of_host(working, correction(1)), 0, 1e-9);
    // Of the half second of issuing in one of one, T^8 = H^8 + D^8: (H / T)^8 = 2^-8 follows the host.
    const auto both = parts_of(std::vector{operation(1, 0.5)});
    EXPECT_NEAR(share_of_host(both, correction(1)), std::pow(0.5, 8), 1e-4);
    EXPECT_NEAR(share_of_device(both, correction(1)), 1 - std::pow(0.5, 8), 1e-2);
}

/// Three calls: all device, all device, all issuing.
NetworkParts in_order(double first_s, double second_s, double issue_s) {
    NetworkParts parts;
    parts.steps = {{0, first_s, 1.0 / 3}, {0, second_s, 1.0 / 3}, {issue_s, 0, 1.0 / 3}};
    parts.device_s = first_s + second_s;
    parts.host_s = issue_s;
    return parts;
}

TEST(Compose, WalksBothTimelinesWhereTheOrderIsKnown) {
    // 5 s of issuing beside 2 + 1 s of work: the host is last. Twice the work ends after it.
    EXPECT_EQ(composition_of(in_order(2, 1, 5)), Composition::timeline);
    EXPECT_NEAR(composed_seconds(in_order(2, 1, 5), correction(1)), 5, 1e-12);
    EXPECT_NEAR(composed_seconds(in_order(2, 1, 5), correction(2)), 6, 1e-12);
    EXPECT_NEAR(composed_seconds(in_order(2, 1, 5), correction(1, 0.1)), 3, 1e-12);
    // The same sums without an order: (5^8 + 3^8)^(1/8).
    NetworkParts bag = in_order(2, 1, 5);
    bag.steps.clear();
    EXPECT_EQ(composition_of(bag), Composition::aggregate);
    EXPECT_NEAR(composed_seconds(bag, correction(1)), std::pow(std::pow(5, 8) + std::pow(3, 8), 0.125), 1e-12);
}

TEST(Compose, WaitsWhereACallSynchronises) {
    NetworkParts parts = in_order(2, 1, 5);
    parts.steps[1].synchronises = true;  // the host goes on at 3
    EXPECT_NEAR(composed_seconds(parts, correction(1)), 8, 1e-12);
}

TEST(Compose, SpreadsWhatAHostAddsOverTheCalls) {
    NetworkParts parts = in_order(2, 1, 5);
    parts.added_host_s = 3;
    EXPECT_NEAR(composed_seconds(parts, correction(1)), 8, 1e-12);
    // 3 of 8 s: d log T / d log(added).
    EXPECT_NEAR(share_of_added(parts, correction(1)), 3.0 / 8, 1e-6);
    const Timeline line = composed_timeline(parts, correction(1));
    EXPECT_NEAR(line.total_s, 8, 1e-12);
    EXPECT_NEAR(line.issue_end_s[0], 1, 1e-12);
    EXPECT_NEAR(line.device_start_s[0], 1, 1e-12);
}

/// A call that takes the host 20 s and a view that takes it 2, from a host that saves 8 of either; then 5 s that
/// autograd issues, of which it saves nothing.
TEST(Compose, SavesOfEachCallInProportionWhereAHostIsQuicker) {
    NetworkParts parts;
    parts.host_s = 27;
    parts.steps = {{20, 0, 0.5, false}, {2, 0, 0.5, false}, {5, 0, 0, false}};
    parts.added_host_s = -16;
    EXPECT_NEAR(host_seconds(parts, {}), 11, 1e-12);
    EXPECT_NEAR(composed_seconds(parts, {}), 11, 1e-12);
    const Timeline line = composed_timeline(parts, {});
    EXPECT_NEAR(line.issue_end_s[0], 20.0 * 6 / 22, 1e-12);
    EXPECT_NEAR(line.issue_end_s[1], 6, 1e-12);
    // No host issues in less than a tenth.
    parts.added_host_s = -30;
    EXPECT_NEAR(composed_seconds(parts, {}), 2.2 + 5, 1e-12);
}

TEST(Compose, ScalesCallsWithTheirSums) {
    NetworkParts parts = in_order(2, 1, 5);
    scale(parts, 2, 10);
    EXPECT_EQ(host_seconds(parts, {}), 10);
    EXPECT_EQ(device_seconds(parts, {}), 30);
    EXPECT_NEAR(composed_seconds(parts, {}), 30, 1e-12);
}

TEST(Compose, DoesNotKnowAnEnergyThatACallDoesNotTell) {
    OperationForecast silent = operation(1);
    silent.cost.dynamic_energy = {};
    const auto parts = parts_of(std::vector{operation(1), silent});
    EXPECT_TRUE(std::isnan(composed_joules(parts, correction(1), power(5, 100), 2)));
    EXPECT_NEAR(composed_seconds(parts, correction(1)), 2, 1e-12);
}

}  // namespace
}  // namespace joulecast
