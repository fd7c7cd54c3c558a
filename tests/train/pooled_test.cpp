#include "joulecast/train/pooled.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/forecast/float32_math.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/forecast/issue_cost.h"
#include "joulecast/forecast/told_kernel.h"
#include "joulecast/forecast/unseen_device.h"
#include "joulecast/forecast/unseen_network.h"
#include "joulecast/model/jcp.h"
#include "joulecast/model/jcp_pooled.h"
#include "joulecast/train/pooled_samples.h"
#include "tests/train/made_up_gpus.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using testing::made_up_rows;
using testing::quick_settings;

/// Four cards that sustain their peaks alike, at 0.9 to 1.1 of one law.
const std::vector<DeviceRows>& four() {
    static const std::vector<DeviceRows> all{made_up_rows("p100", 0.9), made_up_rows("v100-32g-pcie", 1.0),
                                             made_up_rows("a100-40g-sxm", 1.0), made_up_rows("h100-sxm", 1.1)};
    return all;
}

std::vector<const DeviceRows*> parts(std::span<const DeviceRows> all) {
    std::vector<const DeviceRows*> chosen;
    for (const DeviceRows& device : all) chosen.push_back(&device);
    return chosen;
}

std::vector<const DeviceRows*> parts(std::size_t count = 4) {
    return parts(std::span(four()).first(count));
}

const PooledModel& pooled() {
    static const PooledModel model = train_pooled(parts(), quick_settings());
    return model;
}

PreparedOperation product(const DeviceModel& model, const char* marks = "") {
    const std::string text =
        std::string("aten::linear(input=f32[1000,1000]") + marks + ", weight=f32[1000,1000]" + marks + ")";
    return prepare(parse_operation(text), model.device, Math::ieee);
}

TEST(Pooled, ForecastsADeviceThatWasNeverMeasured) {
    const DeviceModel a30 = instantiate(pooled(), find_device("a30"));
    const auto forecast = forecast_operation(a30, all_columns(), product(a30), {});
    // The rule behind the times, at the middle of the devices' slowdowns: 1.0.
    const double kernel = testing::made_up_kernel_s(product(a30), 1.0);
    EXPECT_NEAR(forecast.kernel_s / kernel, 1, 0.15);
    EXPECT_NEAR(forecast.cost.device_time.value.value(), forecast.kernel_s + testing::made_up_launch_s, 3e-6);
    EXPECT_EQ(forecast.evidence, Evidence::extrapolated);
    const double true_s = kernel + testing::made_up_launch_s;
    EXPECT_LT(forecast.cost.device_time.low.value(), true_s);
    EXPECT_GT(forecast.cost.device_time.high.value(), true_s);
}

TEST(Pooled, TakesAsManyDevicesAsAMiddleNeeds) {
    EXPECT_THROW(train_pooled(parts(1), quick_settings()), Error);
    const PooledModel two = train_pooled(parts(2), quick_settings());
    EXPECT_EQ(two.devices, (std::vector<std::string>{"p100", "v100-32g-pcie"}));
    EXPECT_EQ(two.prior.devices, 2);
}

TEST(Pooled, ADeviceOfAnotherKindOrWithoutAPeakIsRefused) {
    Device cpu = find_device("a30");
    cpu.kind = Device::Kind::cpu;
    EXPECT_THROW(instantiate(pooled(), cpu), Error);
    Device blank = find_device("a30");
    blank.peak_flop_per_s_fp32 = std::nan("");
    EXPECT_THROW(instantiate(pooled(), blank), Error);
}

TEST(Pooled, ADevicesOwnEffectGoesBeforeTheMiddle) {
    const std::vector<DeviceEffect> effects{{"a", 2016, -0.2}, {"b", 2018, 0.0}, {"c", 2020, 0.7}};
    Device device;
    device.id = "c";
    EXPECT_EQ(middle_effect(effects, device), 0.7);
    device.id = "d";
    EXPECT_EQ(middle_effect(effects, device), 0.0);  // the median
    EXPECT_EQ(age_weight(2018, 2020, 2), 1.0 / 3);
    EXPECT_EQ(age_weight(2018, 2020, 0), 1);
}

TEST(Pooled, BackwardPassesFollowFromForwardOnes) {
    const DeviceModel a30 = instantiate(pooled(), find_device("a30"));
    const auto forward = forecast_operation(a30, all_columns(), product(a30), {});
    const auto both = forecast_operation(a30, all_columns(), product(a30, "~"), {});
    // Two more products of the same arithmetic, and 3 passes over a weight of 4 MB to add its gradient.
    const double passes = 3 * 4e6 / a30.device.bandwidth_bytes_per_s;
    EXPECT_NEAR(both.kernel_s, 3 * forward.kernel_s + passes, 0.1 * both.kernel_s);
}

