#include "joulecast/physics/fit_physical_power.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

constexpr PhysicalPower planted{
    .still = 0.15, .flop = 0.12, .byte = 0.18, .matrix = 0.25, .other = 0.1, .tensor = 0.08};

Device made_up(int number) {
    Device device;
    device.id = "made-up-" + std::to_string(number);
    device.kind = Device::Kind::gpu;
    device.tdp_w = 150 + 70 * number;
    device.vector_flop_per_s_fp32 = (6 + 5 * number) * 1e12;
    device.process_nm = number % 2 == 0 ? 7 : 4;
    return device;
}

/// Rows of a device that follow the model, times a factor of the device's own.
void add_rows(const Device& device, int rows, double factor, std::vector<KernelPowerSample>& samples,
              const PhysicalPower& truth = planted) {
    Random random(1000 + static_cast<std::uint64_t>(device.tdp_w));
    for (int i = 0; i < rows; ++i) {
        KernelPowerSample sample;
        sample.device = device;
        const double busy = random.uniform();
        const double matrix = random.uniform();
        sample.activity = {random.uniform(), random.uniform(), busy * matrix, busy * (1 - matrix),
                           i % 2 == 0 ? busy * matrix : 0};
        sample.relative_clock = i % 3 == 0 ? 0.6 : 1;
        sample.watts = factor * watts(truth, device, sample.activity, sample.limit_w, sample.relative_clock);
        samples.push_back(sample);
    }
}

void expect_near(const PhysicalPower& found, const PhysicalPower& truth, double tolerance) {
    EXPECT_NEAR(found.still, truth.still, tolerance);
    EXPECT_NEAR(found.flop, truth.flop, tolerance);
    EXPECT_NEAR(found.byte, truth.byte, tolerance);
    EXPECT_NEAR(found.matrix, truth.matrix, tolerance);
    EXPECT_NEAR(found.other, truth.other, tolerance);
    EXPECT_NEAR(found.tensor, truth.tensor, tolerance);
}

TEST(FitPhysicalPower, FindsTheNumbersThatRowsWereMadeWith) {
    std::vector<KernelPowerSample> samples;
    for (int device = 0; device < 4; ++device) add_rows(made_up(device), 40, 1, samples);
    const PhysicalPower found = fit_physical_power(samples);
    expect_near(found, planted, 1e-6);
    EXPECT_EQ(found.devices, 4);
    EXPECT_EQ(found.rows, 160);
    EXPECT_LT(found.half_width, 1e-5);
    for (const double said : left_out_watts(samples)) EXPECT_TRUE(std::isfinite(said));
}

TEST(FitPhysicalPower, CountsRowsAtTheLimitAsNoLessThanThat) {
    // A device whose every row would draw two to three times its limit: taken at their word, its rows would pull all
    // shares down.
    std::vector<KernelPowerSample> samples;
    for (int device = 0; device < 4; ++device) add_rows(made_up(device), 40, 1, samples);
    for (int i = 0; i < 40; ++i) {
        KernelPowerSample limited;
        limited.device = made_up(7);
        limited.activity = {0.9, 0.1 + 0.01 * i, 1, 0};
        limited.limit_w = watts(planted, limited.device, limited.activity, 1e9) / 2.5;
        limited.watts = limited.limit_w;
        samples.push_back(limited);
    }
    expect_near(fit_physical_power(samples), planted, 1e-6);
}

TEST(FitPhysicalPower, LetsAChipWithManyRowsCountAsOne) {
    // Between two devices that draw 0.8 and 1.25 of the model the fit lies in the middle, though one has ten times the
    // rows.
    PhysicalPower flat;
    flat.other = 0.3;
    std::vector<KernelPowerSample> samples;
    add_rows(made_up(0), 400, 0.8, samples, flat);
    add_rows(made_up(2), 40, 1.25, samples, flat);
    const PhysicalPower found = fit_physical_power_alone(samples);
    // Squared relative errors (f/0.8 - 1)^2 + (f/1.25 - 1)^2 are least at f = (1/0.8 + 1/1.25) / (1/0.64 + 1/1.5625).
    const double f = (1 / 0.8 + 1 / 1.25) / (1 / 0.64 + 1 / 1.5625);
    EXPECT_NEAR(found.other / flat.other, f, 0.02);
}

TEST(FitPhysicalPower, ForecastsADeviceWithoutItsOwnRows) {
    std::vector<KernelPowerSample> samples;
    for (int device = 0; device < 4; ++device) add_rows(made_up(device), 30, device == 3 ? 1.5 : 1, samples);
    const auto said = left_out_watts(samples);
    // The others follow the model exactly, so the fourth is said to draw what it does over 1.5.
    for (std::size_t i = 90; i < samples.size(); ++i) EXPECT_NEAR(said[i] * 1.5 / samples[i].watts, 1, 1e-4);
}

TEST(FitPhysicalPower, LeavesOutAllCardsOfAChip) {
    std::vector<KernelPowerSample> samples;
    for (int device = 0; device < 5; ++device) add_rows(made_up(device), 30, device >= 3 ? 1.5 : 1, samples);
    EXPECT_EQ(count_chips(samples), 5U);
    // The two that draw more than the rest become cards of one chip: neither tells of the other.
    for (std::size_t i = 90; i < samples.size(); ++i) {
        samples[i].device.architecture = "one";
        samples[i].device.units = 10;
        samples[i].device.boost_clock_mhz = 1000;
        samples[i].device.peak_flop_per_s_fp16 = 1e14;
    }
    EXPECT_EQ(count_chips(samples), 4U);
    EXPECT_EQ(without_chip_of(samples.back().device, samples).size(), 90U);
    const auto said = left_out_watts(samples);
    for (std::size_t i = 90; i < samples.size(); ++i) EXPECT_NEAR(said[i] * 1.5 / samples[i].watts, 1, 1e-4);
    EXPECT_EQ(fit_physical_power(samples).devices, 4);
}

TEST(FitPhysicalPower, IsUnsureByTheBiasesOfDevicesAndTheScatterOfRows) {
    // Biases +-0.1 about zero: mean square 0.01. Rows +-0.2 about them: mean square 0.04. t of 3 degrees of freedom at
    // 95 %: 2.3534 (tables). 2.3534 * sqrt(0.05) = 0.5262.
    std::vector<std::vector<double>> devices;
    for (const double bias : {0.1, -0.1, 0.1, -0.1})
        devices.push_back({bias - 0.2, bias + 0.2, bias - 0.2, bias + 0.2});
    EXPECT_NEAR(half_width_90(devices), 0.5262, 1e-4);
    devices.resize(2);
    EXPECT_NEAR(half_width_90(devices), 6.3138 * std::sqrt(0.05), 1e-3);  // one degree of freedom: wide
    devices.resize(1);
    EXPECT_TRUE(std::isinf(half_width_90(devices)));
}

TEST(FitPhysicalPower, AsksForThreeDevicesAndTheirFigures) {
    std::vector<KernelPowerSample> samples;
    EXPECT_THROW(fit_physical_power_alone(samples), Error);
    add_rows(made_up(0), 10, 1, samples);
    add_rows(made_up(1), 10, 1, samples);
    EXPECT_THROW(fit_physical_power(samples), Error);
    samples.back().device.tdp_w = Device::unknown;
    try {
        fit_physical_power_alone(samples);
        FAIL() << "took a device without TDP";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("lacks tdp_w"));
    }
}

}  // namespace
}  // namespace joulecast
