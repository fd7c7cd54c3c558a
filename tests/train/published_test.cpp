// The predictors of the two papers: they forecast what validate's baselines of the same methods do, and add it up.
#include "joulecast/train/published/train_published.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/evaluate/baseline_networks.h"
#include "joulecast/evaluate/cross_validate.h"
#include "joulecast/evaluate/published_baselines.h"
#include "joulecast/forecast/at_point.h"
#include "joulecast/forecast/hosts.h"
#include "joulecast/forecast/published/method.h"
#include "joulecast/model/jcp.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

std::vector<Graph> graphs() {
    return {testing::synthetic_graph("resnet18", 2), testing::synthetic_graph("resnet18", 5),
            testing::synthetic_graph("mobilenet_v2", 2)};
}

/// With the watts of a made-up meter.
std::vector<TrainingRow> metered_rows() {
    auto rows = testing::synthetic_training(graphs());
    for (TrainingRow& row : rows) row.power_w = 20 + 100 / (1 + 2e-5 / row.time_s);
    return rows;
}

std::vector<TrainingNetwork> networks() {
    std::vector<TrainingNetwork> all;
    for (const Graph& graph : graphs()) all.push_back({graph, testing::synthetic_network(graph).measurement});
    return all;
}

DeviceModel trained(PublishedMethod method, const std::vector<TrainingRow>& rows) {
    return train_published(method, testing::synthetic_cpu(), testing::synthetic_point(), rows, networks(), {});
}

const DeviceModel& thesis() {
    static const DeviceModel model = trained(PublishedMethod::thesis, metered_rows());
    return model;
}

/// Of few rows: seven learners, six times each, take long.
std::vector<TrainingRow> some_rows() {
    std::vector<TrainingRow> some;
    for (const TrainingRow& row : metered_rows()) {
        const Family family = row.operation.family();
        if (family == Family::convolution && mode(row.operation.operation) == Mode::inference) some.push_back(row);
    }
    some.resize(25);
    return some;
}

OperationForecast forecast_of(const DeviceModel& device, const Operation& operation) {
    return forecast_operation(device, all_columns(), prepare(operation, device), {});
}

/// The baseline, fitted to the same rows.
void expect_the_baseline(const DeviceModel& device, const std::vector<TrainingRow>& rows, const Baseline& baseline) {
    const std::vector<const Baseline*> named{&baseline};
    const FittedBaselines fitted = fit_baselines(named, device, rows, {});
    std::size_t agreed = 0;
    for (const TrainingRow& row : rows) {
        const OperationForecast told = forecast_of(device, row.operation.operation);
        const Subject subject = subject_of(row, device.device, device.point);
        const double seconds = fitted.forecast(0, BaselineMetric::time, subject);
        EXPECT_EQ(std::isnan(seconds), told.evidence == Evidence::unknown) << row.operation.signature;
        if (std::isnan(seconds)) continue;
        ++agreed;
        EXPECT_DOUBLE_EQ(told.cost.device_time.value.value(), seconds);
        EXPECT_NEAR(told.power.value.value() / fitted.forecast(0, BaselineMetric::power, subject), 1, 1e-12);
        EXPECT_NEAR(told.energy.value.value() / fitted.forecast(0, BaselineMetric::energy, subject), 1, 1e-12);
    }
    EXPECT_GT(agreed, rows.size() / 2);
}

TEST(PublishedPredictor, OfTheThesisForecastsWhatItsBaselineDoes) {
    expect_the_baseline(thesis(), metered_rows(), thesis_forest);
}

TEST(PublishedPredictor, OfSponnerForecastsWhatItsBaselineDoes) {
    const auto rows = some_rows();
    const DeviceModel device = trained(PublishedMethod::sponner, rows);
    expect_the_baseline(device, rows, sponner_best);
    // Memory is one of their metrics; a convolution's is its output.
    int told = 0;
    for (const TrainingRow& row : rows) {
        const auto& memory = forecast_of(device, row.operation.operation).cost.peak_memory;
        if (!memory.known()) continue;
        EXPECT_NEAR(memory.value.value() / row.peak_memory_bytes, 1, 0.2) << row.operation.signature;
        ++told;
    }
    EXPECT_GT(told, 12);
}