TEST(Pooled, GradientsAreAddedAtWhatMemoriesReach) {
    // A weight of 400 MB that one row is multiplied by: adding up its gradient takes three passes over it.
    const auto both_s = [](const DeviceModel& model) {
        const auto operation =
            prepare(parse_operation("aten::linear(input=f32[1,10000]~, weight=f32[10000,10000]~)"), model.device, {});
        return forecast_operation(model, all_columns(), operation, {}).kernel_s;
    };
    DeviceModel slow = instantiate(pooled(), find_device("a30"));
    const double before = both_s(slow);
    slow.device.sustained_bandwidth_share *= 0.5;
    EXPECT_NEAR(both_s(slow), 2 * before, 0.05 * before);
}

TEST(Pooled, ForwardPassesOfBothModesAreForecastOnceToTheSameResult) {
    const DeviceModel a30 = instantiate(pooled(), find_device("a30"));
    const DeviceModel t4 = instantiate(pooled(), find_device("t4"));
    ForwardKernels known;
    for (const char* marks : {"~", "", "~"}) {
        const auto anew = forecast_operation(a30, all_columns(), product(a30, marks), {});
        const auto after_others = forecast_operation(a30, all_columns(), product(a30, marks), {}, known);
        EXPECT_EQ(anew.cost.device_time.value, after_others.cost.device_time.value) << marks;
        EXPECT_EQ(anew.cost.device_time.high, after_others.cost.device_time.high) << marks;
    }
    ForwardKernels of_training;
    forecast_operation(a30, all_columns(), product(a30, "~"), {}, of_training);
    EXPECT_EQ(known.size(), of_training.size());  // of one mode alone as many as of both
    const std::size_t before = known.size();
    const auto elsewhere = forecast_operation(t4, all_columns(), product(t4), {}, known);
    EXPECT_EQ(elsewhere.kernel_s, forecast_operation(t4, all_columns(), product(t4), {}).kernel_s);
    EXPECT_GT(known.size(), before);
}

TEST(Pooled, TypesNobodyMeasuredTakeTheNearestLaw) {
    const DeviceModel a30 = instantiate(pooled(), find_device("a30"));
    const Law* law = find_law(a30, parse_operation("aten::relu(self=bf16[8])"));
    ASSERT_NE(law, nullptr);
    EXPECT_NEAR(law->byte_factor, 1.3, 0.2);
    const Operation pooling =
        parse_operation("aten::max_pool2d(self=f32[8,64,112,112], kernel_size=[3,3], stride=[2,2])");
    const auto forecast = forecast_operation(a30, all_columns(), prepare(pooling, a30.device, Math::ieee), {});
    EXPECT_EQ(forecast.evidence, Evidence::analytic);
    EXPECT_GT(forecast.cost.device_time.value.value(), testing::made_up_launch_s);
}

TEST(Pooled, AFewMeasurementsAdjustItAndNarrowItsIntervals) {
    const Device a30 = find_device("a30");
    DeviceModel model = instantiate(pooled(), a30);
    const DeviceRows slow = made_up_rows("a30", 1.5);
    const auto before = forecast_operation(model, all_columns(), product(model), {});
    const auto chosen = telling_rows(model, all_columns(), slow.rows, 8);
    ASSERT_FALSE(chosen.empty());
    std::vector<const TrainingRow*> probes;
    for (const std::size_t row : chosen) probes.push_back(&slow.rows[row]);
    const double sigma = model.sigma_network;
    adjust_to(model, all_columns(), probes);
    const auto after = forecast_operation(model, all_columns(), product(model), {});
    const double kernel = testing::made_up_kernel_s(product(model), 1.5);
    EXPECT_LT(std::abs(std::log(after.kernel_s / kernel)), 0.4 * std::abs(std::log(before.kernel_s / kernel)));
    const auto width = [](const OperationForecast& f) {
        return f.cost.device_time.high.value() / f.cost.device_time.low.value();
    };
    EXPECT_LT(width(after), width(before));
    EXPECT_LT(model.sigma_network, sigma);
}

/// The factor between the ends of the interval of a network of these calls, a hundred times each.
double factor_of_network(const DeviceModel& device, const std::vector<std::string>& calls) {
    Graph graph;
    graph.has_edges = false;
    for (const std::string& call : calls) {
        Node& node = graph.nodes.emplace_back();
        node.operation = parse_operation(call);
        node.count = 100;
    }
    const Estimate<Seconds> time = forecast_network(graph, "fp32", device, all_columns(), {}).time;
    return time.high.value() / time.low.value();
}

