#include "joulecast/evaluate/cross_validate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <span>

#include "joulecast/evaluate/published_baselines.h"
#include "joulecast/forecast/device_power.h"
#include "joulecast/forecast/unseen_device.h"
#include "tests/train/made_up_gpus.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using testing::synthetic_graph;

ValidationSettings quick() {
    ValidationSettings settings;
    settings.folds = 3;
    settings.training.trees = 8;
    settings.training.folds = 3;
    settings.learners = {Learner::extra_trees};
    return settings;
}

/// The mean time of the networks that it is fitted to.
NetworkForecaster fit_mean(std::span<const TrainingNetwork> networks, const Device&) {
    double sum = 0;
    for (const TrainingNetwork& network : networks) sum += network.measurement.time.median_s;
    return [mean = sum / static_cast<double>(networks.size())](const TrainingNetwork&) { return mean; };
}
constexpr NetworkBaseline mean_of_others{"mean_of_others", "nobody", "none", fit_mean};

TEST(ValidateOperations, ForecastsEveryRowOnceAndKeepsGroupsTogether) {
    const auto rows =
        testing::synthetic_training({synthetic_graph("resnet18", 2), synthetic_graph("resnet18", 2, Mode::training)});
    auto settings = quick();
    settings.baselines = {&thesis_forest, &thesis_xgboost};
    const auto out = validate_operations(testing::synthetic_cpu(), testing::synthetic_point(), rows, settings);
    std::map<std::pair<std::string, std::string>, std::size_t> count;
    std::map<std::string, std::set<std::size_t>> folds;
    for (const OutOfFoldRow& row : out) {
        ++count[{row.model, row.metric}];
        folds[row.group].insert(row.fold);
    }
    for (const char* model : {"extra_trees", "thesis_forest", "thesis_xgboost"}) {
        const std::size_t found = count[std::pair<std::string, std::string>(model, "time_s")];
        EXPECT_EQ(found, rows.size()) << model;
    }
    for (const auto& [group, in] : folds) EXPECT_EQ(in.size(), 1U) << group;
}

TEST(ScorePredictor, ComparesKernelsWhereIssuingWasTimedApart) {
    const DeviceRows v100 = testing::made_up_rows("v100-32g-pcie", 1.0),
                     a100 = testing::made_up_rows("a100-40g-sxm", 1.0);
    const std::vector<const DeviceRows*> parts = {&v100, &a100};
    const DeviceModel a30 = instantiate(train_pooled(parts, testing::quick_settings()), find_device("a30"));
    TrainingRow row;
    row.operation = prepare(parse_operation("aten::add.Tensor(self=f32[1000,100], other=f32[1000,100])"), a30);
    row.time_s = testing::made_up_kernel_s(row.operation, 1.0);
    const auto predicted = [&] { return score_predictor(a30, all_columns(), std::span(&row, 1)).front(); };
    const OutOfFoldRow call = predicted();
    row.issue_s = 5e-6;
    const OutOfFoldRow kernel = predicted();
    EXPECT_GT(call.predicted, testing::made_up_launch_s);
    EXPECT_LT(std::abs(std::log(kernel.predicted / row.time_s)), 0.3);
    EXPECT_NEAR(kernel.high / kernel.predicted, call.high / call.predicted, 1e-9);
    // What was metered is that kernel again and again, not a card that waits for most of a call.
    row.power_w = 100;
    const auto scored = score_predictor(a30, all_columns(), std::span(&row, 1));
    ASSERT_EQ(scored.at(1).metric, "power_w");
    ASSERT_EQ(scored.at(2).metric, "energy_j");
    EXPECT_GT(scored.at(1).predicted, 1.5 * power_facts_of(a30).idle_w);
    EXPECT_NEAR(scored.at(2).predicted, scored.at(1).predicted * kernel.predicted, 1e-9 * scored.at(2).predicted);
}

TEST(ValidateNetworks, KernelsTimedApartAddUpWhoeverIssuedThemUnlessTheHostWasWaitedFor) {
    const Graph graph = synthetic_graph("resnet18", 2);
    auto rows = testing::synthetic_rows({graph});
    double kernels_s = 0;
    for (OperationRow& row : rows) row.measurement.issue = IssueSummary{};
    for (const CountedOperation& counted : count_operations(graph))
        for (const OperationRow& row : rows)
            if (signature(row.measurement.operation) == signature(counted.operation))
                kernels_s += static_cast<double>(counted.count) * row.measurement.time.median_s;
    TrainingNetwork network{graph, testing::synthetic_network(graph).measurement};
    network.measurement.real.host = Host::python;
    OperatingPoint setting;
    const auto training = training_rows(rows, testing::synthetic_cpu(), setting);
    const DeviceModel model = train_device(testing::synthetic_cpu(), setting, training, {}, testing::quick_settings());
    const auto summed = [&] {
        return score_networks(model, all_columns(), std::span(&network, 1), measured_operations(rows)).networks.front();
    };
    EXPECT_NEAR(summed().summed_time_s, kernels_s, 1e-9 * kernels_s);  // views launch nothing
    network.measurement.issue = IssueSummary{};
    network.measurement.issue->launch_bound = true;
    EXPECT_TRUE(std::isnan(summed().summed_time_s));
    for (OperationRow& row : rows) row.measurement.issue.reset();
    EXPECT_TRUE(std::isnan(summed().summed_time_s));  // issued from C++, and the network from Python
}

