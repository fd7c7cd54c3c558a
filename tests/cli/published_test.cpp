// Predictors of the two papers and the studies of their tables, as a user asks for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/run_command.h"
#include "tests/cli/suite_folder.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::Ran;
using testing::run_joulecast;

/// A small network that was measured and metered, and the thesis' predictor of it.
class Published : public testing::SuiteFolder<Published> {
  public:
    static void set_up_files() {
        Dataset dataset(file("m.db"));
        const std::vector<Graph> graphs{testing::synthetic_graph("resnet18", 2),
                                        testing::synthetic_graph("mobilenet_v2", 2)};
        dataset.insert(testing::synthetic_cpu());
        for (OperationRow row : testing::synthetic_rows(graphs)) {
            metered(row.measurement);
            dataset.insert(row.measurement, row.provenance);
        }
        for (const Graph& graph : graphs) {
            NetworkRow row = testing::synthetic_network(graph);
            metered(row.measurement);
            dataset.insert(row.measurement, row.provenance);
        }
        const Ran ran = run_joulecast("train --method thesis --db " + file("m.db") + " -o " + file("thesis.jcp"));
        ASSERT_EQ(ran.status, 0) << ran.err;
        ASSERT_THAT(ran.out, HasSubstr("thesis (Nicolai 2025)"));
        ASSERT_THAT(ran.err, HasSubstr("training the method thesis (Nicolai 2025) for cpu-synthetic"));
    }

    static json answer(const std::string& command) {
        const Ran ran = run_joulecast(command + " --format json");
        EXPECT_EQ(ran.status, 0) << ran.err;
        return json::parse(ran.out);
    }

  private:
    template <class Measured>
    static void metered(Measured& m) {
        m.energy.emplace();
        m.energy->power_w = 20 + 100 / (1 + 2e-5 / m.time.median_s);
        m.energy->energy_j = m.energy->power_w * m.time.median_s;
        m.energy->idle_power_w = 20;
    }
};

TEST_F(Published, PredictorIsDescribedByWhoseMethodItIs) {
    const json info = answer("info " + file("thesis.jcp"));
    EXPECT_EQ(info.at("predictor_method"), "thesis");
    EXPECT_EQ(info.at("method_paper"), "Nicolai 2025");
    EXPECT_EQ(info.at("parts").at(0).at("models"), 2);  // of time and power, in inference
    EXPECT_EQ(info.at("parts").at(0).at("trees"), 200);
    EXPECT_EQ(info.at("parts").at(0).at("laws"), 0);
}

TEST_F(Published, ForecastsSayWhoseMethodTheyAre) {
    const Ran ran = run_joulecast("predict resnet18 --device cpu-synthetic --set batch=2 --predictor " +
                                  file("thesis.jcp") + " --format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const json forecast = json::parse(ran.out).at("predictions").at(0);
    EXPECT_EQ(forecast.at("predictor_method"), "thesis");
    EXPECT_THAT(forecast.at("predictor_note").get<std::string>(), HasSubstr("sum of its operations"));
    EXPECT_EQ(forecast.at("unknown_nodes"), 0);
    double seconds = 0;
    for (const json& one : forecast.at("operations"))
        seconds += one.at("count").get<double>() * one.at("time_s").at("value").get<double>();
    EXPECT_NEAR(forecast.at("time_s").at("value").get<double>() / seconds, 1, 1e-9);
    EXPECT_EQ(forecast.at("host_adds_s").at("value"), 0);
    EXPECT_LT(forecast.at("time_s").at("low"), forecast.at("time_s").at("value"));
}

TEST_F(Published, WhatTheMethodCannotForecastIsNamed) {
    // vit_b_32 has attention and layer norms, which no row is of.
    const Ran ran = run_joulecast("predict vit_b_32 --device cpu-synthetic --set batch=1 --predictor " +
                                  file("thesis.jcp") + " --format json");
    EXPECT_EQ(ran.status, 3) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("have no forecast by the method thesis (aten::"));
    const json forecast = json::parse(ran.out).at("predictions").at(0);
    EXPECT_GT(forecast.at("unknown_nodes"), 0);
    EXPECT_TRUE(forecast.at("lower_bound"));
    const Ran one = run_joulecast(
        "predict --operation 'aten::softmax.int(self=f32[64,1000], dim=-1)' --device "
        "cpu-synthetic --predictor " +
        file("thesis.jcp"));
    EXPECT_EQ(one.status, 1);
    EXPECT_THAT(one.err, HasSubstr("has no forecast for aten::softmax.int"));
}

