#include "joulecast/forecast/device_power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/forecast/forecast_curve.h"
#include "joulecast/model/jcp.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using testing::synthetic_cpu;
using testing::synthetic_graph;

/// A model of a device on which nothing was measured: times by the roofline.
DeviceModel unmeasured(const Device& device) {
    DeviceModel model;
    model.device = device;
    model.point.device = device.id;
    model.call_overhead_s = 4e-6;
    return model;
}

PreparedOperation first_of(Family family, const Device& device) {
    for (const CountedOperation& counted : count_operations(synthetic_graph("resnet18", 8))) {
        PreparedOperation ready = prepare(counted.operation, device, Math::ieee);
        if (ready.family() == family) return ready;
    }
    throw std::logic_error("resnet18 has no such operation");
}

// An H200 draws 157 W above idle for 7 x 7 planes of batch norm in bf16, and 365 for those of 56 x 56.
TEST(DevicePower, ThreadsThatWaitForOthersDrawLess) {
    const Device device = find_device("h200");
    const auto share = [&](const std::string& sizes) {
        const PreparedOperation call =
            prepare(parse_operation("aten::batch_norm(input=bf16" + sizes +
                                    ", weight=bf16[2048], bias=bf16[2048], "
                                    "running_mean=bf16[2048], running_var=bf16[2048], training=false)"),
                    device, Math::ieee);
        return activity(call, device, Math::ieee, 1e-4, 1e-4).other_share;
    };
    EXPECT_NEAR(share("[128,2048,7,7]"), 157.0 / 365, 0.03);
    EXPECT_NEAR(share("[128,2048,56,56]"), 1, 0.02);
}

TEST(DevicePower, SharesOfACallAreItsRatesOverThoseOfTheSheet) {
    const Device device = find_device("h100-sxm");
    PreparedOperation operation = first_of(Family::convolution, device);
    operation.roofline = {1e-3, 2e-3};
    const Activity alone = activity(operation, device, Math::ieee, 4e-3, 4e-3);
    EXPECT_DOUBLE_EQ(alone.flop_share, 0.25);
    EXPECT_DOUBLE_EQ(alone.byte_share, 0.5);
    EXPECT_DOUBLE_EQ(alone.matrix_share, 1);
    EXPECT_DOUBLE_EQ(alone.other_share, 0);
    EXPECT_DOUBLE_EQ(alone.tensor_share, 0);  // full float32 runs on the vector units
    // On matrix units in TF32, of whose tiles 64 channels fill half.
    EXPECT_DOUBLE_EQ(activity(operation, device, Math::tf32, 4e-3, 4e-3).tensor_share, 0.5);
    // A quarter of it is launch: kernels run for the rest.
    const Activity issued = activity(operation, device, Math::ieee, 4e-3, 3e-3);
    EXPECT_DOUBLE_EQ(issued.matrix_share, 0.75);
    // In the cache a call may be faster than its bytes' time.
    EXPECT_DOUBLE_EQ(activity(operation, device, Math::ieee, 1e-3, 1e-3).byte_share, 1);

    const PreparedOperation other = first_of(Family::pooling, device);
    EXPECT_DOUBLE_EQ(activity(other, device, Math::ieee, 1e-3, 1e-3).other_share, 1);
    EXPECT_DOUBLE_EQ(activity(other, device, Math::ieee, 1e-3, 1e-3).matrix_share, 0);
    EXPECT_EQ(activity(other, device, Math::ieee, 0, 0).other_share, 0);
}

TEST(DevicePower, KernelsThatLeaveUnitsIdleDrawLess) {
    const Device device = find_device("h100-sxm");
    const auto busy = [&](const std::string& text) {
        const Activity doing =
            activity(prepare(parse_operation(text), device, Math::ieee), device, Math::ieee, 1e-3, 1e-3);
        return doing.matrix_share + doing.other_share;
    };
    // 132 units of 2048 threads, each of 16 bytes in and 16 out: 8.7 MB fill them.
    EXPECT_DOUBLE_EQ(busy("aten::relu(self=f32[4096,4096])"), 1);
    EXPECT_NEAR(busy("aten::relu(self=f32[64,1024])"), 2.0 * 64 * 1024 * 4 / (132 * 2048 * 32), 1e-12);
    // Four tiles of 128, however long their sums.
    EXPECT_DOUBLE_EQ(busy("aten::mm(self=f32[4096,4096], mat2=f32[4096,4096])"), 1);
    EXPECT_NEAR(busy("aten::mm(self=f32[256,128], mat2=f32[128,256])"), 4.0 / 132, 1e-12);
    EXPECT_NEAR(busy("aten::mm(self=f32[256,1024], mat2=f32[1024,256])"), 4.0 / 132, 1e-12);
}

