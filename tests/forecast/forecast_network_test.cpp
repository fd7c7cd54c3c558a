#include "joulecast/forecast/forecast_network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "joulecast/error.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using testing::synthetic_graph;

const DeviceModel& trained() {
    static const DeviceModel device = [] {
        std::vector<Graph> graphs;
        std::vector<TrainingNetwork> networks;
        for (const char* model : {"alexnet", "resnet50", "mobilenet_v2", "densenet121", "vgg11"}) {
            graphs.push_back(synthetic_graph(model, 2));
            networks.push_back({graphs.back(), testing::synthetic_network(graphs.back()).measurement});
        }
        TrainSettings settings;
        settings.trees = 15;
        return train_device(testing::synthetic_cpu(), testing::synthetic_point(), testing::synthetic_training(graphs),
                            networks, settings);
    }();
    return device;
}

NetworkForecast forecast(const Graph& graph, const MeasuredOperations& measured = {}) {
    return forecast_network(graph, "fp32", trained(), all_columns(), measured);
}

TEST(ForecastNetwork, IsNearTheTruthForANetworkNeverSeen) {
    const Graph graph = synthetic_graph("resnet18", 2);
    const auto result = forecast(graph);
    const double truth = testing::synthetic_network(graph).measurement.time.median_s;
    EXPECT_NEAR(result.time.value.value() / truth, 1, 0.1);
    EXPECT_LE(result.time.low.value(), truth);
    EXPECT_GE(result.time.high.value(), truth);
    EXPECT_FALSE(result.lower_bound);
    EXPECT_FALSE(result.energy.known());
    EXPECT_FALSE(result.energy_missing_reason.empty());
}

TEST(ForecastNetwork, LearnsWhatNetworksCostBeyondTheirOperations) {
    // Five networks at 1.1 times their sum, pulled to 1 by two: 1.1^(5/7) = 1.070; forecasts wobble it a little.
    EXPECT_NEAR(network_correction(trained(), "inference|fp32").factor, std::pow(1.1, 5.0 / 7), 0.03);
    EXPECT_EQ(network_correction(trained(), "training|fp32").factor, 1);
}

TEST(ForecastNetwork, SharesSumToOneAndOperationsToTheTotal) {
    const auto result = forecast(synthetic_graph("resnet18", 2));
    double shares = 0;
    for (const auto& [evidence, share] : result.evidence_share) shares += share;
    EXPECT_NEAR(shares, 1, 1e-9);
    double sum = 0;
    for (const auto& o : result.operations) sum += o.cost.device_time.value.value() * static_cast<double>(o.count);
    EXPECT_NEAR(result.time.value.value(), sum * network_correction(trained(), "inference|fp32").factor, 1e-9);
}

TEST(ForecastNetwork, TakesMeasuredOperationsAsTheyAre) {
    const Graph graph = synthetic_graph("resnet18", 2);
    const auto rows = testing::synthetic_rows({graph});
    const auto result = forecast(graph, measured_operations(rows));
    EXPECT_GT(result.evidence_share.at(Evidence::measured), 0.99);  // all but views
    for (const auto& operation : result.operations) {
        if (operation.evidence != Evidence::measured) continue;
        EXPECT_EQ(operation.cost.device_time.value.value(), testing::synthetic_seconds(operation.operation));
    }
}

TEST(ForecastNetwork, NamesWhatItDoesNotKnowAndCountsItsBytes) {
    Graph graph = synthetic_graph("resnet18", 2);
    Node strange;
    strange.operation = parse_operation("mylib::warp(self=f32[1000,1000])");
    graph.nodes.push_back(strange);
    const auto result = forecast(graph);
    EXPECT_THAT(result.unknown_operations, ::testing::ElementsAre("mylib::warp"));
    EXPECT_EQ(result.unknown_nodes, 1);
    EXPECT_TRUE(result.lower_bound);
    // 4 MB at 20 GB/s are 200 us, and the roofline is never reached.
    EXPECT_GT(result.evidence_share.at(Evidence::unknown) * result.time.value.value(), 200e-6);
}