TEST(Pooled, ANetworkIsAsUncertainAsWhatItsTimeFollows) {
    const DeviceModel a30 = instantiate(pooled(), find_device("a30"));
    const auto linear = [](const std::string& size, const std::string& type = "f32") {
        const std::string sizes = type + "[" + size + "," + size + "]";
        return "aten::linear(input=" + sizes + ", weight=" + sizes + ")";
    };
    // Waiting for who issues it: half as much again or less, whatever the kernels take.
    EXPECT_NEAR(factor_of_network(a30, {linear("64")}), std::exp(2 * 1.645 * 0.4), 0.05);
    // What families and sizes are off by averages out, what the device is off by does not.
    const double of_products = factor_of_network(a30, {linear("3000")});
    const double of_both =
        factor_of_network(a30, {linear("3000"), "aten::add.Tensor(self=f32[9000,9000], other=f32[9000,9000])"});
    EXPECT_LT(of_both, of_products - 0.01);
    EXPECT_GT(of_both, std::exp(2 * 1.645 * a30.unseen->residual.prior().common));
    // Types that nobody measured stand on the laws of others.
    EXPECT_GT(factor_of_network(a30, {linear("6000", "f16")}), 1.05 * factor_of_network(a30, {linear("6000")}));
}

TEST(Pooled, WhatWasTimedApartFromIssuingIsAllOfItTheKernels) {
    DeviceModel model = instantiate(pooled(), find_device("a30"));
    TrainingRow row;
    row.operation = product(model);
    const double kernel_s = forecast_operation(model, all_columns(), row.operation, {}).kernel_s;
    row.time_s = kernel_s;
    row.issue_s = 5e-6;
    const std::vector<const TrainingRow*> probes = {&row};
    adjust_to(model, all_columns(), probes);
    EXPECT_NEAR(forecast_operation(model, all_columns(), row.operation, {}).kernel_s / kernel_s, 1, 1e-9);

    // As known of the operation itself, too: the host's time is not taken off.
    MeasuredOperations measured;
    MeasuredOperation& known = measured[row.operation.signature];
    known.time = {Seconds(3e-5), Seconds(2.9e-5), Seconds(3.1e-5)};
    EXPECT_TRUE(std::isnan(forecast_operation(model, all_columns(), row.operation, measured).kernel_s));
    known.is_of_device = true;
    EXPECT_DOUBLE_EQ(forecast_operation(model, all_columns(), row.operation, measured).kernel_s, 3e-5);
}

TEST(Pooled, RowsTimedApartFromIssuingTeachNoLaunch) {
    DeviceRows rows = made_up_rows("a30", 1.0);
    const auto launches = [&] {
        double most = 0;
        for (const PooledSample& sample : pooled_samples(parts(std::span(&rows, 1))))
            most = std::max(most, sample.launch_s);
        return most;
    };
    EXPECT_GT(launches(), 0);
    for (TrainingRow& row : rows.rows) row.issue_s = 5e-6;
    EXPECT_EQ(launches(), 0);
}

TEST(Pooled, BackwardPassesFollowThoseThatWereMeasured) {
    DeviceModel model = instantiate(pooled(), find_device("a30"));
    const auto kernel_s = [&](const DeviceModel& device, const char* marks) {
        return forecast_operation(device, all_columns(), product(device, marks), {}).kernel_s;
    };
    const double forward = kernel_s(model, ""), both = kernel_s(model, "~");
    // Calls like it, with their backward passes, half as slow again as the model thinks.
    std::vector<TrainingRow> rows;
    for (const char* size : {"1000", "1010", "990", "1100"}) {
        const std::string sizes = std::string("=f32[") + size + "," + size + "]~";
        TrainingRow& row = rows.emplace_back();
        row.operation =
            prepare(parse_operation("aten::linear(input" + sizes + ", weight" + sizes + ")"), model.device, Math::ieee);
        const auto forecast = forecast_operation(model, all_columns(), row.operation, {});
        row.time_s = forecast.cost.device_time.value.value() + 0.5 * forecast.kernel_s;
    }
    std::vector<const TrainingRow*> probes;
    for (const TrainingRow& row : rows) probes.push_back(&row);
    adjust_to(model, all_columns(), probes);
    EXPECT_GT(kernel_s(model, "~") / both, 1.2);
    EXPECT_LT(kernel_s(model, "~") / both, 1.5);
    EXPECT_GT(kernel_s(model, "") / forward, 1.02);
    EXPECT_LT(kernel_s(model, "") / forward, kernel_s(model, "~") / both);
}

