#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"
#include "tests/cli/suite_folder.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using testing::read_file;
using testing::run_laboratory;
using testing::run_shell;
using ::testing::StartsWith;
using testing::TemporaryFolder;
using testing::write_file;

const std::string worker = std::string(" --worker ") + FAKE_WORKER + " ";

/// 10 W at rest, 100 W while running, 150 W in the first half second of a run; four runs of 4 s, 2 s apart.
std::string power_log() {
    std::string text = "time_s,power_w\n";
    for (int i = 0; i < 260; ++i) {
        const int of_period = i % 60;  // tenths of a second
        const int power_w = of_period < 20 ? 10 : (of_period < 25 ? 150 : 100 + i % 2);
        text += std::to_string(i / 10) + "." + std::to_string(i % 10) + "," + std::to_string(power_w) + "\n";
    }
    return text;
}

TEST(StudyProportionality, FindsSlopeAndTheLongestRunBesideTheLine) {
    const auto ran = run_laboratory("study proportionality --format json" + worker);
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(json.at("schema"), "joulecast.study/1");
    EXPECT_EQ(json.at("device"), "cpu-fake-1c");
    EXPECT_NEAR(json.at("call_s"), 1e-7, 1e-11);
    EXPECT_NEAR(json.at("sigma_s"), 1e-6, 3e-7);
    // The fake takes 10 us more for runs of fewer than ten calls.
    ASSERT_FALSE(json.at("outlier_calls").is_null());
    EXPECT_LT(json.at("outlier_calls"), 10);
    EXPECT_GT(json.at("outlier_calls"), 4);
    EXPECT_GE(json.at("points"), 40);
    EXPECT_LT(json.at("fitted"), json.at("points"));
}

TEST(StudyProportionality, WritesItsPointsAndItsPicture) {
    const TemporaryFolder folder;
    write_file(folder.file("plotly.min.js"), "/*the library*/");
    const auto ran =
        run_shell("JOULECAST_HOME=" + folder.path().string() + " $JOULECAST_LAB study proportionality --csv " +
                  folder.file("p.csv") + " --picture " + folder.file("p.html") + worker);
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(read_file(folder.file("p.csv")), StartsWith("calls,runtime_s,fitted_s,residual_s,sigmas\n1,1.01e-05,"));
    EXPECT_THAT(read_file(folder.file("p.html")), HasSubstr("Runtime against number of calls"));
}

TEST(StudyProportionality, AWorkerThatRefusesIsAnErrorWithItsReason) {
    const auto ran = run_laboratory("study proportionality 'fake::refuse(self=f32[1])'" + worker);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("no such device"));
}

