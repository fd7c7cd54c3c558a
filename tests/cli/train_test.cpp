#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"
#include "tests/train/synthetic.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;

std::string small_database(const TemporaryFolder& folder) {
    const std::string path = folder.file("small.db");
    Dataset dataset(path);
    insert_synthetic(dataset, {synthetic_graph("resnet18", 2)});
    return path;
}

TEST(Train, WritesAPredictorAndSaysWhatIsInIt) {
    const TemporaryFolder folder;
    const auto ran = run_joulecast("train --db " + small_database(folder) + " -o " + folder.file("p.jcp"));
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("convolution"));
    EXPECT_THAT(ran.out, HasSubstr("1 measured networks"));
    EXPECT_EQ(read_file(folder.file("p.jcp")).substr(1, 3), "JCP");
}

TEST(Train, AnswersInJson) {
    const TemporaryFolder folder;
    const auto ran = run_joulecast("train --db " + small_database(folder) + " -o " + folder.file("p.jcp") +
                                   " --learner decision_tree --format json");
    const auto answer = nlohmann::json::parse(ran.out);
    EXPECT_EQ(answer["schema"], "joulecast.training/1");
    for (const auto& model : answer["models"]) EXPECT_EQ(model["learner"], "decision_tree");
    EXPECT_EQ(answer["devices"][0]["threads"], 2);
}

/// The convolutions of a network, which are one family, and of them the times alone: every learner is fitted to it six
/// times over for each of its numbers.
std::string database_of_convolutions(const TemporaryFolder& folder) {
    const std::string path = folder.file("convolutions.db");
    Dataset dataset(path);
    dataset.insert(synthetic_cpu());
    for (OperationRow row : synthetic_rows({synthetic_graph("resnet18", 2)})) {
        if (family(row.measurement.operation) != Family::convolution) continue;
        row.measurement.peak_memory_bytes = std::nan("");
        dataset.insert(row.measurement, row.provenance);
    }
    return path;
}

TEST(Train, TakesEveryLearnerAndItsFileForecasts) {
    const TemporaryFolder folder;
    const std::string database = database_of_convolutions(folder);
    for (const Learner learner : all_learners()) {
        const std::string file = folder.file(std::string(name(learner)) + ".jcp");
        const auto ran = run_joulecast("train --db " + database + " -o " + file + " --learner " +
                                       std::string(name(learner)) + " --format json");
        ASSERT_EQ(ran.status, 0) << ran.err;
        const auto answer = nlohmann::json::parse(ran.out);
        ASSERT_FALSE(answer.at("models").empty());
        for (const auto& model : answer.at("models")) EXPECT_EQ(model.at("learner"), name(learner));
        EXPECT_EQ(run_joulecast("validate --db " + database + " --predictor " + file).status, 0) << name(learner);
    }
    EXPECT_EQ(run_joulecast("train --db " + database + " -o " + folder.file("p.jcp") + " --learner oracle").status, 2);
}

TEST(Train, TakesADeviceByAnyOfItsNamesAndSaysWhichItIs) {
    const TemporaryFolder folder;
    const std::string csv = folder.file("small.csv");
    const std::string database = folder.file("a30.db");
    const auto renamed =
        run_shell("\"$JOULECAST\" export --db " + small_database(folder) + " | sed s/cpu-synthetic/a30/g > " + csv +
                  " && \"$JOULECAST\" import csv " + csv + " --db " + database);
    ASSERT_EQ(renamed.status, 0) << renamed.err;
    const auto ran = run_joulecast("train --db " + database + " --device 'NVIDIA A30' --learner decision_tree -o " +
                                   folder.file("p.jcp"));
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("NVIDIA A30 is a30"));
    const auto forecast =
        run_joulecast("predict resnet18 --set batch=2 --device A30 --predictor " + folder.file("p.jcp"));
    EXPECT_EQ(forecast.status, 0) << forecast.err;
    EXPECT_THAT(forecast.err + forecast.out, HasSubstr("A30 is a30"));
}