TEST(Pooled, ComesBackFromItsFile) {
    Predictor predictor = empty_predictor();
    predictor.pooled.push_back(pooled());
    const auto bytes = to_jcp(predictor);
    const Predictor back = from_jcp(bytes, "pooled.jcp");
    EXPECT_EQ(to_jcp(back), bytes);
    ASSERT_EQ(back.pooled.size(), 1U);
    EXPECT_EQ(back.pooled[0].prior, pooled().prior);
    EXPECT_EQ(back.pooled[0].laws, pooled().laws);
    const DeviceModel one = instantiate(pooled(), find_device("t4"));
    const DeviceModel other = instantiate(back.pooled[0], find_device("t4"));
    EXPECT_EQ(forecast_operation(one, all_columns(), product(one), {}).kernel_s,
              forecast_operation(other, all_columns(), product(other), {}).kernel_s);
}

std::vector<std::byte> written(const PooledModel& model) {
    ByteWriter out;
    put_pooled(out, model);
    return out.bytes();
}

// The first version knew of power alone: the same without the two flags that stand behind each other.
TEST(Pooled, OpensAsItWasWrittenBeforeItsRulesKnewOfMemoriesAndClocks) {
    PooledModel plain = pooled(), by_memory = pooled();
    plain.combinations.clear();
    by_memory.combinations.clear();
    plain.sustained.by_memory = plain.sustained.by_clock = by_memory.sustained.by_clock = false;
    by_memory.sustained.by_memory = true;
    plain.hidden_launch_s = by_memory.hidden_launch_s = 0;
    plain.prior.within_family.clear();
    by_memory.prior.within_family.clear();
    std::vector<std::byte> bytes = written(plain);
    const std::vector<std::byte> other = written(by_memory);
    const auto flag = std::mismatch(bytes.begin(), bytes.end(), other.begin()).first;
    ASSERT_NE(flag, bytes.end());
    // The empty list of families, what is hidden of a launch and how hosts issue, too, which came later.
    bytes.erase(flag, flag + 22);
    bytes.front() = std::byte{1};
    ByteReader in(bytes, "before");
    const PooledModel before = take_pooled(in);
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(written(before), written(plain));
    ByteReader now(other, "now");
    EXPECT_TRUE(take_pooled(now).sustained.by_memory);
    bytes.front() = std::byte{7};
    ByteReader later(bytes, "later");
    EXPECT_THROW(take_pooled(later), FormatError);
}

// Backward passes go by the forward ones: what they are off by more, all of a network's are off by.
TEST(Pooled, IsLessSureOfNetworksWithBackwardPasses) {
    const DeviceModel a30 = instantiate(pooled(), find_device("a30"));
    const auto deviation = [&](const char* marks) {
        const std::vector<OperationForecast> calls{forecast_operation(a30, all_columns(), product(a30, marks), {})};
        return deviations_of_unseen(a30, calls, parts_of(calls), {}).device;
    };
    const double forward = deviation("");
    const double both = deviation("~");
    // Two gradients beside the forward pass.
    EXPECT_NEAR(both * both - forward * forward, std::pow(2.0 / 3 * 0.15, 2), 1e-6);
}

// Until version 4 a family spread alike whatever it computed with.
TEST(Pooled, OpensAsItWasWrittenBeforeWidthsSpreadApart) {
    PooledModel plain = pooled();
    plain.prior.within_family = {{Family::matmul, NumberWidth::bits16, 0.25}};
    PooledModel narrower = plain;
    narrower.prior.within_family.front().width = NumberWidth::bits8;
    std::vector<std::byte> bytes = written(plain);
    const std::vector<std::byte> other = written(narrower);
    const auto width = std::mismatch(bytes.begin(), bytes.end(), other.begin()).first;
    ASSERT_NE(width, bytes.end());
    bytes.erase(width);
    // How hosts issue came later still: 1.0 differs from 0 in the last two of its eight bytes.
    PooledModel paced = plain;
    paced.issue_pace = 1;
    const std::vector<std::byte> of_paced = written(paced);
    const auto pace = std::mismatch(bytes.begin(), bytes.end(), of_paced.begin()).first;
    bytes.erase(pace - 6, pace + 2);
    bytes.front() = std::byte{4};
    ByteReader in(bytes, "before");
    const ResidualPrior before = take_pooled(in).prior;
    EXPECT_TRUE(in.at_end());
    for (const NumberWidth any : all_number_widths) {
        const ResidualPlace place{Family::matmul, any};
        EXPECT_NEAR(before.noise_variance(place), 0.25 * 0.25 / 2, 1e-12);
    }
}

