#include "joulecast/dataset/plausible.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/sqlite.h"
#include "joulecast/device/device_table.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

const Device& a100() {
    static const Device device = known_devices().find("a100-40g-pcie")->device;
    return device;
}

/// A product that an A100 does in 1 ms at a third of its peak for tf32.
Measurement product() {
    Measurement measured;
    measured.operation = parse_operation("aten::linear(input=f32[4096,2048], weight=f32[3072,2048])");
    measured.asked.device = measured.real.device = a100().id;
    measured.real.sm_clock_mhz = 1410;
    measured.time.mean_s = measured.time.median_s = 1e-3;
    measured.block_s = {0.9e-3, 1.1e-3};
    measured.peak_memory_bytes = 5e7;
    EnergySummary energy;
    energy.power_w = 200;
    energy.energy_j = 0.2;
    measured.energy = energy;
    return measured;
}

TEST(Plausible, PassesWhatADeviceCanDo) {
    EXPECT_EQ(implausible(product(), a100()), std::nullopt);
    // Out of warm caches, on a device of which nothing is known.
    Measurement fast = product();
    fast.time.mean_s = fast.time.median_s = 1e-8;
    fast.block_s.clear();
    fast.energy.reset();
    EXPECT_EQ(implausible(fast, Device()), std::nullopt);
}

TEST(Plausible, NamesWhatNoDeviceCanDo) {
    struct Wrong {
        std::function<void(Measurement&)> change;
        const char* why;
    };
    const std::vector<Wrong> all{
        {[](Measurement& m) { m.time.mean_s = 1e308; }, "time is 1e+308 s"},
        {[](Measurement& m) { m.time.mean_s = 5e-324; }, "not from 1 ns to a day"},
        {[](Measurement& m) { m.time.median_s = 1e307; }, "(median)"},
        {[](Measurement& m) { m.forward.emplace().mean_s = 1e6; }, "forward time"},
        {[](Measurement& m) { m.hot.emplace().mean_s = 1e-12; }, "warm caches"},
        {[](Measurement& m) { m.block_s = {-1, 1e308, 0}; }, "a block's time is -1 s"},
        {[](Measurement& m) { m.time.mean_s = m.energy->energy_j = 1e-5; }, "allows no less than"},
        {[](Measurement& m) { m.energy->energy_j = 1e307; }, "energy is 1e+307 J"},
        {[](Measurement& m) { m.energy->energy_j = -1; }, "energy is -1 J"},
        {[](Measurement& m) { m.energy->power_w = 501; }, "power is 501 W, not from 0 to 500 W"},
        {[](Measurement& m) { m.real.sm_clock_mhz = 2400; }, "the clock is 2400 MHz"},
        {[](Measurement& m) { m.peak_memory_bytes = 1e12; }, "memory is 1e+12 bytes"},
    };
    for (const Wrong& wrong : all) {
        Measurement measured = product();
        wrong.change(measured);
        EXPECT_THAT(implausible(measured, a100()).value_or(""), HasSubstr(wrong.why)) << wrong.why;
        // A failed trial has no numbers to judge.
        measured.outcome = Outcome::crashed;
        EXPECT_EQ(implausible(measured, a100()), std::nullopt);
    }
    Measurement copy = product();
    copy.operation = parse_operation("aten::relu(self=f32[1024,1024,256])");
    copy.time.mean_s = copy.energy->energy_j = 1e-4;
    EXPECT_THAT(implausible(copy, a100()).value_or(""), HasSubstr("allows no less than"));
    NetworkMeasurement network;
    network.time.mean_s = 1e300;
    EXPECT_THAT(implausible(network, a100()).value_or(""), HasSubstr("time is 1e+300 s"));
}

TEST(Plausible, MakesRowsSuspectWhoeverStoresThem) {
    const auto file = std::filesystem::path(::testing::TempDir()) / "plausible.db";
    std::filesystem::remove(file);
    Dataset dataset(file);
    dataset.insert(a100());
    Measurement wrong = product();
    wrong.energy->energy_j = 1e307;
    wrong.message = "said so";
    EXPECT_EQ(dataset.judged(wrong).outcome, Outcome::suspect);
    EXPECT_EQ(dataset.judged(product()).outcome, Outcome::ok);
    Provenance provenance;
    provenance.session = "one";
    dataset.insert(wrong, provenance);
    provenance.session = "two";
    dataset.insert_missing({}, {OperationRow{0, wrong, Mode::inference, provenance}}, {});
    const auto rows = dataset.operations();
    ASSERT_EQ(rows.size(), 2U);
    for (const OperationRow& row : rows) {
        EXPECT_EQ(row.measurement.outcome, Outcome::suspect);
        EXPECT_THAT(row.measurement.message, HasSubstr("energy is 1e+307 J a call"));
        EXPECT_THAT(row.measurement.message, HasSubstr("; said so"));
        EXPECT_EQ(row.measurement.energy->energy_j, 1e307);
    }
}

TEST(Plausible, WhatAnEarlierVersionStoredAsOkIsReadAsSuspect) {
    const auto file = std::filesystem::path(::testing::TempDir()) / "stored_as_ok.db";
    std::filesystem::remove(file);
    Provenance provenance;
    provenance.session = "one";
    Dataset dataset(file);
    dataset.insert(a100());
    dataset.insert(product(), provenance);
    ASSERT_EQ(dataset.operations().at(0).measurement.outcome, Outcome::ok);
    sqlite::Connection(file, sqlite::Connection::Access::read_write)
        .execute("UPDATE operations SET time_mean_s = 1e300, time_median_s = 1e300");
    const auto read = dataset.operations();
    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].measurement.outcome, Outcome::suspect);
    EXPECT_THAT(read[0].measurement.message, ::testing::StartsWith("time is 1e+300 s"));
}

}  // namespace
}  // namespace joulecast