TEST(Train, NamesTheOutliersThatItDrops) {
    const TemporaryFolder folder;
    const std::string path = folder.file("odd.db");
    {
        Dataset dataset(path);
        dataset.insert(synthetic_cpu());
        bool first = true;
        for (OperationRow row : synthetic_rows({synthetic_graph("resnet50", 2), synthetic_graph("mobilenet_v2", 2)})) {
            const bool is_odd = first && row.measurement.operation.target == "aten::conv2d";
            if (is_odd) row.measurement.time.mean_s = row.measurement.time.median_s *= 50;
            first = first && !is_odd;
            dataset.insert(row.measurement, row.provenance);
        }
    }
    const std::string command =
        "train --db " + path + " --learner decision_tree --format json -o " + folder.file("p.jcp");
    const auto dropping = nlohmann::json::parse(run_joulecast(command + " --outliers drop").out);
    ASSERT_FALSE(dropping.at("outliers").empty());
    EXPECT_THAT(dropping.at("outliers").at(0).at("operation").get<std::string>(), HasSubstr("aten::conv2d"));
    EXPECT_GT(dropping.at("outliers").at(0).at("score"), 0.6);
    const auto keeping = nlohmann::json::parse(run_joulecast(command).out);
    EXPECT_TRUE(keeping.at("outliers").empty());
    const auto rows = [](const nlohmann::json& answer) { return answer.at("models").at(0).at("rows").get<int>(); };
    EXPECT_GT(rows(keeping), rows(dropping));
}

