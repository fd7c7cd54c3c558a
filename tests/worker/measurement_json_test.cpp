#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "joulecast/error.h"
#include "joulecast/worker/protocol.h"

namespace joulecast::protocol {
namespace {

TEST(MeasurementJson, CapabilitiesComeBackAsTheyWere) {
    Capabilities capabilities;
    capabilities.provenance = {
        "s1", "2026-01-01T00:00:00Z", "w 1", "torch 2.13.0", "m", "performance", "joulecast", "{}", "own"};
    capabilities.device.id = "cpu-x-2c";
    capabilities.device.units = 2;
    capabilities.device.last_level_cache_bytes = 33554432.0;
    capabilities.device.vendor = "amd";
    capabilities.device.peak_flop_per_s_tf32 = 2e13;
    capabilities.device_names = {"cpu"};
    capabilities.dtypes = {Dtype::f32, Dtype::bf16};
    capabilities.modes = {Mode::inference, Mode::training};
    capabilities.measures_graphs = true;
    capabilities.energy_missing_reason = "no meter";
    const std::string line = to_line(Response{"1", capabilities});
    const auto response = parse_response(line);
    const auto& back = std::get<Capabilities>(response.body);
    EXPECT_EQ(back.provenance.governor, "performance");
    EXPECT_EQ(back.device.units, 2);
    EXPECT_EQ(back.device.vendor, "amd");
    EXPECT_EQ(back.device.peak_flop_per_s_tf32, 2e13);
    EXPECT_TRUE(std::isnan(back.device.tdp_w));
    EXPECT_EQ(back.dtypes, capabilities.dtypes);
    EXPECT_EQ(back.modes, capabilities.modes);
    EXPECT_EQ(to_line(response), line);
}

TEST(MeasurementJson, WhatAWorkerMeasuresIsOnesOwnUnlessItSaysOtherwise) {
    Capabilities worker;
    worker.provenance = {"s1", "2026-01-01T00:00:00Z", "w 1", "torch 2.13.0", "m", "performance", "joulecast", "{}",
                         ""};
    worker.device.id = "cpu-x-2c";
    worker.device.display_name = "a CPU";
    worker.dtypes = {Dtype::f32};
    worker.modes = {Mode::inference};
    const auto source_of = [&] {
        const auto response = parse_response(to_line(Response{"1", worker}));
        return std::get<Capabilities>(response.body).provenance.source;
    };
    EXPECT_EQ(source_of(), "own");
    worker.provenance.source = "neusight";
    EXPECT_EQ(source_of(), "neusight");
}

// "../../x" as an id would become part of a path.
TEST(MeasurementJson, ADevicesIdIsAPlainName) {
    Response response{"1", {}};
    Capabilities worker;
    worker.provenance = {"s1", "2026-01-01T00:00:00Z", "w 1", "torch 2.13.0", "m", "performance", "joulecast", "{}",
                         "own"};
    worker.device.display_name = "card";
    worker.dtypes = {Dtype::f32};
    worker.modes = {Mode::inference};
    for (const std::string id : {"../../x", "a/b", "a b", "..", "a\x1b[2J", "line\nbreak"}) {
        worker.device.id = id;
        response.body = worker;
        EXPECT_THROW(parse_response(to_line(response)), FormatError) << id;
    }
    worker.device.id = "cpu-x_2.C";
    response.body = worker;
    EXPECT_NO_THROW(parse_response(to_line(response)));
}

TEST(MeasurementJson, NetworksComeBackAsTheyWere) {
    NetworkMeasurement network;
    network.model = "resnet18";
    network.symbols = {{"batch", 8}};
    network.mode = Mode::training;
    network.precision = "bf16";
    network.asked.device = "cpu";
    network.real.device = "cpu-x-2c";
    network.real.host = Host::python;
    network.time.mean_s = 0.5;
    network.forward = TimeSummary{};
    network.resident_bytes = 46e6;
    network.block_s = {0.5, 0.25};
    network.optimizer = Optimizer::adamw;
    network.issue = IssueSummary{4e-6, 5e-6, true, "graph"};
    network.energy = EnergySummary{};
    network.energy->energy_j = 2.5;
    network.energy->ticks = 7;
    network.energy->meter = "nvml-counter";
    network.energy->suspect = true;
    network.conditions = {61.0, "P0", 4, LimitedBy::power_cap};
    network.workspace_bytes = 8e6;
    network.kernels = {{"Conv", {0, 1}}, {"Gemm", {}}};
    const std::string line = to_line(Response{"1", network});
    const auto response = parse_response(line);
    const auto& back = std::get<NetworkMeasurement>(response.body);
    EXPECT_EQ(back.symbols, network.symbols);
    EXPECT_EQ(back.mode, Mode::training);
    EXPECT_EQ(back.real.host, Host::python);
    ASSERT_TRUE(back.forward);
    EXPECT_TRUE(std::isnan(back.forward->mean_s));
    EXPECT_EQ(back.optimizer, Optimizer::adamw);
    ASSERT_TRUE(back.issue);
    EXPECT_EQ(back.issue->device_time_by, "graph");
    ASSERT_TRUE(back.energy);
    EXPECT_EQ(back.energy->energy_j, 2.5);
    EXPECT_TRUE(std::isnan(back.energy->power_w));
    EXPECT_EQ(back.energy->meter, "nvml-counter");
    EXPECT_EQ(back.conditions.limited_by, LimitedBy::power_cap);
    EXPECT_EQ(back.workspace_bytes, 8e6);
    EXPECT_EQ(back.kernels, network.kernels);
    EXPECT_EQ(to_line(response), line);
}

TEST(MeasurementJson, KernelsThatCannotBeAreRefused) {
    NetworkMeasurement network;
    network.asked.device = network.real.device = "cpu";
    network.time.mean_s = 0.5;
    network.kernels = {{"Conv", {0, 1}}};
    const std::string line = to_line(Response{"1", network});
    const std::string kernels = R"([{"kernel":"Conv","operations":[0,1]}])";
    const std::size_t at = line.find(kernels);
    ASSERT_NE(at, std::string::npos) << line;
    for (const std::string other :
         {"7", "[7]", "[{}]", R"([{"kernel":1,"operations":[]}])", R"([{"kernel":"Conv","operations":{}}])",
          R"([{"kernel":"Conv","operations":[-1]}])", R"([{"kernel":"Conv","operations":[0.5]}])",
          R"([{"kernel":"Conv","operations":["0"]}])", R"([{"kernel":"Conv","operations":[2147483648]}])"})
        EXPECT_THROW(parse_response(std::string(line).replace(at, kernels.size(), other)), FormatError) << other;
}

}  // namespace
}  // namespace joulecast::protocol
