#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "joulecast/device/device_table.h"
#include "tests/cli/run_command.h"
#include "tests/cli/suite_folder.h"
#include "tests/train/synthetic.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;

/// Three networks, their operations and their times.
class Validate : public SuiteFolder<Validate> {
  public:
    static void set_up_files() {
        Dataset dataset(file("three.db"));
        std::vector<Graph> graphs;
        for (const char* model : {"resnet18", "vgg11", "alexnet"}) graphs.push_back(synthetic_graph(model, 2));
        insert_synthetic(dataset, graphs);
    }
    static Ran validate(const std::string& options) {
        return run_joulecast("validate --db " + file("three.db") + " " + options);
    }
};

/// The synthetic networks on three cards, of which the newest is the fastest.
void insert_on_three_gpus(Dataset& dataset) {
    std::vector<Graph> graphs;
    for (const char* model : {"resnet18", "alexnet"}) graphs.push_back(synthetic_graph(model, 2));
    const std::map<std::string, double> slowdowns{{"p100", 2}, {"v100-32g-pcie", 1.5}, {"a100-40g-sxm", 1}};
    for (const auto& [id, slowdown] : slowdowns) {
        dataset.insert(find_device(id));
        const auto moved = [&](auto measurement) {
            for (OperatingPoint* point : {&measurement.asked, &measurement.real}) {
                point->device = id;
                point->threads = 0;
            }
            measurement.time.median_s *= slowdown;
            measurement.time.mean_s *= slowdown;
            return measurement;
        };
        for (const OperationRow& row : synthetic_rows(graphs)) dataset.insert(moved(row.measurement), row.provenance);
        for (const Graph& graph : graphs) {
            const NetworkRow row = synthetic_network(graph);
            dataset.insert(moved(row.measurement), row.provenance);
        }
    }
}

