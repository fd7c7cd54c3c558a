#include "joulecast/forecast/issue_cost.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "joulecast/device/device_table.h"
#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/forecast/hosts.h"
#include "joulecast/graph/operation.h"
#include "joulecast/model/predictor.h"

namespace joulecast {
namespace {

const Device& h200() {
    static const Device device = find_device("h200");
    return device;
}

/// Microseconds from C++.
double issued(const std::string& call) {
    return 1e6 * issue_from_cpp_s(prepare(parse_operation(call), h200(), Math::ieee), h200());
}

// Each beside the median of what issuing took on the slowest and on the quickest of three machines.
TEST(IssueCost, GoesByTheKindOfCall) {
    const auto expect_within = [](double told, double quickest, double slowest) {
        EXPECT_GE(told, 0.9 * quickest);
        EXPECT_LE(told, 1.05 * slowest);
    };
    expect_within(issued("aten::conv2d(input=bf16[8,64,56,56], weight=bf16[64,64,3,3], padding=[1,1])"), 19.1, 29.4);
    expect_within(issued("aten::linear(input=bf16[8,128,768], weight=bf16[768,768])"), 15.2, 20.4);
    expect_within(issued("aten::relu(self=bf16[8,128,768])"), 7.9, 8.8);
    expect_within(issued("aten::add.Tensor(self=bf16[8,128,768], other=bf16[8,128,768])"), 7.7, 8.3);
    expect_within(issued("aten::embedding(weight=f32[512,768], indices=i64[8,128])"), 9.2, 17.1);
    expect_within(
        issued("aten::layer_norm(input=bf16[8,128,768], normalized_shape=[768], weight=bf16[768], bias=bf16[768])"),
        9.6, 15.2);
}

TEST(IssueCost, ViewsAreIssuedToo) {
    EXPECT_NEAR(issued("aten::view(self=bf16[8,128,768], size=[1024,768])"), 1, 1e-9);
    EXPECT_NEAR(issued("aten::view(self=bf16[8,128,768]~, size=[1024,768])"), 20, 1e-9);
}

TEST(IssueCost, EachGradientIsIssued) {
    const std::string linear = "aten::linear(input=bf16[1024,768]~, weight=bf16[768,768]~)";
    const std::string forward = "aten::linear(input=bf16[1024,768], weight=bf16[768,768])";
    EXPECT_NEAR(issued(linear) - issued(forward), 2 * 29, 1e-9);
    EXPECT_NEAR(issued("aten::relu(self=bf16[1024,768]~)") - issued("aten::relu(self=bf16[1024,768])"), 29, 1e-9);
}

TEST(IssueCost, PythonTakesMoreForEachCallAndMostInTrainingBesideAGpu) {
    EXPECT_DOUBLE_EQ(python_call_s(Mode::inference, Device::Kind::gpu), 8e-6);
    EXPECT_DOUBLE_EQ(python_call_s(Mode::inference, Device::Kind::cpu), 8e-6);
    EXPECT_DOUBLE_EQ(python_call_s(Mode::training, Device::Kind::gpu), 30e-6);
    EXPECT_DOUBLE_EQ(python_call_s(Mode::training, Device::Kind::cpu), 8e-6);
}

TEST(IssueCost, HostsAreAsOldAsTheirCards) {
    EXPECT_EQ(pace_of_age(find_device("a100-40g-pcie")), 1.5);
    EXPECT_EQ(pace_of_age(find_device("v100-32g-pcie")), 1.5);
    EXPECT_EQ(pace_of_age(find_device("h100-sxm")), 1);
    Device unknown;
    EXPECT_EQ(pace_of_age(unknown), 1);
}

// A CPU that is named takes the place of that guess.
TEST(IssueCost, ANamedCpuIsNoOlderThanItIs) {
    const auto pace_on = [](const std::string& gpu, const std::string& cpu) {
        DeviceModel model;
        model.device = find_device(gpu);
        model.unseen.emplace();
        issue_from(model, find_device(cpu));
        return model.issuer->pace.factor * pace_of_age(model.device);
    };
    EXPECT_NEAR(pace_on("a100-40g-pcie", "xeon-platinum-8480"), 1, 1e-12);
    EXPECT_NEAR(pace_on("h100-sxm", "xeon-platinum-8480"), 1, 1e-12);
    EXPECT_GT(pace_on("h100-sxm", "xeon-e5-2690-v4"), 1.5);
    EXPECT_NEAR(pace_on("a100-40g-pcie", "xeon-e5-2690-v4"), pace_on("h100-sxm", "xeon-e5-2690-v4"), 1e-12);
}

// What a user's own cards were measured to take stands before any guess.
TEST(IssueCost, MeasuredHostsReplaceTheAssumedOnes) {
    Unseen model;
    const Device old = find_device("a100-40g-pcie");
    EXPECT_EQ(pace_of_hosts(model, old), pace_of_age(old));
    model.issue_pace = 0.4;
    EXPECT_EQ(pace_of_hosts(model, old), 0.4);
    DeviceModel device;
    device.device = old;
    device.unseen = model;
    const PreparedOperation call = prepare(parse_operation("aten::relu(self=f32[8,8])"), old, Math::ieee);
    EXPECT_NEAR(issue_seconds(device, call, 1), 0.4 * (issue_from_cpp_s(call, old) + 8e-6), 1e-12);
    // From C++ nothing of Python is left.
    device.point.host = Host::python;
    EXPECT_NEAR(default_extra(device, Host::cpp, Mode::inference).seconds_per_call, 0.4 * -8e-6, 1e-12);
    device.unseen->issue_pace = 0;
    EXPECT_NEAR(default_extra(device, Host::cpp, Mode::training).seconds_per_call, 1.5 * -30e-6, 1e-12);
}

}  // namespace
}  // namespace joulecast
