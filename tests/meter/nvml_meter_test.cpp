#include "joulecast/meter/nvml_meter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/fake_nvml/fake_nvml.h"

namespace joulecast {
namespace {

using ::testing::AllOf;
using testing::FakeNvml;
using ::testing::HasSubstr;

NvmlGpu first_gpu(const std::string& library = FakeNvml::library()) {
    std::string why;
    return Nvml::open(library, why)->gpus().at(0);
}

/// A meter whose seconds are the fake's.
FoundMeter open_meter(FakeNvml& fake) {
    return open_nvml_meter(first_gpu(), [&fake] { return fake.state().now_s; });
}

TEST(NvmlMeter, CountsEnergyWhereThereIsACounter) {
    FakeNvml fake;
    const auto found = open_meter(fake);
    ASSERT_TRUE(found.meter) << found.missing_reason;
    EXPECT_EQ(found.meter->facts().name, "nvml-counter");
    EXPECT_EQ(found.meter->facts().covers, "the whole card");
    EXPECT_TRUE(found.meter->facts().counts_energy);
    EXPECT_DOUBLE_EQ(found.meter->facts().period_s, 0.1);
    EXPECT_DOUBLE_EQ(found.meter->facts().gain_error, 0.05);
}

TEST(NvmlMeter, TheCounterRenewsItselfAtTicksOnly) {
    FakeNvml fake;
    fake.take_over_time();
    fake.gpu().load = 1;
    fake.advance(0.05);  // so that no reading falls on a tick
    const auto found = open_meter(fake);
    std::set<double> values;
    for (int i = 0; i < 1000; ++i) {
        fake.advance(0.001);
        values.insert(found.meter->read().energy_j);
    }
    // 1 s at a tick of 0.1 s is 10 renewals, at a value each; the eleventh value is the one before the first.
    EXPECT_EQ(values.size(), 11U);
    // 160 W for the 0.9 s between the first renewal and the last.
    EXPECT_NEAR(*values.rbegin() - *std::next(values.begin()), 160 * 0.9, 160 * 0.002);
}

TEST(NvmlMeter, JitterAndQuantumOfTheCounterReachTheReader) {
    FakeNvml fake;
    fake.take_over_time();
    fake.gpu().load = 1;
    fake.gpu().jitter_s = 0.02;
    fake.gpu().quantum_mj = 500;
    const auto found = open_meter(fake);
    std::set<long> gaps_ms;
    double last = found.meter->read().energy_j;
    long since_ms = 0;
    for (int i = 0; i < 2000; ++i) {
        fake.advance(0.001);
        ++since_ms;
        const double energy = found.meter->read().energy_j;
        if (energy == last) continue;
        EXPECT_NEAR(energy / 0.5, std::round(energy / 0.5), 1e-6);
        gaps_ms.insert(since_ms);
        since_ms = 0;
        last = energy;
    }
    gaps_ms.erase(gaps_ms.begin());
    EXPECT_GT(gaps_ms.size(), 3U) << "ticks come unevenly";
    EXPECT_GE(*gaps_ms.begin(), 79);
    EXPECT_LE(*gaps_ms.rbegin(), 121);
}

TEST(NvmlMeter, AReadingCarriesTheMiddleOfItsCall) {
    FakeNvml fake;
    fake.take_over_time(0.010);
    const auto found = open_meter(fake);
    const double before = fake.state().now_s;
    EXPECT_NEAR(found.meter->read().time_s, before + 0.005, 1e-9);
}

TEST(NvmlMeter, WithoutACounterItReadsThePowerOfTheMoment) {
    FakeNvml fake;
    fake.gpu().missing = testing::missing_energy_counter;
    const auto found = open_meter(fake);
    ASSERT_TRUE(found.meter) << found.missing_reason;
    EXPECT_EQ(found.meter->facts().name, "nvml-instant-power");
    EXPECT_FALSE(found.meter->facts().counts_energy);
    const MeterReading reading = found.meter->read();
    EXPECT_DOUBLE_EQ(reading.power_w, 30);
    EXPECT_TRUE(std::isnan(reading.energy_j));
}

TEST(NvmlMeter, ACounterThatStaysAtZeroIsNotTrusted) {
    FakeNvml fake;
    fake.gpu().energy_j = fake.gpu().shown_energy_j = 0;
    fake.take_over_time();
    EXPECT_EQ(open_meter(fake).meter->facts().name, "nvml-instant-power");
    EXPECT_THAT(open_nvml_counter(first_gpu()).missing_reason, HasSubstr("it stays at zero"));
}

TEST(NvmlMeter, AnOldCardIsReadByItsPowerUsage) {
    const FakeNvml fake;
    const auto found = open_nvml_meter(first_gpu(FakeNvml::old_library()));
    ASSERT_TRUE(found.meter) << found.missing_reason;
    EXPECT_EQ(found.meter->facts().name, "nvml-power-usage");
    EXPECT_DOUBLE_EQ(found.meter->read().power_w, 30);
}

TEST(NvmlMeter, NoSourceAtAllIsExplainedMetricByMetric) {
    FakeNvml fake;
    fake.gpu().missing = testing::missing_energy_counter | testing::missing_field_values | testing::missing_power_usage;
    const auto found = open_meter(fake);
    EXPECT_FALSE(found.meter);
    EXPECT_THAT(found.missing_reason, AllOf(HasSubstr("GPU 0 (NVIDIA A30) has no energy counter: not supported"),
                                            HasSubstr("does not report its power: not supported")));
}

TEST(NvmlMeter, ACardThatFallsOffTheBusLosesItsMeter) {
    FakeNvml fake;
    const auto found = open_meter(fake);
    fake.gpu().lost = true;
    try {
        found.meter->read();
        FAIL() << "a lost card was read";
    } catch (const MeterLost& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("GPU 0 (NVIDIA A30)"), HasSubstr("fell off the bus")));
    }
}

TEST(NvmlSensorDuty, IsAQuarterOnTheCardsThatLookAway) {
    EXPECT_EQ(sensor_duty("NVIDIA A100-SXM4-80GB"), 0.25);
    EXPECT_EQ(sensor_duty("NVIDIA GH200 480GB"), 0.25);
    EXPECT_EQ(sensor_duty("NVIDIA H100 PCIe"), 0.25);
    EXPECT_EQ(sensor_duty("NVIDIA A30"), 1.0);
    EXPECT_EQ(sensor_duty("NVIDIA GeForce RTX 2080 Ti"), 1.0);
}

}  // namespace
}  // namespace joulecast