TEST(ForecastNetwork, DoesNotGiveViewsForNothing) {
    const auto prepared = prepare(parse_operation("aten::view(self=f32[4,4], size=[16])"), trained());
    const auto one = forecast_operation(trained(), all_columns(), prepared, {});
    EXPECT_EQ(one.evidence, Evidence::analytic);
    EXPECT_EQ(one.cost.device_time.value.value(), trained().call_overhead_s);
    EXPECT_GT(trained().call_overhead_s, 0);
}

TEST(ForecastNetwork, CallsThatAnotherCpuIssuesWereNotMeasured) {
    DeviceModel device = trained();
    device.hosts = {{Host::python, Mode::inference, 100e-6, 0.1, 5}};
    device.issuer = Issuer{"core-i9-13900k", {0.5, 0.2}};
    const Graph graph = synthetic_graph("resnet18", 2);
    for (const Host host : {Host::cpp, Host::python}) {
        const auto forecast = forecast_network(graph, "fp32", device, all_columns(), {}, host);
        EXPECT_EQ(forecast.host_evidence, Evidence::analytic) << name(host);
        EXPECT_EQ(forecast.point.host_cpu, "core-i9-13900k");
    }
}

TEST(ForecastNetwork, AddsWhatPythonTakesForEachCall) {
    DeviceModel device = trained();
    device.hosts = {{Host::python, Mode::inference, 100e-6, 0.1, 5}};
    const Graph graph = synthetic_graph("resnet18", 2);
    const auto from = [&](Host host) { return forecast_network(graph, "fp32", device, all_columns(), {}, host); };
    const auto cpp = from(Host::cpp), python = from(Host::python);
    EXPECT_EQ(python.point.host, Host::python);
    EXPECT_EQ(cpp.time.value.value(), forecast_network(graph, "fp32", device, all_columns(), {}).time.value.value());
    // resnet18 has 20 convolutions and batch norms, 17 relus, 8 additions, 2 pools, flatten and linear: 69 calls.
    EXPECT_NEAR(python.time.value.value() - cpp.time.value.value(), 69 * 100e-6, 1e-9);
    EXPECT_NEAR(python.host_adds.value.value(), 69 * 100e-6, 1e-9);
    EXPECT_NEAR(python.host_adds.high.value(), 69 * 100e-6 * std::exp(0.1645), 1e-9);
    EXPECT_EQ(cpp.host_adds.value.value(), 0);
    EXPECT_EQ(cpp.host_evidence, Evidence::measured);
    EXPECT_EQ(python.host_evidence, Evidence::interpolated);
    EXPECT_EQ(python.host_networks, 5);
    double shares = 0;
    for (const auto& [evidence, share] : python.evidence_share) shares += share;
    EXPECT_NEAR(shares, 1, 1e-9);
    for (std::size_t i = 0; i < cpp.operations.size(); ++i) {
        const auto& one = python.operations[i];
        const auto same = std::find_if(cpp.operations.begin(), cpp.operations.end(),
                                       [&](const auto& o) { return o.operation == one.operation; });
        ASSERT_NE(same, cpp.operations.end());
        EXPECT_NEAR(one.cost.device_time.value.value() - same->cost.device_time.value.value(), 100e-6, 1e-12);
    }
    EXPECT_THROW(from(Host::graph), Error);
}

TEST(ForecastNetwork, IsLessSureOfAHostThatWasNeverMeasured) {
    DeviceModel device = trained();
    const Graph graph = synthetic_graph("resnet18", 1);
    const auto width = [&](double sigma, std::int64_t networks) {
        device.hosts = {{Host::python, Mode::inference, 100e-6, sigma, networks}};
        const auto time = forecast_network(graph, "fp32", device, all_columns(), {}, Host::python).time;
        return std::log(time.high.value() / time.low.value());
    };
    EXPECT_GT(width(0.5, 0), width(0.05, 11));
}