TEST(DevicePower, LetsMatrixUnitsWaitForTheWeightsOfFewRows) {
    const Device device = find_device("h200");
    const auto doing = [&](int rows) {
        const std::string text = "aten::linear(input=bf16[" + std::to_string(rows) + ",4096], weight=bf16[28672,4096])";
        return activity(prepare(parse_operation(text), device, Math::ieee), device, Math::ieee, 1e-3, 1e-3);
    };
    EXPECT_DOUBLE_EQ(doing(8).matrix_share, 1);  // 224 tiles of the weights for 132 units
    EXPECT_DOUBLE_EQ(doing(8).tensor_share, 8.0 / 128);
    EXPECT_DOUBLE_EQ(doing(128).tensor_share, 1);
    EXPECT_DOUBLE_EQ(doing(4096).tensor_share, 1);
}

TEST(DevicePower, SeesADepthwiseConvolutionAsNoProduct) {
    const Device device = find_device("h100-sxm");
    const auto doing = [&](const std::string& text) {
        return activity(prepare(parse_operation(text), device, Math::tf32), device, Math::tf32, 1e-3, 1e-3);
    };
    const Activity whole = doing("aten::conv2d(input=f32[64,256,28,28], weight=f32[256,256,7,7], padding=[3,3])");
    EXPECT_EQ(whole.tensor_share, 1);
    EXPECT_EQ(whole.other_share, 0);
    const Activity depthwise =
        doing("aten::conv2d(input=f32[64,256,28,28], weight=f32[256,1,7,7], padding=[3,3], groups=256)");
    EXPECT_EQ(depthwise.matrix_share, 0);
    EXPECT_EQ(depthwise.tensor_share, 0);
    EXPECT_EQ(depthwise.other_share, 1);
}

TEST(DevicePower, GivesAGpuItsSheetsPowerWhereNoneWasMeasured) {
    const DeviceModel model = unmeasured(find_device("h100-sxm"));
    const NetworkForecast forecast =
        forecast_network(synthetic_graph("resnet18", 64), "fp32", model, all_columns(), {});
    ASSERT_TRUE(forecast.energy.known()) << forecast.energy_missing_reason;
    EXPECT_EQ(forecast.energy_missing_reason, "");
    EXPECT_GE(forecast.power.value.value(), model.device.idle_w);
    EXPECT_LE(forecast.power.value.value(), model.device.tdp_w);
    EXPECT_NEAR(forecast.idle_energy_j, model.device.idle_w * forecast.time.value.value(), 1e-9);
    ASSERT_EQ(forecast.power_evidence_share.size(), 1U);
    EXPECT_NEAR(forecast.power_evidence_share.at(PowerEvidence::physical), 1, 1e-9);
    EXPECT_EQ(name(PowerEvidence::physical), "physical power model");
    for (const OperationForecast& operation : forecast.operations) {
        EXPECT_EQ(operation.power_evidence, PowerEvidence::physical);
        EXPECT_TRUE(operation.energy.known()) << operation.operation.target;
        EXPECT_LE(operation.power.low, operation.power.value);
        EXPECT_LE(operation.power.value, operation.power.high);
    }
    // As wide at least as the model is wrong on devices it has not seen; but no card draws more than it may.
    EXPECT_GE(std::log(forecast.power.value / forecast.power.low), model.physical_power.half_width - 1e-9);
    EXPECT_LE(forecast.power.high.value(), 1.05 * model.device.tdp_w + 1e-9);
}

TEST(DevicePower, IsAsUnsureOfEnergyAsOfPowerAndTimeTogether) {
    DeviceModel model = unmeasured(find_device("h100-sxm"));
    model.sigma_network = 0.4;
    const NetworkForecast forecast =
        forecast_network(synthetic_graph("resnet18", 64), "fp32", model, all_columns(), {});
    // 1.645 deviations, of a network's time and of the power of a device not seen.
    const double least = std::hypot(1.645 * 0.4, model.physical_power.half_width);
    EXPECT_GE(std::log(forecast.energy.high / forecast.energy.value), least - 1e-3);
}