/// Kernels that follow each other in a graph, none of them short.
std::vector<DeviceRows> long_kernels_of_graphs() {
    std::vector<DeviceRows> all = four();
    for (DeviceRows& device : all) {
        device.setting.host = Host::graph;
        for (int m = 300; m < 1300; m += 10) {
            const std::string sizes = "input=f32[" + std::to_string(m) + ",512], weight=f32[1024,512]";
            testing::add_made_up_row(device, "aten::linear(" + sizes + ")", 1);
        }
        for (TrainingRow& row : device.rows) {
            row.time_s -= testing::made_up_launch_s;
            row.host = Host::graph;
        }
        std::erase_if(device.rows, [](const TrainingRow& row) { return row.time_s < 25e-6; });
    }
    return all;
}

// Of products of which the shortest took 25 us, 23 us were taken off as a launch that a graph has not.
TEST(Pooled, TakesNoLaunchOffTheKernelsOfAGraph) {
    const std::vector<DeviceRows> all = long_kernels_of_graphs();
    const DeviceModel a30 = instantiate(train_pooled(parts(all), quick_settings()), find_device("a30"));
    const PreparedOperation small =
        prepare(parse_operation("aten::linear(input=f32[300,512], weight=f32[1024,512])"), a30.device, Math::ieee);
    const auto forecast = forecast_operation(a30, all_columns(), small, {});
    EXPECT_NEAR(forecast.kernel_s / testing::made_up_kernel_s(small, 1.0), 1, 0.2);
}

std::string addition(int rows) {
    const std::string tensor = "f32[" + std::to_string(rows) + ",1024]";
    return "aten::add.Tensor(self=" + tensor + ", other=" + tensor + ")";
}

