#include "joulecast/evaluate/summed_calls.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "joulecast/device/device_table.h"
#include "joulecast/forecast/unseen_device.h"
#include "joulecast/train/train.h"
#include "tests/train/made_up_gpus.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

const std::string product = "aten::mm(self=f16[8192,8192], mat2=f16[8192,8192])";
const std::string stream = "aten::add.Tensor(self=f32[67108864], other=f32[67108864])";
constexpr double highest_mhz = 1440;

/// An A30 that nobody measured before.
const DeviceModel& a30() {
    static const DeviceModel model = [] {
        const DeviceRows v100 = testing::made_up_rows("v100-32g-pcie", 1.0);
        const DeviceRows a100 = testing::made_up_rows("a100-40g-sxm", 1.0);
        const std::vector<const DeviceRows*> parts{&v100, &a100};
        return instantiate(train_pooled(parts, testing::quick_settings()), find_device("a30"));
    }();
    return model;
}

/// A network of that one call, run at the card's highest clock.
TrainingNetwork network_of(const std::string& call) {
    TrainingNetwork network;
    Node node;
    node.operation = parse_operation(call);
    network.graph.nodes = {node};
    network.measurement.real.sm_clock_mhz = highest_mhz;
    return network;
}

/// What the call took alone, at that clock: 1 ms and 150 W.
MeasuredOperations measured_at(const std::string& call, double sm_clock_mhz, bool is_of_device = true) {
    MeasuredOperation one{{Seconds(1e-3), Seconds(1e-3), Seconds(1e-3)}, {Watts(150), Watts(150), Watts(150)}};
    one.at_clocks = {{sm_clock_mhz, std::nan(""), one.time, one.power}};
    one.is_of_device = is_of_device;
    return {{signature(parse_operation(call)), one}};
}

SummedCalls sum_of(const std::string& call, const MeasuredOperations& measured) {
    return summed_calls(network_of(call), a30(), all_columns(), measured);
}

TEST(SummedCalls, AProductHeldAtALowerClockIsMovedToTheNetworks) {
    const SummedCalls at_highest = sum_of(product, measured_at(product, highest_mhz));
    EXPECT_NEAR(at_highest.time_s, 1e-3, 1e-12);
    EXPECT_NEAR(at_highest.energy_j, 0.150, 1e-9);
    EXPECT_EQ(at_highest.measured_share, 1);
    const SummedCalls held = sum_of(product, measured_at(product, 0.8 * highest_mhz));
    EXPECT_NEAR(held.time_s, 0.8e-3, 0.01e-3);  // arithmetic goes with the clock
    // Where a product computes as much, a higher voltage takes more: at 0.8 of the clock v is 1.04, at all of it 1.21.
    EXPECT_GT(held.energy_j, 1.15 * 0.150);
    EXPECT_LT(held.energy_j, 1.36 * 0.150);
}

TEST(SummedCalls, AStreamWaitsForMemoryAtAnyClock) {
    const SummedCalls held = sum_of(stream, measured_at(stream, 0.9 * highest_mhz));
    EXPECT_NEAR(held.time_s, 1e-3, 0.03e-3);
    EXPECT_GT(held.energy_j, 0.150);
}

TEST(SummedCalls, WhatWasTimedWithItsLaunchStandsAsItIs) {
    const SummedCalls held = sum_of(product, measured_at(product, 0.8 * highest_mhz, false));
    EXPECT_NEAR(held.time_s, 1e-3, 1e-12);
}

}  // namespace
}  // namespace joulecast