TEST(StudyStartup, TakesARecordedTraceApart) {
    const TemporaryFolder folder;
    write_file(folder.file("log.csv"), power_log());
    const auto ran = run_laboratory("study startup --format json --power-log " + folder.file("log.csv") + " --csv " +
                                    folder.file("points.csv"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_NEAR(json.at("steady_w"), 100.5, 0.1);
    ASSERT_EQ(json.at("runs").size(), 4U);
    for (const auto& run : json.at("runs")) EXPECT_NEAR(run.at("settled_after_s"), 0.5, 0.01);
    EXPECT_THAT(read_file(folder.file("points.csv")), HasSubstr("\n2,150,1,0\n"));
    EXPECT_THAT(read_file(folder.file("points.csv")), StartsWith("time_s,power_w,run,run_time_s\n0,10,0,\n"));
}

TEST(StudyStartup, TakesALogOfNvidiaSmiWithoutAHeaderApart) {
    const TemporaryFolder folder;
    std::string log;
    for (int i = 0; i < 40; ++i) {  // 1 s at 30 W and 1 s at 100 W in turn
        const bool runs = i % 20 >= 10;
        log += "2024/02/29 12:34:0" + std::to_string(i / 10) + "." + std::to_string(i % 10) +
               (runs ? ", 98 %, 100.0 W" : ", 0 %, 30.0 W") + ", 512 MiB, 24576 MiB\n";
    }
    write_file(folder.file("log.csv"), log);
    const auto ran = run_laboratory("study startup --format json --power-log " + folder.file("log.csv"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_NEAR(json.at("steady_w"), 100, 0.1);
    EXPECT_EQ(json.at("runs").size(), 2U);
}

TEST(StudyStartup, TracesRestsAndRunsOfAWorker) {
    const TemporaryFolder folder;
    write_file(folder.file("flat.csv"), "time_s,power_w\n0,30\n100,30\n");
    const auto ran = run_laboratory("study startup --runs 2 --run 0.05s --rest 0.05s --format json --csv " +
                                    folder.file("points.csv") + " --meter replay:" + folder.file("flat.csv") + worker);
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(json.at("runs").size(), 2U);
    EXPECT_THAT(json.at("meter"), HasSubstr("replay"));
    EXPECT_THAT(read_file(folder.file("points.csv")), HasSubstr(",30,"));
}

TEST(StudyStartup, WithoutAMeterItSaysWhyNot) {
    const auto ran = run_laboratory("study startup --meter replay:/nowhere" + worker);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("no power can be traced"));
    EXPECT_THAT(ran.err, HasSubstr("--power-log"));
}

TEST(Study, OnlyWhatThereIsIsAccepted) {
    EXPECT_EQ(run_laboratory("study handwriting").status, 2);
    EXPECT_EQ(run_laboratory("study").status, 2);
    const auto none = run_laboratory("study learners");
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.err, HasSubstr("--db FILE"));
    const auto foreign = run_laboratory("study latency --steps 3 --db x.db");
    EXPECT_EQ(foreign.status, 2);
    EXPECT_THAT(foreign.err, HasSubstr("study latency has no --steps: it is for dataset-size"));
}

/// Two networks with their operations; what measuring took is half a second each.
class StudyOfADatabase : public testing::SuiteFolder<StudyOfADatabase> {
  public:
    static void set_up_files() {
        Dataset dataset(file("two.db"));
        dataset.insert(testing::synthetic_cpu());
        const std::vector<Graph> graphs{testing::synthetic_graph("resnet18", 2),
                                        testing::synthetic_graph("mobilenet_v2", 2)};
        for (OperationRow row : testing::synthetic_rows(graphs)) {
            row.measurement.wall_s = 0.5;
            dataset.insert(row.measurement, row.provenance);
        }
        for (const Graph& graph : graphs) {
            NetworkRow row = testing::synthetic_network(graph);
            row.measurement.wall_s = 2;
            dataset.insert(row.measurement, row.provenance);
        }
    }
    static nlohmann::json study(const std::string& arguments) {
        const auto ran = run_laboratory("study " + arguments + " --format json --db " + file("two.db"));
        EXPECT_EQ(ran.status, 0) << ran.err;
        return nlohmann::json::parse(ran.out, nullptr, false);
    }
};

TEST_F(StudyOfADatabase, DatasetSizePrintsAStepForEachPartWithTheThesisBeside) {
    const auto json = study("dataset-size --steps 3 --folds 2");
    EXPECT_EQ(json.at("schema"), "joulecast.study/1");
    EXPECT_EQ(json.at("study"), "dataset-size");
    ASSERT_EQ(json.at("results").size(), 6U);
    EXPECT_EQ(json.at("results").at(2).at("model"), "joulecast");
    EXPECT_EQ(json.at("results").at(2).at("step"), 3);
    EXPECT_EQ(json.at("results").at(3).at("model"), "thesis_forest");
    for (const char* key : {"training_rows", "rows", "r2", "mape", "median_ape", "interval_coverage"})
        EXPECT_TRUE(json.at("results").at(2).at(key).is_number()) << key;
}

TEST_F(StudyOfADatabase, FeaturesAreSortedAndWhatThereIsNotIsSaid) {
    const auto json = study("features --folds 2 --repeats 1 --learner decision_tree");
    ASSERT_GT(json.at("importance").size(), 20U);
    EXPECT_EQ(json.at("importance").at(0).at("rank"), 1);
    EXPECT_GE(json.at("importance").at(0).at("increase"), json.at("importance").at(1).at("increase"));
    EXPECT_TRUE(json.at("augmentation").empty());
    EXPECT_THAT(json.at("notes").get<std::string>(), HasSubstr("there are no augmentation rows"));
}

TEST_F(StudyOfADatabase, LearnersAreComparedByFamilyWithTheirTime) {
    const auto json = study("learners --folds 2 --learner ridge knn");
    ASSERT_FALSE(json.at("results").empty());
    for (const auto& line : json.at("results")) {
        EXPECT_TRUE(line.at("learner") == "ridge" || line.at("learner") == "knn");
        EXPECT_TRUE(line.at("training_cpu_s").is_number());
    }
    EXPECT_EQ(run_laboratory("study learners --learner auto --db " + file("two.db")).status, 2);
}

TEST_F(StudyOfADatabase, LayersOfOneTestSetAreAPartOfAllRows) {
    const auto rows = [&](const std::string& split) {
        const auto results = study("layers --baselines roofline --learner ridge --split " + split).at("results");
        for (const auto& line : results)
            if (line.at("layer") == "all" && line.at("metric") == "time_s") return line.at("rows").get<int>();
        return -1;
    };
    const int all = rows("random");
    EXPECT_EQ(rows("test-set --folds 4"), (all + 3) / 4);
    const auto ran =
        run_laboratory("study layers --split test-set --baselines roofline --learner ridge --db " + file("two.db"));
    EXPECT_THAT(ran.out, HasSubstr("one of 5 parts, drawn at random, is the test set"));
}

TEST_F(StudyOfADatabase, LatencyStandsBesideTheThesisAndMeasuring) {
    const auto results = study("latency --repeats 2").at("results");
    ASSERT_EQ(results.size(), 5U);
    EXPECT_EQ(results.at(0).at("thesis_s"), 30);
    EXPECT_EQ(results.at(2).at("measuring_s"), 0.5);
    EXPECT_EQ(results.at(3).at("thesis_s"), 0.5);
    EXPECT_EQ(results.at(4).at("thesis_s"), 0.03);
    EXPECT_EQ(results.at(4).at("measuring_s"), 2);
    for (const auto& step : results) EXPECT_GT(step.at("time_s"), 0);
}

TEST_F(StudyOfADatabase, WhatNextIsTriedAgainstChance) {
    const auto results = study("what-next --seeds 1").at("results");
    ASSERT_EQ(results.size(), 14U);  // none, three ways at four budgets, all
    EXPECT_EQ(results.at(1).at("strategy"), "what_next");
    EXPECT_EQ(results.at(3).at("strategy"), "random");
    EXPECT_EQ(results.at(1).at("measured"), results.at(3).at("measured")) << "each costs the same";
}

TEST_F(StudyOfADatabase, WritesItsNumbersAndItsPicture) {
    write_file(file("plotly.min.js"), "/*the library*/");
    const auto ran =
        run_shell("JOULECAST_HOME=" + file("") + " $JOULECAST_LAB study learners --folds 2 --learner knn --db " +
                  file("two.db") + " --csv " + file("l.csv") + " --picture " + file("l.html"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(read_file(file("l.csv")), StartsWith("device,math,metric,family,learner,rows,groups,r2,"));
    EXPECT_THAT(read_file(file("l.html")), HasSubstr("Learners: MAPE of time_s"));
    EXPECT_THAT(ran.out, HasSubstr("training (CPU)"));
}

}  // namespace
}  // namespace joulecast
