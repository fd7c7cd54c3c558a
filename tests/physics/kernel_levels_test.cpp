#include "joulecast/physics/kernel_levels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace joulecast {
namespace {

constexpr int units = 100;

/// Numbers made up.
ClockParameters parameters_of_device() {
    ClockParameters parameters;
    parameters.highest_mhz = 1000;
    parameters.still_w = 30;
    parameters.clocked_w = 8;
    return parameters;
}

ListedKernel product(double flop_s, double tiles, double depth) {
    ListedKernel kernel;
    kernel.flop_s = flop_s;
    kernel.byte_s = flop_s / 50;
    kernel.tiles = tiles;
    kernel.depth = depth;
    kernel.on_matrix_units = kernel.is_product = true;
    return kernel;
}

ListedKernel stream(double byte_s, double count) {
    ListedKernel kernel;
    kernel.byte_s = byte_s;
    kernel.flop_s = byte_s / 100;
    kernel.count = count;
    return kernel;
}

double compute_of(const ListedKernel& kernel) {
    return kernel_times(std::vector{kernel}, KernelLevels{}, units).front().compute;
}

TEST(KernelLevels, FewTilesAndShallowProductsLeaveUnitsIdle) {
    const double full = compute_of(product(1e-3, 1e9, 1e9));
    EXPECT_NEAR(full, 1e-3 / KernelLevels{}.matrix, 1e-9);
    EXPECT_NEAR(compute_of(product(1e-3, 11, 1e9)), 2 * full, 1e-8);   // 11 / (11 + 0.11 x 100)
    EXPECT_NEAR(compute_of(product(1e-3, 1e9, 130)), 2 * full, 1e-8);  // 130 / (130 + 130)
    EXPECT_DOUBLE_EQ(compute_of(product(1e-3, 0, 0)), 1e-3 / KernelLevels{}.matrix);
}

TEST(KernelLevels, AHostThatIsSlowerThanTheDeviceDecides) {
    const std::vector<ListedKernel> small{stream(1e-9, 100)};
    const KernelLevels levels;
    EXPECT_DOUBLE_EQ(issuing_s(small, levels), 100 * levels.host_s);
    const double slow = workload_s(small, levels, units, parameters_of_device(), 0.5);
    EXPECT_NEAR(slow, 100 * levels.host_s, 0.01 * slow);
}

/// Networks of products and streams in different shares, measured without error by these levels.
std::vector<ListedWorkload> networks(const KernelLevels& levels, const PowerLevels& power) {
    std::vector<ListedWorkload> all;
    for (int i = 0; i < 8; ++i) {
        ListedWorkload one;
        one.group = "group" + std::to_string(i / 2);
        one.kernels = {product(1e-3 * (i + 1), 40.0 * (i + 1), 256.0 * (1 + i % 3)),
                       stream(2e-4 * (8 - i), 5.0 + 40 * (i % 2)), product(3e-4, 1000, 64)};
        const ClockParameters parameters = parameters_of_device();
        one.point.x = 0.8;
        one.point.time_s = workload_s(one.kernels, levels, units, parameters, 0.8);
        one.point.power_w = workload_w(one.kernels, levels, power, units, parameters, 0.8);
        all.push_back(one);
    }
    return all;
}

TEST(KernelLevels, AreFoundInNetworks) {
    KernelLevels truth;
    truth.matrix = 0.5;
    truth.bandwidth = 0.8;
    const PowerLevels watts{60, 30, 50, 20};
    const auto measured = networks(truth, watts);
    const ClockParameters parameters = parameters_of_device();
    const KernelLevels fitted = fit_kernel_levels(KernelLevels{}, measured, units, parameters);
    EXPECT_NEAR(fitted.matrix, 0.5, 0.03);
    EXPECT_NEAR(fitted.bandwidth, 0.8, 0.05);
    const PowerLevels power = fit_power_levels(PowerLevels{}, measured, fitted, units, parameters);
    for (const ListedWorkload& one : measured) {
        EXPECT_NEAR(workload_s(one.kernels, fitted, units, parameters, 0.8), one.point.time_s, 0.02 * one.point.time_s);
        EXPECT_NEAR(workload_w(one.kernels, fitted, power, units, parameters, 0.8), one.point.power_w,
                    0.02 * one.point.power_w);
    }
}

TEST(KernelLevels, NothingMeasuredKeepsTheStart) {
    KernelLevels start;
    start.matrix = 0.6;
    EXPECT_EQ(fit_kernel_levels(start, {}, units, parameters_of_device()).matrix, 0.6);
    EXPECT_EQ(fit_power_levels(PowerLevels{}, {}, start, units, parameters_of_device()).flop_w, PowerLevels{}.flop_w);
}

}  // namespace
}  // namespace joulecast
