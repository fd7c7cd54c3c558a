#include "joulecast/forecast/analytic_kernel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "joulecast/device/device_table.h"
#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/forecast/start_from_others.h"
#include "joulecast/forecast/unseen_device.h"
#include "joulecast/model/jcp.h"

namespace joulecast {
namespace {

const Predictor& shipped() {
    static const Predictor predictor = read_jcp(std::string(JOULECAST_SOURCE_DIR) + "/predictors/nvidia.jcp");
    return predictor;
}

/// An H200 by the model over others, before anything was measured.
const DeviceModel& h200() {
    static const DeviceModel model = instantiate(shipped().pooled.front(), find_device("h200"));
    return model;
}

PreparedOperation lookup(const std::string& rows) {
    return prepare(parse_operation("aten::gather(self=i64[" + rows + ",512], dim=1, index=i64[" + rows + ",128])"),
                   h200());
}

DeviceModel after(double share_of_told) {
    DeviceModel model = h200();
    std::vector<MeasuredCall> calls;
    for (const char* rows : {"512", "1024", "2048", "4096"})
        calls.push_back({lookup(rows), share_of_told * unadjusted_analytic_s(model, lookup(rows)), true});
    adjust_to(model, columns(shipped()), calls);
    return model;
}

TEST(AnalyticKernel, IsThreeTimesTheRooflineAndNoLessThanAKernel) {
    const AnalyticKernel large = analytic_kernel(h200(), lookup("65536"));
    EXPECT_DOUBLE_EQ(large.seconds, 3 * seconds(lookup("65536").roofline));
    EXPECT_EQ(large.half_width, 0);
    EXPECT_EQ(analytic_kernel(h200(), lookup("1")).seconds, h200().device.kernel_latency_s);
    const auto in_training =
        prepare(parse_operation("aten::embedding(weight=f32[512,768]~, indices=i64[1,128])"), h200());
    EXPECT_EQ(mode(in_training.operation), Mode::training);
    EXPECT_GE(analytic_kernel(h200(), in_training).seconds, 2 * h200().device.kernel_latency_s);
}

// 0.75 us on an H200.
TEST(AnalyticKernel, WhatReadsNothingTakesHalfAKernel) {
    const auto made = prepare(parse_operation("aten::arange(end=128)"), h200());
    EXPECT_NEAR(1e6 * analytic_kernel(h200(), made).seconds, 0.75, 0.3);
}

// 26.98 and 52.7 us on an H200.
TEST(AnalyticKernel, RowsOfATableMoveAsFastAsOthers) {
    const auto us = [](const std::string& type) {
        const std::string text = "aten::embedding(weight=" + type + "[30522,768], indices=i64[64,512])";
        return 1e6 * analytic_kernel(h200(), prepare(parse_operation(text), h200())).seconds;
    };
    EXPECT_NEAR(us("bf16"), 26.98, 6);
    EXPECT_NEAR(us("f32"), 52.7, 14);
}

TEST(AnalyticKernel, GoesByWhatCallsOfItsKindTookOnThatDevice) {
    const DeviceModel slow = after(2), fast = after(0.5);
    const double told = analytic_kernel(h200(), lookup("65536")).seconds;
    EXPECT_NEAR(analytic_kernel(slow, lookup("65536")).seconds / told, 2, 0.3);
    EXPECT_NEAR(analytic_kernel(fast, lookup("65536")).seconds / told, 0.5, 0.1);
    EXPECT_LT(analytic_kernel(fast, lookup("65536")).half_width, std::log(4) * 0.75);
    const auto forecast = forecast_operation(fast, columns(shipped()), lookup("65536"), {});
    EXPECT_EQ(forecast.evidence, Evidence::analytic);
    EXPECT_EQ(forecast.kernel_s, analytic_kernel(fast, lookup("65536")).seconds);
    EXPECT_NEAR(std::log(forecast.cost.device_time.high / forecast.cost.device_time.value),
                analytic_kernel(fast, lookup("65536")).half_width, 1e-9);
}

// NeuSight's calls of 20 us of launch were told 2 us after ten of others had been measured.
TEST(AnalyticKernel, KeepsItsLaunchWhenItIsAdjusted) {
    const auto alone = [](const DeviceModel& model) {
        return forecast_operation(model, columns(shipped()), lookup("8"), {}).cost.device_time.value.value();
    };
    EXPECT_GT(alone(h200()), 3 * analytic_kernel(h200(), lookup("8")).seconds);
    EXPECT_GT(alone(after(0.5)), 0.8 * alone(h200()));
    EXPECT_LT(alone(after(0.5)), alone(h200()));
}

TEST(AnalyticKernel, SaysNothingOfViewsAndOfWhatHasNoCounts) {
    EXPECT_TRUE(is_told_analytically(lookup("8")));
    EXPECT_FALSE(is_told_analytically(prepare(parse_operation("aten::view(self=f32[4,4], size=[16])"), h200())));
    EXPECT_FALSE(is_told_analytically(prepare(parse_operation("mine::odd(self=f32[4,4])"), h200())));
}

}  // namespace
}  // namespace joulecast