TEST_F(Published, IsScoredAndRecommendsAsAnyOther) {
    const json scored = answer("validate --db " + file("m.db") + " --predictor " + file("thesis.jcp"));
    std::set<std::string> models;
    for (const json& line : scored.at("operations")) models.insert(line.at("model").get<std::string>());
    EXPECT_EQ(models, std::set<std::string>{"thesis_forest"});
    EXPECT_EQ(scored.at("networks").size(), 2U);
    const json recommended =
        answer("recommend resnet18 --device cpu-synthetic --set batch=2,4 --predictor " + file("thesis.jcp"));
    EXPECT_EQ(recommended.at("predictor_method"), "thesis");
    EXPECT_FALSE(recommended.at("answer").is_null());
}

TEST_F(Published, MethodHasNoLearnersNoOtherDevicesAndNoPlans) {
    const std::string train = "train --db " + file("m.db") + " -o " + file("p.jcp") + " --method thesis ";
    EXPECT_EQ(run_joulecast(train + "--learner knn").status, 2);
    EXPECT_EQ(run_joulecast(train + "--pooled-only").status, 2);
    EXPECT_EQ(run_joulecast(train + "--what-next 10m").status, 2);
    EXPECT_EQ(run_joulecast("train --db " + file("m.db") + " -o " + file("p.jcp") + " --method oracle").status, 2);
}

TEST_F(Published, LayersAreATableByMethodWithTheBestMarked) {
    const std::string study = "study layers --db " + file("m.db") + " --folds 2 --learner extra_trees --baselines " +
                              "thesis_forest,sponner_knn";
    const json found = answer(study);
    EXPECT_EQ(found.at("schema"), "joulecast.study/1");
    std::set<std::string> layers, methods;
    std::map<std::string, int> best;  // by layer and metric
    for (const json& line : found.at("results")) {
        layers.insert(line.at("layer").get<std::string>());
        methods.insert(line.at("method").get<std::string>());
        if (line.at("best_mape").get<bool>())
            ++best[line.at("layer").get<std::string>() + line.at("metric").get<std::string>()];
    }
    EXPECT_EQ(methods, (std::set<std::string>{"joulecast", "thesis_forest", "sponner_knn"}));
    EXPECT_TRUE(layers.contains("all"));
    EXPECT_TRUE(layers.contains("conv2d/depthwise"));
    for (const auto& [line, count] : best) EXPECT_EQ(count, 1) << line;
    const Ran table = run_joulecast(study);
    EXPECT_THAT(table.out, HasSubstr(" *"));
    EXPECT_THAT(run_joulecast(study + " --format csv").out, HasSubstr("device,math,mode,layer,metric,method,rows,"));
    EXPECT_EQ(run_joulecast("study layers --db " + file("m.db") + " --baselines lattuada").status, 2);
    EXPECT_EQ(run_joulecast("study layers --db " + file("m.db") + " --baselines oracle").status, 2);
}

TEST_F(Published, AugmentationComparesFeaturesWithAndWithout) {
    const json found = answer("study augmentation --db " + file("m.db") + " --folds 2");
    std::set<std::pair<std::string, std::string>> ways;
    for (const json& line : found.at("results")) {
        ways.emplace(line.at("features").get<std::string>(), line.at("training").get<std::string>());
        EXPECT_GT(line.at("training_rows"), 0) << line;
    }
    EXPECT_EQ(ways.size(), 2U);  // every operation is of a measured network, so there are no variants
    EXPECT_THAT(found.at("notes").get<std::string>(), HasSubstr("there are no augmentation rows"));
}

TEST_F(Published, DatasetSizeGoesByFamily) {
    const std::string study = "study dataset-size --steps 2 --folds 2 --db " + file("m.db");
    std::set<std::string> families;
    const json by_family = answer(study + " --by family");
    for (const json& line : by_family.at("results")) families.insert(line.at("family").get<std::string>());
    EXPECT_TRUE(families.contains("convolution"));
    const json together = answer(study);
    for (const json& line : together.at("results")) EXPECT_EQ(line.at("family"), "all");
    EXPECT_EQ(run_joulecast("study learners --db " + file("m.db") + " --by family").status, 2);
}

}  // namespace
}  // namespace joulecast