TEST(Train, PlansWhatToMeasureNext) {
    const TemporaryFolder folder;
    const std::string database = small_database(folder);
    const auto ran = run_joulecast("train --db " + database + " --learner decision_tree -o " + folder.file("p.jcp") +
                                   " --what-next 10s --for mobilenet_v2 --format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto next = nlohmann::json::parse(ran.out).at("what_next");
    EXPECT_EQ(next.at("plan"), folder.file("p.plan"));
    EXPECT_LE(next.at("estimated_s"), 10.0);
    const std::size_t chosen = next.at("operations").size();
    EXPECT_GT(chosen, 5U);
    for (const OperationRow& row : synthetic_rows({synthetic_graph("resnet18", 2)})) {
        for (const auto& one : next.at("operations"))
            EXPECT_NE(one.at("operation"), signature(row.measurement.operation)) << "measured already";
    }
    // profile takes the plan.
    const auto planned =
        run_joulecast("profile " + folder.file("p.plan") + " --dry-run --format json --db " + database);
    ASSERT_EQ(planned.status, 0) << planned.err;
    const auto plan = nlohmann::json::parse(planned.out);
    EXPECT_EQ(plan.at("plan").size(), chosen);
    EXPECT_EQ(plan.at("plan").at(0).at("kind"), "named");
    const auto text = run_joulecast("train --db " + database + " --learner decision_tree -o " + folder.file("p.jcp") +
                                    " --what-next 10s --for mobilenet_v2 --plan " + folder.file("n.plan"));
    EXPECT_THAT(text.out, HasSubstr("to measure next on cpu-synthetic: " + std::to_string(chosen)));
    EXPECT_EQ(run_joulecast("train --db " + database + " -o " + folder.file("p.jcp") + " --plan x.plan").status, 2);
}

TEST(Train, SaysWhichDevicesThereAre) {
    const TemporaryFolder folder;
    const auto ran =
        run_joulecast("train --db " + small_database(folder) + " --device h200 -o " + folder.file("p.jcp"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("nothing measured on h200"));
    EXPECT_THAT(ran.err, HasSubstr("cpu-synthetic"));
}

TEST(Train, NeedsTheSuffixOfPredictors) {
    const TemporaryFolder folder;
    EXPECT_EQ(run_joulecast("train --db " + small_database(folder) + " -o p.bin").status, 2);
    EXPECT_EQ(run_joulecast("train --db " + folder.file("none.db") + " -o p.jcp").status, 1);
}

/// Operations and networks, beside thirty repeats of a reference over which the machine's pace ranged by `range`. The
/// networks took a half, a quarter and an eighth of what their operations say.
std::string odd_database(const TemporaryFolder& folder, const std::string& name, double range) {
    const std::string path = folder.file(name);
    Dataset dataset(path);
    const std::vector graphs{synthetic_graph("resnet18", 2), synthetic_graph("mobilenet_v2", 2),
                             synthetic_graph("alexnet", 2)};
    dataset.insert(synthetic_cpu());
    const std::vector<OperationRow> rows = synthetic_rows(graphs);
    for (const OperationRow& row : rows) dataset.insert(row.measurement, row.provenance);
    double share = 1;
    for (const Graph& graph : graphs) {
        share /= 2;
        NetworkRow row = synthetic_network(graph);
        for (double* seconds : {&row.measurement.time.mean_s, &row.measurement.time.median_s}) *seconds *= share;
        dataset.insert(row.measurement, row.provenance);
    }
    for (int i = 0; i < 30; ++i) {
        ReferenceRow repeat;
        repeat.operation = signature(rows.front().measurement.operation);
        repeat.asked = repeat.real = synthetic_point();
        // A minute apart: by them nobody can put the rest to one pace.
        repeat.started_at = "2026-01-02T03:" + std::to_string(10 + i) + ":00.000Z";
        repeat.time_mean_s = i < 15 ? 1e-3 : range * 1e-3;
        repeat.time_half_width_s = 1e-6;
        repeat.provenance = rows.front().provenance;
        dataset.insert(repeat);
    }
    return path;
}

// A host factor of 0.248 was fitted to networks of a machine that drifted, and intervals came out 1173 % wide.
TEST(Train, TakesNoImplausibleFactorFromAMachineThatDrifted) {
    const TemporaryFolder folder;
    struct Outcome {
        Ran ran;
        nlohmann::json device;
        double high_over_low = 0;
    };
    const auto train = [&](const std::string& name, double range) {
        const std::string jcp = folder.file(name + ".jcp");
        Outcome outcome{run_joulecast("train --learner decision_tree --format json --db " +
                                      odd_database(folder, name, range) + " -o " + jcp),
                        {},
                        0};
        outcome.device = nlohmann::json::parse(outcome.ran.out)["devices"][0];
        const Ran predict = run_joulecast(
            "predict resnet18 --set batch=2 --host cpp --device cpu-synthetic --format json --predictor " + jcp);
        const auto time = nlohmann::json::parse(predict.out)["predictions"][0]["time_s"];
        outcome.high_over_low = time["high"].get<double>() / time["low"].get<double>();
        return outcome;
    };
    const Outcome drifted = train("drifted.db", 1.5);
    EXPECT_EQ(drifted.device.at("network_factors").size(), 0U) << drifted.device;
    EXPECT_THAT(drifted.ran.err, HasSubstr("no factor is taken from the networks on cpu-synthetic (inference|fp32): "
                                           "the machine's pace ranged over 50.0 % while they and their operations "
                                           "were measured. They count as never measured. Measure again while"));
    // Where the machine kept its pace, the same networks are believed, and how far they are apart is the width.
    const Outcome steady = train("steady.db", 1.05);
    EXPECT_LT(steady.device.at("network_factors").at("inference|fp32").get<double>(), 0.4);
    EXPECT_THAT(steady.ran.err, ::testing::Not(HasSubstr("no factor is taken")));
    EXPECT_LT(drifted.high_over_low, 2);
    EXPECT_GT(steady.high_over_low, 3);

    const Ran checked =
        run_joulecast("validate --predictor " + folder.file("drifted.db.jcp") + " --db " + folder.file("drifted.db"));
    EXPECT_TRUE(checked.out.ends_with("Measure again while nothing else runs; joulecast doctor says what disturbs.\n"))
        << checked.out;
}

}  // namespace
}  // namespace joulecast::testing