TEST(ForecastNetwork, SaysWhetherTheHostDecides) {
    DeviceModel device = trained();
    const Graph graph = synthetic_graph("resnet18", 1);
    const auto limit = [&](Host host) {
        return forecast_network(graph, "fp32", device, all_columns(), {}, host).limited_by;
    };
    EXPECT_EQ(limit(Host::python), Bound::device) << "a CPU computes where it issues";
    device.device.kind = Device::Kind::gpu;
    device.hosts = {{Host::python, Mode::inference, 1, 0.1, 5}};
    EXPECT_EQ(limit(Host::python), Bound::host);
    EXPECT_EQ(limit(Host::graph), Bound::device);
}

DeviceModel as_gpu() {
    DeviceModel device = trained();
    device.device.kind = Device::Kind::gpu;
    device.power.idle_w = 20;
    device.power.busy_w = 100;
    device.power.cap_w = 150;
    return device;
}

TEST(ForecastNetwork, SaysHowItComposed) {
    const Graph graph = synthetic_graph("resnet18", 1);
    EXPECT_EQ(forecast(graph).composition, Composition::timeline);
    EXPECT_EQ(forecast(without_edges(graph)).composition, Composition::aggregate);
}

TEST(ForecastNetwork, AddsTheOptimizersCallsAndTellsTheirTime) {
    const Graph graph = synthetic_graph("resnet18", 2, Mode::training);
    const auto with = [&](Optimizer optimizer, std::optional<UpdateForm> form = std::nullopt) {
        TrainingSetup training;
        training.optimizer = optimizer;
        training.form = form;
        return forecast_network(graph, "fp32", trained(), all_columns(), {}, std::nullopt, training);
    };
    const auto none = with(Optimizer::none);
    EXPECT_FALSE(none.update_time.known());
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::momentum, Optimizer::adam, Optimizer::adamw}) {
        const auto one = with(optimizer);
        EXPECT_NEAR(one.time.value.value() - none.time.value.value(), one.update_time.value.value(), 1e-9);
        EXPECT_GT(one.update_time.value.value(), 0);
    }
    EXPECT_LT(with(Optimizer::sgd).time.value.value(), with(Optimizer::momentum).time.value.value());
    EXPECT_LT(with(Optimizer::momentum).time.value.value(), with(Optimizer::adam).time.value.value());
    // 7 passes of the parameters' bytes instead of 20.
    const double loop = with(Optimizer::adam).update_time.value.value();
    const double fused = with(Optimizer::adam, UpdateForm::fused).update_time.value.value();
    EXPECT_LT(fused, 0.6 * loop);
}

TEST(ForecastNetwork, RepeatsItsPassesWhereGradientsAccumulate) {
    const Graph graph = synthetic_graph("resnet18", 2, Mode::training);
    const auto with = [&](std::int64_t accumulation) {
        TrainingSetup training;
        training.accumulation = accumulation;
        return forecast_network(graph, "fp32", trained(), all_columns(), {}, std::nullopt, training);
    };
    const double once = with(1).time.value.value(), twice = with(2).time.value.value();
    // And 46.8 MB of gradients that are added: 3 * 46.8 MB * 1.5 / 20 GB/s.
    EXPECT_NEAR(twice - 2 * once, 10.5e-3, 3e-3);
    EXPECT_NEAR(with(3).time.value.value() - twice, twice - once, 1e-9);
}