TEST(PublishedPredictor, ScoredAsAFileItStandsUnderItsBaselinesName) {
    const auto rows = metered_rows();
    const std::vector<const Baseline*> named{&thesis_forest};
    const FittedBaselines fitted = fit_baselines(named, thesis(), rows, {});
    std::vector<OutOfFoldRow> of_baseline;
    for (const TrainingRow& row : rows) fitted.append_forecasts(on_device(row, thesis()), 0, of_baseline);
    const auto a = accuracies(score_predictor(thesis(), all_columns(), rows));
    const auto b = accuracies(of_baseline);
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(a[i].model, "thesis_forest");
        EXPECT_EQ(a[i].metric, b[i].metric);
        EXPECT_NEAR(a[i].r2, b[i].r2, 1e-9) << a[i].metric;
        EXPECT_NEAR(a[i].mape, b[i].mape, 1e-9) << a[i].metric;
    }
}

TEST(PublishedPredictor, ANetworkIsTheSumOfItsOperationsAndItsPowerTheirMeanByTime) {
    const Graph graph = testing::synthetic_graph("resnet18", 2);
    double seconds = 0, joules = 0;
    for (const CountedOperation& counted : count_operations(graph)) {
        const OperationForecast one = forecast_of(thesis(), counted.operation);
        const auto count = static_cast<double>(counted.count);
        seconds += count * one.cost.device_time.value.value();
        joules += count * one.cost.device_time.value.value() * one.power.value.value();
    }
    const auto network = forecast_network(graph, "fp32", thesis(), all_columns(), {}, Host::python);
    EXPECT_NEAR(network.time.value.value() / seconds, 1, 1e-12);
    EXPECT_NEAR(network.energy.value.value() / joules, 1, 1e-12);
    EXPECT_NEAR(network.power.value.value() / (joules / seconds), 1, 1e-12);
    EXPECT_EQ(network.idle_energy_j, 0);
    EXPECT_EQ(network.host_adds.value.value(), 0);
    EXPECT_EQ(network.unknown_nodes, 0);
    EXPECT_EQ(network.method, "thesis");
    // And that is what validate's table of published methods says of it.
    const std::vector<const Baseline*> named{&thesis_forest};
    std::vector<BaselineNetwork> of_baseline;
    append_networks(fit_baselines(named, thesis(), metered_rows(), {}), networks().front(), thesis().device,
                    thesis().point, of_baseline);
    EXPECT_NEAR(of_baseline.at(0).predicted_time_s / seconds, 1, 1e-12);
    EXPECT_NEAR(of_baseline.at(0).predicted_energy_j / joules, 1, 1e-12);
}

TEST(PublishedPredictor, WhatItCannotForecastIsNamedAndNeverZero) {
    // No layer of that name was measured.
    const Operation softmax = parse_operation("aten::softmax.int(self=f32[64,1000], dim=-1)");
    const OperationForecast one = forecast_of(thesis(), softmax);
    EXPECT_EQ(one.evidence, Evidence::unknown);
    EXPECT_GT(one.cost.device_time.value.value(), 0);
    EXPECT_GT(one.energy.value.value(), 0);
    Graph graph;
    graph.name = "bag";
    graph.has_edges = false;
    Node node;
    node.operation = softmax;
    node.count = 3;
    graph.nodes.push_back(node);
    const auto network = forecast_network(graph, "fp32", thesis(), all_columns(), {});
    EXPECT_EQ(network.unknown_nodes, 3);
    EXPECT_EQ(network.unknown_operations, std::vector<std::string>{"aten::softmax.int"});
    EXPECT_TRUE(network.lower_bound);
}

TEST(PublishedPredictor, ScoresAnOperationThatItCannotForecastAsWithoutOne) {
    auto rows = metered_rows();
    rows.resize(1);
    const Operation softmax = parse_operation("aten::softmax.int(self=f32[64,1000], dim=-1)");
    rows[0].operation = prepare(softmax, thesis().device, Math::ieee);
    const auto scored = score_predictor(thesis(), all_columns(), rows);
    ASSERT_EQ(scored.size(), 3U);  // time, power, energy
    for (const OutOfFoldRow& row : scored) EXPECT_TRUE(std::isnan(row.predicted)) << row.metric;
}

TEST(PublishedPredictor, AValueThatIsNotAboveZeroIsNoForecast) {
    PublishedModel model{PublishedMethod::sponner, {}};
    const auto rows = some_rows();
    const Device device = testing::synthetic_cpu();
    const OperatingPoint point = testing::synthetic_point();
    const Subject subject = subject_of(rows[0], device, point);
    PublishedRegression& one = model.regressions.emplace_back();
    one.key = regression_key(PublishedMethod::sponner, subject);
    one.ranges.resize(regression_row(PublishedMethod::sponner, subject, one).size());
    BoostedTrees below;
    below.base = -1e-3;
    one.model = below;
    EXPECT_FALSE(forecast(model, Metric::time, subject));
    below.base = 1e-3;
    one.model = below;
    EXPECT_DOUBLE_EQ(forecast(model, Metric::time, subject)->value, 1e-3);
}

