#include "joulecast/train/physical_samples.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/device/device_table.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using testing::synthetic_graph;

/// A model of a device on which nothing was measured: times by the roofline, and what issuing a call takes.
DeviceModel unmeasured(const Device& device, double call_overhead_s = 4e-6) {
    DeviceModel model;
    model.device = device;
    model.point.device = device.id;
    model.call_overhead_s = call_overhead_s;
    return model;
}

TEST(PhysicalSamples, SeeANetworkAsTheKernelsThatItsTimeWentTo) {
    const DeviceModel model = unmeasured(find_device("v100"));
    const Graph graph = synthetic_graph("resnet18", 64);
    double flop_s = 0;
    double byte_s = 0;
    for (const CountedOperation& counted : count_operations(graph)) {
        const PreparedOperation operation = prepare(counted.operation, model.device, Math::ieee);
        if (operation.family() == Family::view || operation.family() == Family::symbolic) continue;
        flop_s += static_cast<double>(counted.count) * operation.roofline.flop_s;
        byte_s += static_cast<double>(counted.count) * operation.roofline.byte_s;
    }
    const double slow = 10 * (flop_s + byte_s);
    const auto doing = activity(model, all_columns(), graph, slow, 1);
    ASSERT_TRUE(doing);
    EXPECT_NEAR(doing->flop_share, flop_s / slow, 1e-9);
    EXPECT_NEAR(doing->byte_share, byte_s / slow, 1e-9);
    // However long it took, its kernels ran all the time, and all but the last fill the card.
    EXPECT_GT(doing->matrix_share + doing->other_share, 0.9);
    EXPECT_LE(doing->matrix_share + doing->other_share, 1);
    EXPECT_GT(doing->matrix_share, doing->other_share);  // convolutions are most of resnet18
    EXPECT_EQ(doing->tensor_share, 0);                   // in full float32
    const auto fast = activity(model, all_columns(), graph, flop_s / 2, 1);
    ASSERT_TRUE(fast);
    EXPECT_EQ(fast->flop_share, 1);
    // At half the clock what computes takes twice as long, what waits for memory does not.
    const auto slower = activity(model, all_columns(), graph, slow, 0.5);
    ASSERT_TRUE(slower);
    EXPECT_GT(slower->matrix_share, doing->matrix_share);
    EXPECT_LT(slower->other_share, doing->other_share);
}

TEST(PhysicalSamples, DoNotGuessHowLongKernelsRanWhereTheHostWasWaitedFor) {
    const Graph graph = synthetic_graph("resnet18", 1);
    EXPECT_TRUE(activity(unmeasured(find_device("v100"), 1e-6), all_columns(), graph, 1e-3, 1));
    // Some of its kernels take longer than their issue, all together they do not.
    EXPECT_FALSE(activity(unmeasured(find_device("v100"), 3e-5), all_columns(), graph, 3e-3, 1));
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
    const DeviceModel model = unmeasured(find_device("a100-40g-pcie"));
    TrainingNetwork network{synthetic_graph("resnet18", 64), {}};
    network.measurement.time.median_s = 0.02;
    EXPECT_FALSE(power_sample(model, all_columns(), network));  // no energy
    network.measurement.energy.emplace();
    network.measurement.energy->energy_j = 3;
    network.measurement.real.sm_clock_mhz = 705;
    const auto sample = power_sample(model, all_columns(), network);
    ASSERT_TRUE(sample);
    EXPECT_DOUBLE_EQ(sample->watts, 150);
    EXPECT_DOUBLE_EQ(sample->relative_clock, 0.5);
    EXPECT_TRUE(std::isnan(sample->limit_w));
    EXPECT_FALSE(power_sample(unmeasured(testing::synthetic_cpu()), all_columns(), network));
    EXPECT_FALSE(power_sample(unmeasured(model.device, 1e-2), all_columns(), network));  // a host that slow
}

/// Rows of a made-up device that follow a model of their own.
std::vector<KernelPowerSample> samples_of(int devices) {
    const PhysicalPower own{.still = 0.2, .flop = 0.2, .byte = 0.1, .matrix = 0.1, .other = 0.1};
    std::vector<KernelPowerSample> samples;
    for (int i = 0; i < devices * 20; ++i) {
        KernelPowerSample sample;
        sample.device = find_device("v100");
        sample.device.id = "made-up-" + std::to_string(i % devices);
        sample.device.architecture = sample.device.id;  // a chip of its own
        sample.activity = {0.05 * (i % 20), 0.04 * (i % 19), 0.03 * (i % 11), 0.02 * (i % 13)};
        sample.watts = watts(own, sample.device, sample.activity);
        samples.push_back(sample);
    }
    return samples;
}

TEST(PhysicalSamples, FitAModelOfTheirOwnFromSixChipsOn) {
    EXPECT_EQ(physical_power_from({}), shipped_physical_power());
    EXPECT_EQ(physical_power_from(samples_of(5)), shipped_physical_power());
    const PhysicalPower own = physical_power_from(samples_of(6));
    EXPECT_EQ(own.devices, 6);
    EXPECT_NEAR(own.flop, 0.2, 1e-6);
    auto alike = samples_of(6);
    for (KernelPowerSample& sample : alike) sample.device.architecture = "volta";
    EXPECT_EQ(physical_power_from(alike), shipped_physical_power());
}

}  // namespace
}  // namespace joulecast