TEST(ForecastTimeline, EndsWithTheForecastAndDrawsItsEnergy) {
    const DeviceModel device = as_gpu();
    const auto features = all_columns();
    const MeasuredOperations none;
    ForecastCache known(device, features, none);
    TrainingSetup training;
    training.optimizer = Optimizer::adamw;
    const Graph graph = synthetic_graph("resnet18", 2, Mode::training);
    const NetworkTimeline line = forecast_timeline(graph, "fp32", known, Host::python, training);
    double end = 0, issued = 0, dynamic = 0;
    for (const TimedCall& call : line.calls) {
        EXPECT_GE(call.issue_start_s, issued);
        EXPECT_GE(call.start_s, call.issue_end_s);
        EXPECT_GE(call.start_s, end - 1e-12) << "the device does one call at a time";
        issued = call.issue_start_s;
        end = call.end_s;
        dynamic += call.dynamic_j;
    }
    EXPECT_NEAR(end, line.forecast.time.value.value(), 1e-9);
    EXPECT_NEAR(dynamic, line.forecast.dynamic_energy_j, 1e-9);
    EXPECT_EQ(line.calls.front().part, StepPart::forward);
    EXPECT_EQ(line.calls.back().part, StepPart::update);
    EXPECT_EQ(line.forecast.time.value.value(),
              forecast_network(graph, "fp32", known, Host::python, training).time.value.value());
    EXPECT_THROW(forecast_timeline(without_edges(graph), "fp32", known), Error);
}

TEST(ForecastNetwork, SaysWhenSizesLieBeyondWhatWasTrained) {
    const auto evidence = [](const char* text) {
        return forecast_operation(trained(), all_columns(), prepare(parse_operation(text), trained()), {}).evidence;
    };
    EXPECT_EQ(evidence("aten::conv2d(input=f32[2,64,28,28], weight=f32[96,64,3,3], padding=[1,1])"),
              Evidence::interpolated);
    EXPECT_EQ(evidence("aten::conv2d(input=f32[512,512,512,512], weight=f32[4096,512,3,3])"), Evidence::extrapolated);
    // Nothing of this family was measured.
    EXPECT_EQ(evidence("aten::embedding(weight=f32[30522,768], indices=i64[2,128])"), Evidence::analytic);
}

TEST(AtPrecision, KnowsItsPrecisions) {
    EXPECT_THROW(synthetic_graph("alexnet", 2, Mode::inference, "int4"), UsageError);
    const Graph graph = synthetic_graph("alexnet", 2, Mode::training, "bf16");
    EXPECT_EQ(graph.mode, Mode::training);
    EXPECT_EQ(graph.inputs.front().type.dtype, Dtype::bf16);
}

TEST(MeasuredOperations, TakeTheMiddleAndCoverTheRest) {
    const Operation relu = parse_operation("aten::relu(self=f32[8])");
    std::vector<OperationRow> rows(3, testing::synthetic_row(relu));
    for (std::size_t i = 0; i < 3; ++i) {
        rows[i].measurement.time.median_s = 1.0 + static_cast<double>(i);
        rows[i].measurement.time.half_width_s = 0;
    }
    const auto time = measured_operations(rows).at(signature(relu)).time;
    EXPECT_EQ(time.value.value(), 2);
    EXPECT_EQ(time.low.value(), 1);
    EXPECT_EQ(time.high.value(), 3);
}

TEST(MeasuredOperations, AreTheDevicesAloneWhereIssuingWasTimedApart) {
    const Operation relu = parse_operation("aten::relu(self=f32[8])");
    std::vector<OperationRow> rows(2, testing::synthetic_row(relu));
    rows[0].measurement.issue.emplace();
    EXPECT_FALSE(measured_operations(rows).at(signature(relu)).is_of_device);
    rows[1].measurement.issue.emplace();
    EXPECT_TRUE(measured_operations(rows).at(signature(relu)).is_of_device);
}

TEST(MeasuredOperations, KnowThePowerOfTheRowsThatHadAMeter) {
    const Operation relu = parse_operation("aten::relu(self=f32[8])");
    std::vector<OperationRow> rows(2, testing::synthetic_row(relu));
    EXPECT_FALSE(measured_operations(rows).at(signature(relu)).power.known());
    rows[1].measurement.energy.emplace();
    rows[1].measurement.energy->power_w = 40;
    rows[1].measurement.energy->energy_j = 40 * rows[1].measurement.time.median_s;
    EXPECT_EQ(measured_operations(rows).at(signature(relu)).power.value.value(), 40);
}

}  // namespace
}  // namespace joulecast