/// The host takes 30 us for a call and its two events, 12 us of them behind the kernel's launch.
std::vector<DeviceRows> timed_between_events() {
    std::vector<DeviceRows> all = four();
    for (DeviceRows& device : all) {
        for (int rows = 500; rows < 100'000; rows += rows / 8) testing::add_made_up_row(device, addition(rows), 1);
        for (TrainingRow& row : device.rows)
            row.time_s = std::max(30e-6, 18e-6 + testing::made_up_kernel_s(row.operation, 1));
    }
    return all;
}

// Who measures his own cards knows his own hosts.
TEST(Pooled, RowsTimedApartFromIssuingTeachThePaceOfTheirHosts) {
    std::vector<DeviceRows> all = four();
    EXPECT_EQ(train_pooled(parts(all), quick_settings()).issue_pace, 0);
    for (DeviceRows& device : all) {
        for (TrainingRow& row : device.rows) {
            row.host = Host::cpp;
            row.issue_s = 0.4 * issue_from_cpp_s(row.operation, device.device);
        }
    }
    const PooledModel model = train_pooled(parts(all), quick_settings());
    EXPECT_NEAR(model.issue_pace, 0.4, 1e-9);
    const std::vector<std::byte> bytes = written(model);
    ByteReader in(bytes, "paced");
    EXPECT_EQ(take_pooled(in).issue_pace, model.issue_pace);
    const DeviceModel t4 = instantiate(model, find_device("t4"));
    const PreparedOperation call = prepare(parse_operation(addition(8)), t4.device, Math::ieee);
    EXPECT_NEAR(issue_seconds(t4, call, 1), 0.4 * (issue_from_cpp_s(call, t4.device) + 8e-6), 1e-9);
}

// The whole launch was taken off every kernel: those of 20 to 100 us came out 10 to 40 % too short.
TEST(Pooled, TellsWhatALongKernelHidesOfItsLaunch) {
    const std::vector<DeviceRows> all = timed_between_events();
    const PooledModel model = train_pooled(parts(all), quick_settings());
    // What small kernels take is left of the 30 us, not of what is hidden.
    EXPECT_NEAR(model.hidden_launch_s, 12e-6 - usual_kernel_latency_s, 1e-6);
    const DeviceModel a30 = instantiate(model, find_device("a30"));
    for (const int rows : {2000, 4000, 8000}) {
        const PreparedOperation added = prepare(parse_operation(addition(rows)), a30.device, Math::ieee);
        const double kernel = testing::made_up_kernel_s(added, 1);
        const auto forecast = forecast_operation(a30, all_columns(), added, {});
        EXPECT_NEAR(forecast.kernel_s / kernel, 1, 0.05) << kernel;
        EXPECT_NEAR(forecast.cost.device_time.value.value() / (18e-6 + kernel), 1, 0.05) << kernel;
    }
    const PreparedOperation tiny = prepare(parse_operation(addition(8)), a30.device, Math::ieee);
    const auto small = forecast_operation(a30, all_columns(), tiny, {});
    EXPECT_NEAR(small.cost.device_time.value.value(), 30e-6, 1e-6);
    const std::vector<std::byte> bytes = written(model);
    ByteReader in(bytes, "hidden");
    EXPECT_EQ(take_pooled(in).hidden_launch_s, model.hidden_launch_s);
}

TEST(Pooled, KeepsAWayToTakeExpertsTogetherForEachFamily) {
    PooledModel model = pooled();
    model.combinations = {{Family::matmul, {3, false}}, {Family::attention, {0, true}}};
    const std::vector<std::byte> bytes = written(model);
    ByteReader in(bytes, "families");
    EXPECT_EQ(take_pooled(in).combinations, model.combinations);
    // The mean of experts that differ is not their median.
    model.combinations = {{Family::matmul, {0, false}}};
    const DeviceModel by_mean = instantiate(model, find_device("a30"));
    model.combinations = {{Family::matmul, {0, true}}};
    const DeviceModel by_median = instantiate(model, find_device("a30"));
    EXPECT_NE(forecast_operation(by_mean, all_columns(), product(by_mean), {}).kernel_s,
              forecast_operation(by_median, all_columns(), product(by_median), {}).kernel_s);
}

PreparedOperation parsed(const DeviceModel& model, const std::string& text) {
    return prepare(parse_operation(text), model);
}

DeviceModel multiplying(const DeviceModel& ieee, Math math) {
    for (DeviceModel& other : other_math(std::span(&ieee, 1))) {
        if (other.point.math == math) return std::move(other);
    }
    throw Error("the device cannot multiply so");
}

TEST(Pooled, ForecastsTf32ByItsPeakAndTheDefaultInConvolutionsAlone) {
    const DeviceModel a30 = instantiate(pooled(), find_device("a30"));
    const DeviceModel tf32 = multiplying(a30, Math::tf32), usual = multiplying(a30, Math::torch_default);
    EXPECT_TRUE(other_math(std::vector{instantiate(pooled(), find_device("t4"))}).empty());
    const auto kernel = [](const DeviceModel& model, const char* text) {
        return forecast_operation(model, all_columns(), parsed(model, text), {}).kernel_s;
    };
    const char* linear = "aten::linear(input=f32[4096,4096], weight=f32[4096,4096])";
    const char* convolution = "aten::conv2d(input=f32[64,256,56,56], weight=f32[256,256,3,3], padding=[1,1])";
    EXPECT_LT(kernel(tf32, linear), 0.5 * kernel(a30, linear));
    EXPECT_LT(kernel(tf32, convolution), 0.7 * kernel(a30, convolution)) << "float32 has Winograd's transforms";
    EXPECT_EQ(kernel(usual, linear), kernel(a30, linear));
    EXPECT_EQ(kernel(usual, convolution), kernel(tf32, convolution));
}

TEST(Pooled, ForecastsNoKernelBeyondTheDataSheet) {
    // Experts that say every kernel takes next to nothing.
    PooledModel hasty = pooled();
    for (Expert& expert : hasty.experts) expert.model.parts.front().low = expert.model.parts.front().high = -9;
    const DeviceModel a30 = instantiate(hasty, find_device("a30"));
    const Device& sheet = a30.device;
    const auto kernel = [&](const char* text) {
        return forecast_operation(a30, all_columns(), parsed(a30, text), {}).kernel_s;
    };
    const double flop = 2.0 * 8192 * 8192 * 8192;
    EXPECT_DOUBLE_EQ(kernel("aten::linear(input=bf16[8192,8192], weight=bf16[8192,8192])"),
                     flop / (0.8 * sheet.peak_flop_per_s_bf16));
    const double bytes = 2 * 4.0 * 64 * 1024 * 1024 - 2 * sheet.last_level_cache_bytes;
    EXPECT_DOUBLE_EQ(kernel("aten::relu(self=f32[64,1024,1024])"), bytes / sheet.bandwidth_bytes_per_s);
}

/// Trained on more calls, of 500 to 100,000 rows, whose kernels take so many times what the made-up ones do.
DeviceModel a30_that_knows(const std::string& before, const std::string& behind, double times) {
    std::vector<DeviceRows> all = four();
    for (DeviceRows& device : all) {
        for (int rows = 500; rows < 100'000; rows += rows / 4) {
            testing::add_made_up_row(device, before + std::to_string(rows) + behind, times);
        }
    }
    return instantiate(train_pooled(parts(all), quick_settings()), find_device("a30"));
}

TEST(Pooled, ForecastsBatchNormWithGivenStatisticsAsOneElementwisePass) {
    const DeviceModel a30 = a30_that_knows("aten::layer_norm(input=f32[", ",1024], normalized_shape=[1024])", 2);
    const auto kernel = [&](const std::string& text) {
        return forecast_operation(a30, all_columns(), parsed(a30, text), {}).kernel_s;
    };
    const auto norm = [&](const char* training) {
        return kernel(std::string("aten::batch_norm(input=f32[64,256,56,56], weight=f32[256], bias=f32[256], "
                                  "running_mean=f32[256], running_var=f32[256], training=") +
                      training + ", momentum=0.1, eps=1e-05, cudnn_enabled=true)");
    };
    const double relu = kernel("aten::relu(self=f32[64,256,56,56])");
    EXPECT_NEAR(norm("false") / relu, 1, 0.2);
    // Those of the batch are read first, and the rule for them answers, not who knows layer_norm.
    const double bytes = 4.0 * 64 * 256 * 56 * 56;
    EXPECT_NEAR(norm("true") * 0.78 * streamed_bytes_per_s(a30.device) / bytes, 3, 0.03);
}

// An A30 has the chip of an A100, with half of its units.
TEST(Pooled, ProductsOnMatrixUnitsGoByACardWithTheSameChip) {
    std::vector<DeviceRows> all = four();
    for (DeviceRows& device : all) {
        const double slowdown = device.device.id == "a100-40g-sxm" ? 2 : 1;
        for (int rows = 500; rows < 100'000; rows += rows / 4) {
            for (const std::string type : {"bf16", "f32"})
                testing::add_made_up_row(device,
                                         "aten::linear(input=" + type + "[" + std::to_string(rows) +
                                             ",2048], weight=" + type + "[2048,2048])",
                                         slowdown);
        }
    }
    const PooledModel model = train_pooled(parts(all), quick_settings());
    const auto slowdown_on = [&](const char* id, const char* text) {
        const DeviceModel card = instantiate(model, find_device(id));
        const PreparedOperation product = parsed(card, text);
        return forecast_operation(card, all_columns(), product, {}).kernel_s / testing::made_up_kernel_s(product, 1);
    };
    const char* half = "aten::linear(input=bf16[20000,2048], weight=bf16[2048,2048])";
    EXPECT_NEAR(slowdown_on("a30", half), 2, 0.2);
    EXPECT_NEAR(slowdown_on("l4", half), 1, 0.2);
    const char* plain = "aten::linear(input=f32[20000,2048], weight=f32[2048,2048])";
    EXPECT_NEAR(slowdown_on("a30", plain), 1, 0.2);
    EXPECT_NEAR(slowdown_on("a100-80g-pcie", plain), 2, 0.2) << "with as many units everything goes by that card";
}

TEST(Pooled, ElementwiseKernelsGoByTheirElementsWhateverTheShape) {
    std::vector<DeviceRows> all = four();
    for (DeviceRows& device : all) {
        for (int rows = 500; rows < 100'000; rows += rows / 4) {
            testing::add_made_up_row(device, "aten::tanh(self=f32[" + std::to_string(rows) + ",1024])", 1);
            testing::add_made_up_row(device, "aten::tanh(self=f32[" + std::to_string(rows) + ",32,32])", 2);
        }
    }
    const DeviceModel a30 = instantiate(train_pooled(parts(all), quick_settings()), find_device("a30"));
    const auto kernel = [&](const char* text) {
        return forecast_operation(a30, all_columns(), parsed(a30, text), {}).kernel_s;
    };
    EXPECT_DOUBLE_EQ(kernel("aten::tanh(self=f32[20000,1024])"), kernel("aten::tanh(self=f32[20000,32,32])"));
}

TEST(Pooled, AsksThoseWhoKnowProductsOf16BitsForTf32) {
    DeviceModel a30 = a30_that_knows("aten::linear(input=bf16[", ",2048], weight=bf16[2048,2048])", 1);
    const auto kernels = [&a30] {
        std::vector<double> seconds;
        for (const DeviceModel& model : {a30, multiplying(a30, Math::tf32)}) {
            const auto linear = parsed(model, "aten::linear(input=f32[8192,2048], weight=f32[2048,2048])");
            seconds.push_back(forecast_operation(model, all_columns(), linear, {}).kernel_s);
        }
        return seconds;
    };
    const auto before = kernels();
    ASSERT_EQ(a30.unseen->knowing.erase("aten::linear|inference|bf16"), 1U);
    EXPECT_EQ(kernels()[0], before[0]);
    EXPECT_NE(kernels()[1], before[1]);
}

// Small calls were measured badly on every card: four times as long as they should take, and as calls of 64 rows take.
TEST(Pooled, APartOfABatchTakesNoLongerThanTheWhole) {
    std::vector<DeviceRows> all = four();
    const auto linear = [](int rows, const char* marks = "") {
        const std::string columns = std::string("2048]") + marks;
        return "aten::linear(input=f32[" + std::to_string(rows) + "," + columns + ", weight=f32[2048," + columns + ")";
    };
    for (DeviceRows& device : all) {
        for (int rows = 1; rows <= 1024; ++rows) {
            TrainingRow row;
            row.operation = prepare(parse_operation(linear(rows)), device.device, Math::ieee);
            row.group = operation_group(row.operation.operation);
            const double times = rows < 16 ? 4 : 1;
            row.time_s = testing::made_up_launch_s + testing::made_up_kernel_s(row.operation, times);
            device.rows.push_back(std::move(row));
        }
    }
    std::vector<const DeviceRows*> chosen;
    for (const DeviceRows& device : all) chosen.push_back(&device);
    const DeviceModel a30 = instantiate(train_pooled(chosen, quick_settings()), find_device("a30"));
    for (const char* marks : {"", "~"}) {
        double of_half = 0;
        for (const int rows : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}) {
            const auto forecast = forecast_operation(a30, all_columns(), parsed(a30, linear(rows, marks)), {});
            EXPECT_GE(forecast.kernel_s, of_half) << rows << marks;
            EXPECT_LE(forecast.cost.device_time.low, forecast.cost.device_time.value) << rows << marks;
            EXPECT_GE(forecast.cost.device_time.high, forecast.cost.device_time.value) << rows << marks;
            of_half = forecast.kernel_s;
        }
    }
    // 16 rows and one take as long: the weight's bytes.
    const auto kernel = [&](int rows) {
        return forecast_operation(a30, all_columns(), parsed(a30, linear(rows)), {}).kernel_s;
    };
    EXPECT_NEAR(kernel(1) / kernel(16), 1, 0.05);
    EXPECT_GT(kernel(512), 4 * kernel(16));
}

