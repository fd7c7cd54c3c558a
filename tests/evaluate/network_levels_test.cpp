#include "joulecast/evaluate/network_levels.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

/// Networks of four models, measured by the default levels; those of the last take `odd` times as long. Made up.
std::vector<ListedWorkload> networks(const Device& device, double odd) {
    const ClockParameters parameters = default_clock_parameters(device);
    std::vector<ListedWorkload> all;
    for (int i = 0; i < 16; ++i) {
        ListedWorkload one;
        one.group = "model" + std::to_string(i / 4);
        ListedKernel kernel;
        kernel.flop_s = 1e-4 * (i % 4 + 1);
        kernel.byte_s = 1e-4 * (i / 4 + 1);
        kernel.count = 50;
        one.kernels = {kernel};
        one.point.x = 0.6 + 0.01 * i;
        one.point.time_s =
            (i / 4 == 3 ? odd : 1) * workload_s(one.kernels, KernelLevels{}, device.units, parameters, one.point.x);
        one.point.power_w = 150;
        all.push_back(one);
    }
    return all;
}

TEST(NetworkLevels, ErrorsAreThoseOfModelsLeftOut) {
    const Device device = find_device("a100-40g-pcie");
    const ClockParameters parameters = default_clock_parameters(device);
    const NetworkLevels exact = network_levels(networks(device, 1), device, parameters);
    EXPECT_LT(exact.sigma_time, 0.01);
    EXPECT_NEAR(exact.x, 0.675, 1e-9);
    // A model that takes 1.5 times as long is a surprise to the others, whatever fits all of them.
    EXPECT_GT(network_levels(networks(device, 1.5), device, parameters).sigma_time, 0.2);
}

TEST(NetworkLevels, OfFewNetworksTheErrorsAreNotKnown) {
    const Device device = find_device("a100-40g-pcie");
    auto few = networks(device, 1);
    few.resize(5);
    const NetworkLevels levels = network_levels(few, device, default_clock_parameters(device));
    EXPECT_EQ(levels.sigma_time, NetworkLevels{}.sigma_time);
    EXPECT_THROW(network_levels({}, device, default_clock_parameters(device)), Error);
}

}  // namespace
}  // namespace joulecast
