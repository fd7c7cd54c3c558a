// Predictors of the two papers, as a user asks for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/metered_database.h"
#include "tests/cli/run_command.h"
#include "tests/cli/suite_folder.h"

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
        testing::write_metered_database(file("m.db"));
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

}  // namespace
}  // namespace joulecast