TEST(PublishedPredictor, NineOfTenHeldOutRowsLieInItsIntervals) {
    // Fitted to half of the groups, tried on the other half.
    const auto rows = metered_rows();
    const auto half = group_folds(rows, 2, 7);
    std::vector<TrainingRow> training, test;
    for (std::size_t i = 0; i < rows.size(); ++i) (half[i] == 0 ? training : test).push_back(rows[i]);
    const DeviceModel device = trained(PublishedMethod::thesis, training);
    int inside = 0, all = 0;
    for (const TrainingRow& row : test) {
        const auto told = forecast_of(device, row.operation.operation);
        if (told.evidence == Evidence::unknown) continue;
        const auto& time = told.cost.device_time;
        inside += time.low.value() <= row.time_s && row.time_s <= time.high.value() ? 1 : 0;
        ++all;
    }
    ASSERT_GT(all, 30);
    EXPECT_GT(static_cast<double>(inside) / all, 0.8);
    for (const PublishedRegression& one : device.published->regressions) EXPECT_GT(one.half_width, 0);
}

TEST(PublishedPredictor, ItsFileForecastsTheSame) {
    Predictor predictor = empty_predictor();
    predictor.devices.push_back(thesis());
    const Predictor read = from_jcp(to_jcp(predictor), "p.jcp");
    ASSERT_TRUE(read.devices.at(0).published);
    EXPECT_EQ(method_name(read), "thesis");
    for (const TrainingRow& row : some_rows()) {
        const auto before = forecast_of(thesis(), row.operation.operation);
        const auto after = forecast_of(read.devices[0], row.operation.operation);
        EXPECT_EQ(before.cost.device_time.value.value(), after.cost.device_time.value.value());
        EXPECT_EQ(before.cost.device_time.high.value(), after.cost.device_time.high.value());
        EXPECT_EQ(before.power.value.value(), after.power.value.value());
        EXPECT_EQ(before.evidence, after.evidence);
    }
}

TEST(PublishedPredictor, WithoutMeasuredPowerItSaysSo) {
    const auto rows = testing::synthetic_training(graphs());  // times alone
    const DeviceModel device = trained(PublishedMethod::thesis, rows);
    for (const PublishedRegression& one : device.published->regressions) EXPECT_EQ(one.metric, Metric::time);
    const auto network = forecast_network(graphs()[0], "fp32", device, all_columns(), {});
    EXPECT_GT(network.time.value.value(), 0);
    EXPECT_FALSE(network.energy.known());
    EXPECT_THAT(network.energy_missing_reason, HasSubstr("no power measured"));
    EXPECT_THROW(trained(PublishedMethod::thesis, {}), Error);
}

/// Writes the predictor with its first regression changed, and reads it.
template <class Change>
Predictor read_with(Change change) {
    Predictor predictor = empty_predictor();
    predictor.devices.push_back(thesis());
    change(predictor.devices[0].published->regressions[0]);
    return from_jcp(to_jcp(predictor), "p.jcp");
}

TEST(PublishedPredictor, AFileThatCannotBeAskedIsRefused) {
    EXPECT_NO_THROW(read_with([](PublishedRegression&) {}));
    EXPECT_THROW(read_with([](PublishedRegression& one) { one.half_width = -1; }), FormatError);
    // Rows of fewer or more columns than the program makes would be read beyond their end.
    EXPECT_THROW(read_with([](PublishedRegression& one) { one.ranges.emplace_back(); }), FormatError);
    EXPECT_THROW(read_with([](PublishedRegression& one) { one.layers.pop_back(); }), FormatError);
    EXPECT_THROW(read_with([](PublishedRegression& one) { std::swap(one.layers.front(), one.layers.back()); }),
                 FormatError);
}

TEST(PublishedPredictor, HasTheColumnsThatItsFileIsCheckedFor) {
    const auto rows = some_rows();
    const Device cpu = testing::synthetic_cpu();
    const OperatingPoint point = testing::synthetic_point();
    const Subject subject = subject_of(rows[0], cpu, point);
    PublishedRegression one;
    one.layers = {"a", "b"};
    for (const PublishedMethod method : {PublishedMethod::thesis, PublishedMethod::sponner})
        EXPECT_EQ(regression_row(method, subject, one).size(), column_count(method, 2));
}

