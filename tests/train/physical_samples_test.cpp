#include "joulecast/train/physical_samples.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/device/device_table.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using testing::synthetic_graph;

TEST(PhysicalSamples, SeeANetworkAsTheShareOfItsTimeThatItsWorkTakes) {
    const Device device = find_device("v100");
    const Graph graph = synthetic_graph("resnet18", 16);
    double flop_s = 0;
    double byte_s = 0;
    for (const CountedOperation& counted : count_operations(graph)) {
        const PreparedOperation operation = prepare(counted.operation, device, Math::ieee);
        if (operation.family() == Family::view || operation.family() == Family::symbolic) continue;
        flop_s += static_cast<double>(counted.count) * operation.roofline.flop_s;
        byte_s += static_cast<double>(counted.count) * operation.roofline.byte_s;
    }
    const double slow = 10 * (flop_s + byte_s);
    const Activity waiting = activity(graph, device, Math::ieee, slow, 1);
    EXPECT_NEAR(waiting.flop_share, flop_s / slow, 1e-9);
    EXPECT_NEAR(waiting.byte_share, byte_s / slow, 1e-9);
    EXPECT_LT(waiting.matrix_share + waiting.other_share, 0.3);  // most of the time no kernel runs
    EXPECT_GT(waiting.matrix_share, waiting.other_share);        // convolutions are most of resnet18
    // Faster than the kernels are thought to be: then they take all of the time.
    const Activity busy = activity(graph, device, Math::ieee, flop_s, 1);
    EXPECT_NEAR(busy.matrix_share + busy.other_share, 1, 1e-9);
    EXPECT_NEAR(busy.flop_share, 1, 1e-9);
}

TEST(PhysicalSamples, AreRowsWithPowerOfGpusAlone) {
    auto rows = testing::synthetic_training({synthetic_graph("resnet18", 2)});
    DeviceModel model;
    model.device = find_device("v100");
    EXPECT_TRUE(power_samples(model, rows).empty());  // nothing metered
    rows[0].power_w = 180;
    rows[1].power_w = 90;
    model.point.host = Host::graph;
    model.point.power_limit_w = 200;
    const auto samples = power_samples(model, rows);
    ASSERT_EQ(samples.size(), 2U);
    EXPECT_EQ(samples[0].watts, 180);
    EXPECT_EQ(samples[0].limit_w, 200);
    // Replayed from a graph nothing is issued, so a kernel runs all the time.
    EXPECT_EQ(samples[0].activity.matrix_share + samples[0].activity.other_share, 1);
    model.device = testing::synthetic_cpu();
    EXPECT_TRUE(power_samples(model, rows).empty());
}

TEST(PhysicalSamples, TakeANetworksMeanPowerAndClock) {
    const Device device = find_device("a100-40g-pcie");
    TrainingNetwork network{synthetic_graph("resnet18", 64), {}};
    network.measurement.time.median_s = 0.02;
    EXPECT_FALSE(power_sample(device, network));  // no energy
    network.measurement.energy.emplace();
    network.measurement.energy->energy_j = 3;
    network.measurement.real.sm_clock_mhz = 705;
    const auto sample = power_sample(device, network);
    ASSERT_TRUE(sample);
    EXPECT_DOUBLE_EQ(sample->watts, 150);
    EXPECT_DOUBLE_EQ(sample->relative_clock, 0.5);
    EXPECT_TRUE(std::isnan(sample->limit_w));
    EXPECT_FALSE(power_sample(testing::synthetic_cpu(), network));
}

/// Rows of a made-up device that follow a model of their own.
std::vector<KernelPowerSample> samples_of(int devices) {
    const PhysicalPower own{.still = 0.2, .flop = 0.2, .byte = 0.1, .matrix = 0.1, .other = 0.1};
    std::vector<KernelPowerSample> samples;
    for (int i = 0; i < devices * 20; ++i) {
        KernelPowerSample sample;
        sample.device = find_device("v100");
        sample.device.id = "made-up-" + std::to_string(i % devices);
        sample.activity = {0.05 * (i % 20), 0.04 * (i % 19), 0.03 * (i % 11), 0.02 * (i % 13)};
        sample.watts = watts(own, sample.device, sample.activity);
        samples.push_back(sample);
    }
    return samples;
}

TEST(PhysicalSamples, FitAModelOfTheirOwnFromSixDevicesOn) {
    EXPECT_EQ(physical_power_from({}), shipped_physical_power());
    EXPECT_EQ(physical_power_from(samples_of(5)), shipped_physical_power());
    const PhysicalPower own = physical_power_from(samples_of(6));
    EXPECT_EQ(own.devices, 6);
    EXPECT_NEAR(own.flop, 0.2, 1e-6);
}

}  // namespace
}  // namespace joulecast