TEST_F(Validate, NamesANetworkThatNobodyHasOnceForAllDevices) {
    {
        Dataset dataset(file("gpus.db"));
        insert_on_three_gpus(dataset);
        for (const Device& device : dataset.devices()) {
            NetworkRow row = synthetic_network(synthetic_graph("resnet18", 2));
            row.measurement.model = "nobody_has_it";
            for (OperatingPoint* point : {&row.measurement.asked, &row.measurement.real}) {
                point->device = device.id;
                point->threads = 0;
            }
            dataset.insert(row.measurement, row.provenance);
        }
    }
    const auto ran = run_joulecast("train --db " + file("gpus.db") + " -o " + file("all.jcp"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    const std::string said = "measured network nobody_has_it is left out (";
    const auto at = ran.err.find(said);
    ASSERT_NE(at, std::string::npos) << ran.err;
    EXPECT_EQ(ran.err.find(said, at + 1), std::string::npos) << ran.err;
    const std::string line = ran.err.substr(at, ran.err.find('\n', at) - at);
    EXPECT_THAT(line, ::testing::HasSubstr("(a100-40g-sxm, p100, v100-32g-pcie): "));
}

TEST_F(Validate, TellsWhatChoosingADeviceByForecastsOfItCosts) {
    {
        Dataset dataset(file("choices.db"));
        insert_on_three_gpus(dataset);
    }
    const std::string ask = "validate --db " + file("choices.db") + " --split device ";
    const auto ran = run_joulecast(ask + "--format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto answer = nlohmann::json::parse(ran.out);
    std::map<std::string, nlohmann::json> lines;
    for (const auto& line : answer["regret"]) {
        EXPECT_EQ(line["objective"], "time") << "no energy was measured";
        EXPECT_EQ(line["workloads"], 2);
        lines[line["rule"]] = line;
    }
    ASSERT_TRUE(lines.contains("joulecast"));
    EXPECT_GE(lines["joulecast"]["worst_regret"], lines["joulecast"]["mean_regret"]);
    EXPECT_EQ(lines["newest device"]["mean_regret"], 0);  // the A100 of 2020
    EXPECT_EQ(lines["largest bandwidth"]["mean_regret"], 0);
    EXPECT_THAT(run_joulecast(ask).out, HasSubstr("Extra cost of the chosen device"));
}

TEST_F(Validate, HasTheKeysOfTheContract) {
    const auto ran = validate("--folds 3 --format json --predictions " + file("rows.csv"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto answer = nlohmann::json::parse(ran.out);
    EXPECT_EQ(answer["schema"], "joulecast.validation/1");
    EXPECT_EQ(answer["split"], "operation");
    std::set<std::string> models;
    for (const auto& line : answer["operations"]) {
        models.insert(line["model"].get<std::string>());
        for (const char* key :
             {"metric", "family", "device", "rows", "groups", "r2", "r2_fold_mean", "r2_fold_std", "r2_log", "mape",
              "median_ape", "mae", "medae", "max_error", "interval_coverage", "interval_coverage_low",
              "interval_coverage_high", "interval_contains_90", "interval_width"}) {
            EXPECT_TRUE(line.contains(key)) << key;
        }
    }
    EXPECT_THAT(models, ::testing::ElementsAre("joulecast"));
    for (const char* key : {"without_forecast", "network_baselines"}) EXPECT_TRUE(answer[key].empty()) << key;
    EXPECT_THAT(read_file(file("rows.csv")),
                ::testing::StartsWith("model,metric,family,fold,group,measured,predicted,low,high"));
}

TEST_F(Validate, LeavesNetworksOut) {
    const auto ran = validate("--split network --format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto answer = nlohmann::json::parse(ran.out);
    ASSERT_EQ(answer["networks"].size(), 3U);
    for (const auto& line : answer["networks"]) {
        for (const char* key : {"network", "device", "clock_mhz", "mode", "precision", "measured_time_s",
                                "predicted_time_s", "engine", "host", "summed_time_s", "measured_energy_j",
                                "predicted_energy_j", "summed_energy_j", "inside_interval"}) {
            EXPECT_TRUE(line.contains(key)) << key;
        }
    }
    EXPECT_TRUE(answer["network_mape"]["time"].is_number());
    EXPECT_TRUE(answer["network_mape"]["energy"].is_null());
}

TEST_F(Validate, SaysThatRandomSplitsLeak) {
    EXPECT_THAT(validate("--split random --folds 2").out, HasSubstr("LEAKS"));
}

TEST_F(Validate, RefusesWhatASplitHasNoUseFor) {
    EXPECT_THAT(validate("--split device --folds 3").err, HasSubstr("--split device has no --folds"));
}

TEST_F(Validate, ScoresAPredictorAsItIs) {
    const std::string predictor =
        std::string("--predictor ") + JOULECAST_SOURCE_DIR + "/tests/model/data/version_1.jcp";
    const auto ran = validate(predictor);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("may have been trained on these rows"));
    EXPECT_EQ(validate(predictor + " --split network").status, 2);  // there is nothing to split
}

// ./quickstart --measure ends so: forecasts of networks whose operations were never measured.
TEST_F(Validate, ScoresAPredictorOnADatabaseOfNetworksAlone) {
    const std::string path = file("networks.db");
    {
        Dataset dataset(path);
        dataset.insert(synthetic_cpu());
        const NetworkRow row = synthetic_network(synthetic_graph("resnet18", 2));
        dataset.insert(row.measurement, row.provenance);
    }
    const std::string command = "validate --db " + path + " --format json";
    const auto ran =
        run_joulecast(command + " --predictor " + JOULECAST_SOURCE_DIR + "/tests/model/data/version_1.jcp");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto answer = nlohmann::json::parse(ran.out);
    ASSERT_EQ(answer["networks"].size(), 1U);
    EXPECT_GT(answer["networks"][0]["predicted_time_s"], 0.0);
    EXPECT_TRUE(answer["networks"][0]["summed_time_s"].is_null()) << "no operation was measured";
    EXPECT_EQ(run_joulecast(command).status, 1) << "nothing to train on";
}

}  // namespace
}  // namespace joulecast::testing