TEST(PublishedPredictor, KnowsNoOtherCpuThatIssues) {
    DeviceModel device = thesis();
    device.device = find_device("a100-40g-pcie");
    EXPECT_THROW(issue_from(device, testing::synthetic_cpu()), Error);
}

// Over clocks: a card whose calls take 1 ms at 1200 MHz, and as much longer as the clock is lower.
std::vector<TrainingRow> rows_over_clocks(const Device& card) {
    std::vector<TrainingRow> rows;
    for (const double mhz : {600.0, 900.0, 1200.0}) {
        for (int n = 1; n <= 12; ++n) {
            TrainingRow& row = rows.emplace_back();
            const Operation operation = parse_operation("aten::relu(self=f32[" + std::to_string(1000 * n) + "])");
            row.operation = prepare(operation, card, Math::ieee);
            row.group = operation_group(operation);
            row.time_s = 1e-3 * n * 1200 / mhz;
            row.power_w = 100 + mhz / 12;
            row.sm_clock_mhz = row.asked_sm_clock_mhz = mhz;
        }
    }
    return rows;
}

Graph bag_of(const std::string& text) {
    Graph graph;
    graph.name = "bag";
    graph.has_edges = false;
    Node node;
    node.operation = parse_operation(text);
    graph.nodes.push_back(node);
    return graph;
}

OperatingPoint at_mhz(double mhz) {
    OperatingPoint point;
    point.sm_clock_mhz = mhz;
    return point;
}

TEST(PublishedPredictor, OfTheThesisKnowsTheClock) {
    const Device card = find_device("a100-40g-pcie");
    const auto rows = rows_over_clocks(card);
    const DeviceModel device = train_published(PublishedMethod::thesis, card, {}, rows, {}, {});
    ASSERT_TRUE(device.over_clocks);
    const std::vector<const Baseline*> named{&thesis_forest};
    const FittedBaselines fitted = fit_baselines(named, device, rows, {});
    const auto network = forecast_network(bag_of("aten::relu(self=f32[6000])"), "fp32", device, all_columns(), {});
    for (const TrainingRow& row : rows) {
        if (row.operation.signature != "aten::relu(self=f32[6000])") continue;
        const NetworkForecast there = at_point(network, device, at_mhz(row.sm_clock_mhz));
        const Subject subject = subject_of(row, card, {});
        EXPECT_NEAR(there.time.value.value() / fitted.forecast(0, BaselineMetric::time, subject), 1, 1e-6)
            << row.sm_clock_mhz;
        EXPECT_NEAR(there.power.value.value() / fitted.forecast(0, BaselineMetric::power, subject), 1, 1e-6)
            << row.sm_clock_mhz;
        EXPECT_NEAR(there.time.value.value() / row.time_s, 1, 0.5) << row.sm_clock_mhz;
        EXPECT_EQ(there.idle_energy_j, 0) << "the method knows no idle power";
    }
    // Scored row by row, each at its own clock.
    for (const OutOfFoldRow& row : score_predictor(device, all_columns(), rows)) EXPECT_GT(row.predicted, 0);
    EXPECT_THROW(check_limit(device,
                             [] {
                                 OperatingPoint p;
                                 p.power_limit_w = 200;
                                 return p;
                             }()),
                 UsageError);
}

TEST(PublishedPredictor, OfSponnerKnowsNoClock) {
    const Device card = find_device("a100-40g-pcie");
    const DeviceModel device =
        train_published(PublishedMethod::sponner, card, at_mhz(1200), rows_over_clocks(card), {}, {});
    EXPECT_FALSE(device.over_clocks);
    EXPECT_TRUE(std::isnan(device.point.sm_clock_mhz)) << "it is of all clocks together";
    EXPECT_EQ(score_predictor(device, all_columns(), rows_over_clocks(card)).size(), 3 * rows_over_clocks(card).size());
    EXPECT_THAT(why_no_clocks(device), HasSubstr("has no clocks"));
    const auto network = forecast_network(bag_of("aten::relu(self=f32[6000])"), "fp32", device, all_columns(), {});
    EXPECT_THROW(at_point(network, device, at_mhz(900)), UsageError);
}

}  // namespace
}  // namespace joulecast