TEST(DevicePower, KeepsToThePowerLimitOfTheSetting) {
    DeviceModel model = unmeasured(find_device("a10"));
    model.point.power_limit_w = 60;
    const NetworkForecast forecast =
        forecast_network(synthetic_graph("resnet18", 64), "fp32", model, all_columns(), {});
    EXPECT_LE(forecast.power.value.value(), 60);
    EXPECT_GT(forecast.power.value.value(), 20);
}

TEST(DevicePower, LeavesTheProcessorsEnergyUnknown) {
    const NetworkForecast forecast =
        forecast_network(synthetic_graph("resnet18", 1), "fp32", unmeasured(synthetic_cpu()), all_columns(), {});
    EXPECT_FALSE(forecast.energy.known());
    EXPECT_EQ(forecast.energy_missing_reason, "no power measured on this device");
    EXPECT_TRUE(forecast.power_evidence_share.empty());
    for (const OperationForecast& operation : forecast.operations)
        EXPECT_EQ(operation.power_evidence, PowerEvidence::none);
}

TEST(DevicePower, NamesTheFigureThatASheetLacks) {
    Device device = find_device("h100-sxm");
    device.tdp_w = Device::unknown;
    const NetworkForecast forecast =
        forecast_network(synthetic_graph("resnet18", 1), "fp32", unmeasured(device), all_columns(), {});
    EXPECT_FALSE(forecast.energy.known());
    EXPECT_EQ(forecast.energy_missing_reason, "no power measured on this device, and its data sheet lacks tdp_w");
}

TEST(DevicePower, FollowsOtherClocksByItsOwnEquations) {
    const auto share = [](const char* id) { return clock_parameters(unmeasured(find_device(id))).running_share; };
    EXPECT_GT(share("h100-sxm"), 0.6);
    EXPECT_EQ(share("p100"), 0);
    DeviceModel metered = unmeasured(find_device("h100-sxm"));
    metered.power.idle_w = 90;
    metered.power.busy_w = 500;
    EXPECT_EQ(clock_parameters(metered).running_share, 0);
    EXPECT_GT(clock_parameters(metered).steady_share, 0);
}

TEST(DevicePower, GivesWayToWhatWasMeasured) {
    DeviceModel model = unmeasured(find_device("h100-sxm"));
    model.power.idle_w = 90;
    model.power.busy_w = 500;
    model.power.cap_w = 700;
    EXPECT_FALSE(has_physical_power(model));
    EXPECT_EQ(power_facts_of(model).busy_w, 500);
    const auto forecast = forecast_operation(model, all_columns(), first_of(Family::convolution, model.device), {});
    EXPECT_EQ(forecast.power_evidence, PowerEvidence::shared);

    const PreparedOperation operation = first_of(Family::convolution, model.device);
    const MeasuredOperations measured{
        {operation.signature, {{Seconds(1e-3), Seconds(1e-3), Seconds(1e-3)}, {Watts(321), Watts(320), Watts(322)}}}};
    const auto found = forecast_operation(unmeasured(model.device), all_columns(), operation, measured);
    EXPECT_EQ(found.power_evidence, PowerEvidence::measured);
    EXPECT_EQ(found.power.value.value(), 321);
}

TEST(DevicePower, FallsWithTheClockOfTheSetting) {
    DeviceModel model = unmeasured(find_device("a100-40g-pcie"));  // highest clock 1410 MHz
    EXPECT_EQ(relative_clock(model), 1);
    model.point.sm_clock_mhz = 705;
    EXPECT_DOUBLE_EQ(relative_clock(model), 0.5);
    EXPECT_LT(power_facts_of(model).idle_w, model.device.idle_w);
    model.point.sm_clock_mhz = 2000;
    EXPECT_EQ(relative_clock(model), 1);
}

TEST(DevicePower, IsKeptInAPredictorsFile) {
    Predictor predictor;
    predictor.features = {"flops"};
    predictor.devices.push_back(unmeasured(find_device("h100-sxm")));
    const PhysicalPower own{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 8, 9};
    predictor.devices.front().physical_power = own;
    EXPECT_EQ(from_jcp(to_jcp(predictor), "p").devices.front().physical_power, own);
    predictor.devices.front().physical_power.flop = -1;
    EXPECT_THROW(from_jcp(to_jcp(predictor), "p"), Error);
}

}  // namespace
}  // namespace joulecast
