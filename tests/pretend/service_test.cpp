#include "workers/pretend/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/error.h"
#include "joulecast/units/statistics.h"

namespace joulecast::pretend {
namespace {

using ::testing::HasSubstr;

protocol::Service with(std::vector<std::string> words) {
    return service(parse_options(words));
}

protocol::Measure request(const std::string& operation, const std::string& device = "pretend-a") {
    protocol::Measure request;
    request.operation = parse_operation(operation);
    request.point.device = device;
    return request;
}

constexpr const char* product = "aten::matmul(self=f16[4096,4096], other=f16[4096,4096])";
constexpr const char* small = "aten::relu(self=f32[64])";

/// `calls` products of 64 x 64 one after another.
protocol::MeasureGraph network(int calls, const std::string& device = "pretend-a") {
    protocol::MeasureGraph request;
    request.graph.name = "chain";
    request.graph.inputs = {{"x", GraphInput::Kind::user_input, {Dtype::f32, {64, 64}}, {}}};
    for (int i = 0; i < calls; ++i) {
        Node node;
        node.operation = parse_operation("aten::matmul(self=f32[64,64], other=f32[64,64])");
        node.inputs = {{i - 1, 0}, {-1, 0}};
        node.outputs = {{Dtype::f32, {64, 64}}};
        request.graph.nodes.push_back(node);
    }
    request.graph.outputs = {{calls - 1, 0}};
    request.point.device = device;
    return request;
}

TEST(PretendedService, TheTruthHasNoErrorAndItsEnergyIsPowerTimesTime) {
    const protocol::Service truth = with({"--truth"});
    for (const char* device : {"pretend-a", "pretend-b", "pretend-c", "pretend-cpu"}) {
        for (const char* operation : {"aten::relu(self=f32[64,64,56,56])", small,
                                      "aten::conv2d(input=f32[8,64,56,56]~, weight=f32[64,64,3,3]~, padding=[1,1])"}) {
            const Measurement measured = truth.measure(request(operation, device));
            ASSERT_EQ(measured.outcome, Outcome::ok) << measured.message;
            EXPECT_LT(measured.time.half_width_s, 1e-9 * measured.time.mean_s);
            ASSERT_TRUE(measured.energy.has_value()) << measured.energy_missing_reason;
            const double expected_j = measured.energy->power_w * measured.time.mean_s;
            EXPECT_NEAR(measured.energy->energy_j / expected_j, 1, 1e-4) << device << " " << operation;
            EXPECT_GT(measured.energy->dynamic_energy_j, 0);
        }
    }
}

TEST(PretendedService, OneSeedGivesOneAnswerAndAnotherAnother) {
    const auto time = [](const protocol::Service& worker) { return worker.measure(request(product)).time.mean_s; };
    const double first = time(with({"--seed", "5"}));
    EXPECT_EQ(time(with({"--seed", "5"})), first);
    EXPECT_NE(time(with({"--seed", "6"})), first);
    const protocol::Service worker = with({"--seed", "5"});
    EXPECT_EQ(time(worker), first);
    EXPECT_NE(time(worker), first);  // a repeat is another measurement
}

TEST(PretendedService, SessionsLieApartByTheNoise) {
    const double true_s = with({"--truth"}).measure(request(product)).time.mean_s;
    std::vector<double> ratios;
    for (int seed = 0; seed < 200; ++seed)
        ratios.push_back(with({"--seed", std::to_string(seed), "--drift", "0"}).measure(request(product)).time.mean_s /
                         true_s);
    // The standard deviation of 200 samples is known to 5 %; three of these, and the blocks' own 0.1 % on top.
    EXPECT_NEAR(standard_deviation(ratios), 0.006, 0.0012);
    EXPECT_NEAR(mean(ratios), 1, 0.0015);
}

TEST(PretendedService, ThePaceDriftsOverTheSitting) {
    const protocol::Service worker = with({"--noise", "0", "--drift", "0.01", "--seed", "3"});
    double least = 1e300, most = 0;
    for (int trial = 0; trial < 500; ++trial) {
        const double time_s = worker.measure(request(small)).time.mean_s;
        least = std::min(least, time_s);
        most = std::max(most, time_s);
    }
    EXPECT_NEAR(most / least, 1.01 / 0.99, 1e-3);
}

TEST(PretendedService, ThePowerLimitIsKeptAndTold) {
    protocol::Measure asked = request(product);
    asked.point.power_limit_w = 110;
    asked.point.sm_clock_mhz = 1500;
    const Measurement measured = with({"--truth"}).measure(asked);
    EXPECT_EQ(measured.conditions.limited_by, LimitedBy::power_cap);
    EXPECT_NEAR(measured.energy->power_w, 110, 0.1);
    EXPECT_LT(measured.real.sm_clock_mhz, 1500);
    EXPECT_EQ(measured.real.power_limit_w, 110);
    asked.point.sm_clock_mhz = 300;
    const Measurement slow = with({"--truth"}).measure(asked);
    EXPECT_EQ(slow.conditions.limited_by, LimitedBy::none);
    EXPECT_EQ(slow.real.sm_clock_mhz, 300);
}

TEST(PretendedService, PointsThatACardDoesNotHaveAreRefused) {
    const protocol::Service worker = with({});
    protocol::Measure asked = request(small);
    asked.point.sm_clock_mhz = 901;
    EXPECT_THROW(worker.measure(asked), Error);
    asked = request(small);
    asked.point.power_limit_w = 500;
    EXPECT_THROW(worker.measure(asked), Error);
    asked = request(small, "pretend-cpu");
    asked.point.threads = 9;
    EXPECT_THROW(worker.measure(asked), Error);
    asked = request(small, "pretend-cpu");
    asked.point.host = Host::graph;
    EXPECT_THROW(worker.measure(asked), Error);
    EXPECT_THROW(worker.measure(request(small, "cuda:0")), Error);
}

TEST(PretendedService, WhatAnOldCardLacksIsUnsupported) {
    const protocol::Service worker = with({});
    EXPECT_EQ(worker.measure(request("aten::relu(self=bf16[64])", "pretend-b")).outcome, Outcome::unsupported);
    protocol::Measure tf32 = request("aten::relu(self=f32[64])", "pretend-b");
    tf32.point.math = Math::tf32;
    EXPECT_EQ(worker.measure(tf32).outcome, Outcome::unsupported);
    tf32.point.device = "pretend-a";
    EXPECT_EQ(worker.measure(tf32).outcome, Outcome::ok);
}

TEST(PretendedService, TooLargeNetworksRunOutOfMemory) {
    protocol::MeasureGraph asked = network(2, "pretend-b");
    asked.graph.inputs[0].type.sizes = {1 << 18, 1 << 14};  // 17 GB of 17.2
    EXPECT_EQ(with({}).measure_graph(asked).outcome, Outcome::out_of_memory);
}

TEST(PretendedService, AnEagerNetworkOfSmallCallsTakesWhatItsHostTakes) {
    const protocol::Service truth = with({"--truth"});
    protocol::MeasureGraph asked = network(200);
    asked.point.host = Host::python;
    const NetworkMeasurement python = truth.measure_graph(asked);
    EXPECT_NEAR(python.issue->issue_s, 200 * 7.5e-6, 1e-6);
    EXPECT_GT(python.time.mean_s, 0.95 * python.issue->issue_s);
    asked.point.host = Host::graph;
    EXPECT_LT(truth.measure_graph(asked).time.mean_s, 0.9 * python.time.mean_s);
    // Its own factor is a law, and no noise: within four of its standard deviations.
    const double device_s = truth.measure_graph(asked).time.mean_s;
    const double sum_s = 200 * truth.measure(request("aten::matmul(self=f32[64,64], other=f32[64,64])")).hot->mean_s;
    EXPECT_NEAR(device_s / sum_s, 1, 0.05);
}

TEST(PretendedService, WhatFitsIntoTheCacheIsFasterWhenHot) {
    // 8 MiB in, 8 MiB out; the cache of card A holds 24.
    const Measurement measured = with({"--truth"}).measure(request("aten::relu(self=f32[2048,1024])"));
    ASSERT_TRUE(measured.hot.has_value());
    EXPECT_LT(measured.hot->mean_s, 0.8 * measured.time.mean_s);
    EXPECT_FALSE(with({"--truth"}).measure(request("aten::relu(self=f32[8192,1024])")).hot.has_value());
}

TEST(PretendedService, LaunchBoundCallsAreReplayed) {
    const Measurement measured = with({"--truth"}).measure(request(small));
    EXPECT_TRUE(measured.issue->launch_bound);
    EXPECT_EQ(measured.issue->device_time_by, "graph");
    EXPECT_NEAR(measured.issue->issue_s, 3e-6, 1e-9);
    EXPECT_FALSE(with({"--truth"}).measure(request(product)).issue->launch_bound);
}

TEST(PretendedService, MishapsComeOnDemand) {
    const auto after = [](const std::string& mishap) {
        const protocol::Service worker = with({"--fail", mishap + ":2"});
        EXPECT_EQ(worker.measure(request(product)).outcome, Outcome::ok);
        return worker.measure(request(product));
    };
    const double usual_s = with({"--truth"}).measure(request(product)).time.mean_s;
    EXPECT_EQ(after("out_of_memory").outcome, Outcome::out_of_memory);
    EXPECT_EQ(after("unsupported").outcome, Outcome::unsupported);
    EXPECT_EQ(after("unstable").outcome, Outcome::unstable);
    EXPECT_NEAR(after("outlier").time.mean_s / usual_s, 3, 0.2);
    EXPECT_LT(after("impossible").peak_memory_bytes, 0);
    EXPECT_FALSE(after("no_energy").energy.has_value());
    EXPECT_EQ(after("thermal").conditions.limited_by, LimitedBy::thermal);
    EXPECT_EQ(with({"--fail", "unsupported:relu"}).measure(request(small)).outcome, Outcome::unsupported);
    EXPECT_EXIT(with({"--fail", "crash:1"}).measure(request(small)), ::testing::ExitedWithCode(86), "asked for");
}

TEST(PretendedService, HelloTellsTheChosenDevice) {
    const protocol::Service worker = with({"--device", "pretend-b"});
    EXPECT_EQ(worker.hello().device.id, "pretend-b");
    const protocol::Capabilities other = worker.hello_of("pretend-c");
    EXPECT_THAT(other.device.display_name, HasSubstr("Pretended card C (no real hardware)"));
    EXPECT_EQ(other.device_names.size(), 4U);
    EXPECT_EQ(worker.hello().device.id, "pretend-c");
    EXPECT_TRUE(other.locks_clocks);
    EXPECT_FALSE(worker.hello_of("pretend-cpu").locks_clocks);
    EXPECT_THROW(worker.hello_of("h100"), Error);
}

TEST(PretendedService, EveryMethodMeasures) {
    for (const Method method : {Method::joulecast, Method::thesis, Method::sponner}) {
        protocol::Measure asked = request(product);
        asked.settings.method = method;
        const Measurement measured = with({"--truth"}).measure(asked);
        EXPECT_EQ(measured.outcome, Outcome::ok) << name(method);
        EXPECT_TRUE(measured.energy.has_value()) << name(method);
    }
}

}  // namespace
}  // namespace joulecast::pretend
