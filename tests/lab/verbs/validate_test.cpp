#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/run_command.h"
#include "tests/cli/suite_folder.h"
#include "tests/train/synthetic.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;

/// Three networks, their operations and their times.
class Comparison : public SuiteFolder<Comparison> {
  public:
    static void set_up_files() {
        Dataset dataset(file("three.db"));
        std::vector<Graph> graphs;
        for (const char* model : {"resnet18", "vgg11", "alexnet"}) graphs.push_back(synthetic_graph(model, 2));
        insert_synthetic(dataset, graphs);
    }
    static Ran validate(const std::string& options) {
        return run_laboratory("validate --db " + file("three.db") + " " + options);
    }
    static nlohmann::json answer(const std::string& options) {
        const Ran ran = validate(options + " --format json");
        EXPECT_EQ(ran.status, 0) << ran.err;
        return nlohmann::json::parse(ran.out, nullptr, false);
    }
    static std::set<std::string> models(const nlohmann::json& lines) {
        std::set<std::string> all;
        for (const auto& line : lines) all.insert(line["model"].get<std::string>());
        return all;
    }
};

TEST_F(Comparison, ComparesLearnersWithJoulecastsOwnChoice) {
    const auto ran = validate("--learner auto linear knn --folds 2 --format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    std::set<std::string> models;
    const auto answer =
        nlohmann::json::parse(ran.out);  // of a temporary, a reference would not outlive the loop's head
    for (const auto& line : answer["operations"]) models.insert(line["model"].get<std::string>());
    EXPECT_THAT(models, ::testing::UnorderedElementsAre("joulecast", "linear", "knn"));
}

TEST_F(Comparison, HasEveryPublishedMethodAndNamesThatOfWholeNetworks) {
    const auto found = answer("--baselines --folds 3 --predictions " + file("rows.csv"));
    EXPECT_THAT(models(found["operations"]),
                ::testing::IsSupersetOf({"joulecast", "roofline", "paleo", "thesis_forest", "sponner_best"}));
    EXPECT_THAT(models(found["without_forecast"]), ::testing::Contains("lattuada"));
    EXPECT_THAT(read_file(file("rows.csv")), HasSubstr("\nthesis_forest,time_s,"));
}

TEST_F(Comparison, ScoresMethodsOnNetworksThatAreLeftOut) {
    const auto found = answer("--split network --learner extra_trees --baselines roofline,lattuada");
    EXPECT_EQ(models(found["network_baselines"]), (std::set<std::string>{"lattuada", "roofline"}));
    EXPECT_EQ(found["network_baselines"].size(), 6U) << "three networks";
    for (const auto& line : found["network_baselines"]) {
        const bool is_told = line["model"] == "roofline";
        EXPECT_EQ(line["predicted_time_s"].is_number(), is_told);
        EXPECT_EQ(line["reason"].get<std::string>().empty(), is_told) << "lattuada needs five networks";
    }
    EXPECT_TRUE(found["without_forecast"].empty());
}

TEST_F(Comparison, LeavesOutliersOutOfTheTraining) {
    const Ran ran = validate("--folds 2 --learner decision_tree --outliers drop");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("training rows dropped"));
}

TEST_F(Comparison, RefusesWhatASplitHasNoUseFor) {
    // Each was taken and passed over.
    const auto learner = validate("--split clock --learner auto");
    EXPECT_EQ(learner.status, 2);
    EXPECT_THAT(learner.err, HasSubstr("it is for operation, network, "));
    const auto paleo = validate("--split clock --baselines thesis_forest,paleo");
    EXPECT_EQ(paleo.status, 2);
    EXPECT_THAT(paleo.err, HasSubstr("no baseline paleo, only thesis_forest"));
    for (const char* split : {"device", "clock"})
        EXPECT_EQ(validate(std::string("--outliers drop --split ") + split).status, 2);
    const auto unknown = validate("--baselines oracle");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.err, HasSubstr("unknown baseline oracle"));
    EXPECT_THAT(unknown.err, HasSubstr("habitat, lattuada."));
    EXPECT_EQ(validate("--split device --learner knn ridge").status, 2);
    EXPECT_EQ(validate("--predictor x.jcp --baselines").status, 2);
}

}  // namespace
}  // namespace joulecast::testing
