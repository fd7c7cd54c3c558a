#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "joulecast/dataset/dataset.h"

namespace joulecast::testing {

/// A fresh folder per test, removed at its end.
class DatasetFolder : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        folder = std::filesystem::path(::testing::TempDir()) / ("joulecast-" + std::string(test->test_suite_name()) +
                                                                "-" + test->name() + "-" + std::to_string(::getpid()));
        std::filesystem::create_directories(folder);
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    std::filesystem::path folder;
};

inline Device sample_device(const std::string& id = "cpu-test") {
    Device device;
    device.id = id;
    device.display_name = "A CPU, \"for tests\"";
    device.units = 2;
    device.peak_flop_per_s_fp32 = 1e11;
    device.peak_flop_per_s_bf16 = 2e11;
    device.bandwidth_bytes_per_s = 1e10;
    device.source = "made up";
    return device;
}

inline Provenance sample_provenance(const std::string& session = "s1") {
    Provenance provenance;
    provenance.session = session;
    provenance.started = "2026-01-02T03:04:05Z";
    provenance.worker = "fake 1.0";
    provenance.framework = "none";
    provenance.machine = "two cores, 64 GB";
    provenance.governor = "unknown";
    provenance.settings = R"({"seed":1,"time_budget_s":0.25})";
    return provenance;
}

inline Operation relu(std::int64_t batch) {
    TensorType type;
    type.sizes = {batch, 3, 8, 8};
    return {"aten::relu", {{"self", type}}};
}

/// Every number differs from every other, so that a column read into the wrong member shows.
inline TimeSummary sample_summary(double base) {
    TimeSummary summary;
    summary.mean_s = base;
    summary.median_s = base * 0.99;
    summary.half_width_s = base / 300;
    summary.p05_s = base * 0.9;
    summary.p95_s = base * 1.1;
    summary.blocks = 50;
    summary.effective_blocks = 41.3;
    summary.dropped_blocks = 3;
    summary.calls_per_block = 7;
    summary.converged = true;
    return summary;
}

inline EnergySummary sample_energy(double base) {
    EnergySummary energy;
    energy.energy_j = base;
    energy.dynamic_energy_j = base * 0.6;
    energy.power_w = 301.25;
    energy.idle_power_w = 120.5;
    energy.half_width_j = base / 200;
    energy.gain_error = 0.05;
    energy.window_s = 0.7;
    energy.ticks = 8;
    energy.calls = 1234;
    energy.drift_per_s = -0.002;
    energy.meter = "a meter, \"for tests\"";
    energy.suspect = true;
    return energy;
}

inline Conditions sample_conditions() {
    Conditions conditions;
    conditions.temperature_c = 61.5;
    conditions.performance_state = "P2";
    conditions.throttle_reasons = 4;
    conditions.limited_by = LimitedBy::power_cap;
    return conditions;
}

inline IssueSummary sample_issue(double base) {
    IssueSummary issue;
    issue.issue_s = base / 2;
    issue.eager_s = base * 1.5;
    issue.launch_bound = true;
    issue.device_time_by = "graph";
    return issue;
}

inline Measurement sample_measurement(const Operation& operation, const std::string& device = "cpu-test") {
    Measurement measurement;
    measurement.operation = operation;
    measurement.asked.device = device;
    measurement.asked.host_cpu = "a CPU";
    measurement.asked.threads = 2;
    measurement.real = measurement.asked;
    measurement.real.sm_clock_mhz = 2400.5;
    measurement.time = sample_summary(1.0 / 3000);
    measurement.hot = sample_summary(1.0 / 7000);
    measurement.energy_missing_reason = "no RAPL, \"not readable\"";
    measurement.conditions = sample_conditions();
    measurement.peak_memory_bytes = 4096;
    measurement.workspace_bytes = 2048;
    measurement.working_set_bytes = 1e8;
    measurement.rotation = 12;
    measurement.block_s = {1e-3, 1.0 / 3, 0.7e-3};
    measurement.wall_s = 0.6;
    measurement.started_at = "2026-01-02T03:04:06.007Z";
    measurement.ended_at = "2026-01-02T03:04:06.612Z";
    return measurement;
}

inline NetworkMeasurement sample_network(const std::string& model, std::int64_t batch) {
    NetworkMeasurement network;
    network.model = model;
    network.symbols = {{"batch", batch}, {"seq", 128}};
    network.mode = Mode::training;
    network.asked.device = "cpu-test";
    network.asked.threads = 2;
    network.real = network.asked;
    network.time = sample_summary(0.1);
    network.forward = sample_summary(0.04);
    network.optimizer = Optimizer::adam;
    network.issue = sample_issue(0.02);
    network.energy = sample_energy(12.5);
    network.conditions = sample_conditions();
    network.peak_memory_bytes = 5e6;
    network.workspace_bytes = 3e5;
    network.resident_bytes = 7e7;
    network.kernels = {{"Conv", {0, 1, 2}}, {"a \"name\", for tests", {4}}};
    network.block_s = {0.1, 0.11};
    network.wall_s = 1.5;
    network.started_at = "2026-01-02T03:05:00.000Z";
    network.ended_at = "2026-01-02T03:05:01.500Z";
    return network;
}

inline NetworkOperationRow sample_line(const Operation& operation, std::int64_t count) {
    NetworkOperationRow line;
    line.model = "mynet";
    line.symbols = {{"batch", 8}, {"seq", 128}};
    line.operation = operation;
    line.count = count;
    line.source = "made up";
    return line;
}

inline ReferenceRow sample_reference(const std::string& started_at, double time_s, const std::string& session = "s1") {
    ReferenceRow row;
    row.operation = signature(relu(64));
    row.asked.device = row.real.device = "cpu-test";
    row.started_at = started_at;
    row.asked.sm_clock_mhz = 900;
    row.real.sm_clock_mhz = 899.5;
    row.time_mean_s = time_s;
    row.time_half_width_s = time_s / 150;
    row.temperature_c = 48.5;
    row.drifted = time_s > 1;
    row.provenance = sample_provenance(session);
    return row;
}

}  // namespace joulecast::testing