// Twice a batch of nothing is nothing; and no tensor is larger than 2^50.
TEST(Pooled, EmptyTensorsHaveAForecastWhateverTheirBatch) {
    const DeviceModel a30 = instantiate(pooled(), find_device("a30"));
    for (const char* text : {"aten::relu(self=f32[0,64])", "aten::relu(self=f32[1125899906842624,0])"}) {
        const double kernel = forecast_operation(a30, all_columns(), parsed(a30, text), {}).kernel_s;
        EXPECT_GT(kernel, 0) << text;
        EXPECT_LT(kernel, 1e-4) << text;
    }
}

/// Cards of several kinds and ages of memory, whose streams reach what the rule says where `by_memory`.
SustainedRule rule_of_made_up(bool by_memory) {
    SustainedRule true_rule;
    true_rule.by_memory = by_memory;
    std::vector<DeviceRows> all;
    for (const char* id : {"p100", "t4", "v100-32g-pcie", "a100-40g-sxm", "l40s"}) {
        DeviceRows& made = all.emplace_back(made_up_rows(id, 1.0));
        for (TrainingRow& row : made.rows) {
            const Roofline roof = roofline(row.operation.operation, made.device, made.setting.math);
            if (roof.byte_s > roof.flop_s) row.time_s /= sustained_bandwidth_share(made.device, true_rule);
        }
    }
    std::vector<const DeviceRows*> chosen;
    for (const DeviceRows& one : all) chosen.push_back(&one);
    const std::vector<PooledSample> samples = pooled_samples(chosen);
    std::vector<const PooledSample*> of_all;
    for (const PooledSample& sample : samples) of_all.push_back(&sample);
    return choose_rule(of_all);
}

TEST(Pooled, GoesByMemoryWhereDevicesDo) {
    EXPECT_TRUE(rule_of_made_up(true).by_memory);
    EXPECT_FALSE(rule_of_made_up(false).by_memory);
}

TEST(Pooled, WeighsTargetsByTheSquareOfTheirShareOfANetwork) {
    const DeviceModel a30 = instantiate(pooled(), find_device("a30"));
    const Graph graph = testing::synthetic_graph("resnet18", 8);
    const auto targets = targets_of(std::vector{&graph}, a30, all_columns());
    ASSERT_GT(targets.size(), 5U);
    double shares = 0;
    for (const ResidualTarget& target : targets) shares += std::sqrt(target.weight);
    EXPECT_GT(shares, 0.9);
    EXPECT_LT(shares, 1 + 1e-9);
}

}  // namespace
}  // namespace joulecast