TEST(ValidateNetworks, LeavesOutTheNetworkWithAllItShares) {
    std::vector<Graph> graphs;
    std::vector<TrainingNetwork> networks;
    for (const char* model : {"resnet18", "resnet50", "densenet121", "vgg11"}) {
        graphs.push_back(synthetic_graph(model, 2));
        networks.push_back({graphs.back(), testing::synthetic_network(graphs.back()).measurement});
    }
    const auto rows = testing::synthetic_rows(graphs);
    OperatingPoint setting;
    const auto training = training_rows(rows, testing::synthetic_cpu(), setting);
    const auto validation =
        validate_networks(testing::synthetic_cpu(), setting, training, networks, measured_operations(rows), quick());
    ASSERT_EQ(validation.networks.size(), 4U);
    for (const NetworkAccuracy& n : validation.networks) {
        EXPECT_NEAR(n.predicted_time.value.value() / n.measured_time_s, 1, 0.25) << n.network;
        // The sum of measured operations lacks the factor of 1.1 that networks cost more: 1 / 1.1.
        EXPECT_NEAR(n.summed_time_s / n.measured_time_s, 1 / 1.1, 0.01) << n.network;
        EXPECT_GT(n.measured_share, 0.95);
    }
    // A row of every operation of each network was forecast while that network was out: shared ones several times.
    std::set<std::string> resnet18;
    for (const CountedOperation& counted : count_operations(graphs[0])) {
        resnet18.insert(operation_group(counted.operation));
    }
    std::map<std::string, std::size_t> times;
    for (const OutOfFoldRow& row : validation.operations) {
        if (row.metric == "time_s") ++times[row.group];
    }
    for (const TrainingRow& row : training) {
        if (!resnet18.contains(row.group)) continue;
        EXPECT_GE(times[row.group], 1U);
    }
    EXPECT_EQ(times[training.front().group], 3U);  // the first convolution is that of three of the four networks
}

TEST(ValidateNetworks, ScoresNetworksUnderTheHostTheyWereMeasuredWith) {
    std::vector<Graph> graphs;
    std::vector<TrainingNetwork> networks;
    constexpr double python_s = 20e-6;
    std::map<std::string, double> planted;
    for (const char* model : {"mobilenet_v3_small", "mnasnet1_0", "mobilenet_v2", "shufflenet_v2_x1_0"}) {
        graphs.push_back(synthetic_graph(model, 1));
        networks.push_back({graphs.back(), testing::synthetic_network(graphs.back()).measurement});
        TrainingNetwork from_python = networks.back();
        double calls = 0;
        for (const CountedOperation& counted : count_operations(graphs.back()))
            if (family(counted.operation) != Family::symbolic) calls += static_cast<double>(counted.count);
        from_python.measurement.real.host = Host::python;
        from_python.measurement.time.median_s += planted[model] = calls * python_s;
        networks.push_back(from_python);
    }
    const auto rows = testing::synthetic_rows(graphs);
    OperatingPoint setting;
    const auto training = training_rows(rows, testing::synthetic_cpu(), setting);
    auto settings = quick();
    settings.baselines = {&thesis_forest};
    settings.network_baselines = {&mean_of_others};
    const auto validation =
        validate_networks(testing::synthetic_cpu(), setting, training, networks, measured_operations(rows), settings);
    ASSERT_EQ(validation.networks.size(), 8U);
    std::map<std::string, double> found;
    for (const NetworkAccuracy& n : validation.networks) {
        found[n.network] += (n.host == Host::python ? 1 : -1) * n.predicted_time.value.value();
        EXPECT_EQ(std::isnan(n.summed_time_s), n.host == Host::python) << "no operation was measured from Python";
    }
    // Without the network itself three are left to learn from, against the 8 us of other machines.
    for (const auto& [model, seconds] : planted) EXPECT_NEAR(found[model] / seconds, 1, 0.4) << model;
    EXPECT_EQ(validation.baselines.size(), 4U + 4U) << "one line for each method and network measured from C++";
    for (const BaselineNetwork& one : validation.baselines) {
        if (one.model != "mean_of_others") continue;
        double others = 0;
        for (const TrainingNetwork& network : networks) {
            const NetworkMeasurement& m = network.measurement;
            if (m.real.host == Host::cpp && m.model != one.network) others += m.time.median_s;
        }
        EXPECT_NEAR(one.predicted_time_s / (others / 3), 1, 1e-12) << "it saw " << one.network << " or Python";
    }
}

TEST(ValidateNetworks, GivesNoSumWhereOperationsWereNotMeasured) {
    const Graph graph = synthetic_graph("resnet18", 2);
    const std::vector<TrainingNetwork> networks{{graph, testing::synthetic_network(graph).measurement}};
    const auto rows = testing::synthetic_training({synthetic_graph("resnet50", 2)});
    TrainSettings training;
    training.trees = 5;
    const auto device = train_device(testing::synthetic_cpu(), testing::synthetic_point(), rows, {}, training);
    const auto validation = score_networks(device, all_columns(), networks, {});
    EXPECT_TRUE(std::isnan(validation.networks.front().summed_time_s));
}

}  // namespace
}  // namespace joulecast
