// A card with few measured operations starts from what the shipped predictor knows of others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Our own measurements of a GPU: 279 operations, with energy.
std::string database_of_h200(const TemporaryFolder& folder) {
    const std::string path = folder.file("h200.db");
    const auto ran = run_joulecast("import csv " JOULECAST_SOURCE_DIR "/datasets/h200.csv --db " + path);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return path;
}

TEST(TrainFromOthers, IsWhatAGpuWithFewOperationsDoes) {
    const TemporaryFolder folder;
    const std::string database = database_of_h200(folder), file = folder.file("mine.jcp");
    const auto ran = run_joulecast("train --db " + database + " -o " + file + " --format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto answer = nlohmann::json::parse(ran.out);
    EXPECT_TRUE(answer.at("devices").empty());
    ASSERT_EQ(answer.at("kept").size(), 2U);
    for (const auto& kept : answer.at("kept")) {
        EXPECT_EQ(kept.at("device"), "h200");
        EXPECT_LT(kept.at("error"), kept.at("error_of_own"));
    }
    EXPECT_EQ(answer["kept"][0]["operations"], 195);
    const auto text = run_joulecast("train --db " + database + " -o " + file).out;
    EXPECT_THAT(text, HasSubstr("195 operations are kept. Operations left out are"));
    EXPECT_THAT(text, Not(HasSubstr("learner"))) << "a table without lines";
    EXPECT_THAT(run_joulecast("info " + file).out, HasSubstr("195 measured operations"));
    EXPECT_THAT(run_joulecast("info " + file).out, HasSubstr("neusight: MIT"));
    const auto validated = run_joulecast("validate --db " + database + " --predictor " + file + " --format json");
    ASSERT_EQ(validated.status, 0) << validated.err;
}

TEST(TrainFromOthers, TellsWhatWasMeasuredAndNarrowsTheRest) {
    const TemporaryFolder folder;
    const std::string database = database_of_h200(folder), file = folder.file("mine.jcp");
    ASSERT_EQ(run_joulecast("train --db " + database + " -o " + file).status, 0);
    const std::string asked = "predict resnet50 --device h200 --precision bf16 --set batch=128 --format json";
    const auto told = nlohmann::json::parse(run_joulecast(asked + " --predictor " + file).out)["predictions"][0];
    const auto by_sheet = nlohmann::json::parse(
        run_joulecast(asked + " --predictor " JOULECAST_SOURCE_DIR "/predictors/nvidia.jcp").out)["predictions"][0];
    EXPECT_GT(told["evidence_share"]["measured"], 0.9);
    EXPECT_EQ(by_sheet["evidence_share"].value("measured", 0.0), 0.0);
    const auto width = [](const nlohmann::json& forecast) {
        return forecast["time_s"]["high"].get<double>() / forecast["time_s"]["low"].get<double>();
    };
    EXPECT_LT(width(told), 0.8 * width(by_sheet));
    // Measured by plain PyTorch: 13.25 ms (datasets/h200-plain-torch.csv).
    EXPECT_NEAR(told["time_s"]["value"].get<double>(), 13.25e-3, 0.05 * 13.25e-3);
    EXPECT_THAT(run_joulecast("predict resnet50 --device h200 --predictor " + file).out +
                    run_joulecast("predict resnet50 --device h200 --predictor " + file).err,
                HasSubstr("measured operations and its data sheet"));
    // With a database of the card beside it, which has the same operations.
    EXPECT_EQ(run_joulecast(asked + " --predictor " + file + " --db " + database).status, 0);
    // Others start from the same models.
    EXPECT_EQ(run_joulecast("predict resnet50 --device rtx4090 --predictor " + file).status, 0);
}

TEST(TrainFromOthers, IsNotDoneWhereItIsToldSoNorFromAnythingElseThanAModelOverDevices) {
    const TemporaryFolder folder;
    const std::string database = database_of_h200(folder), file = folder.file("mine.jcp");
    const std::string train = "train --db " + database + " -o " + file;
    const auto own = nlohmann::json::parse(run_joulecast(train + " --start-from none --format json").out);
    EXPECT_TRUE(own.at("kept").empty());
    EXPECT_EQ(own.at("devices").size(), 2U);
    const auto named = nlohmann::json::parse(run_joulecast(train + " --learner extra_trees --format json").out);
    EXPECT_TRUE(named.at("kept").empty());
    const auto of_cpu = run_joulecast(train + " --start-from " JOULECAST_SOURCE_DIR "/predictors/cpu-amd-epyc-2c.jcp");
    EXPECT_EQ(of_cpu.status, 2);
    EXPECT_THAT(of_cpu.err, HasSubstr("has no model over devices"));
    EXPECT_EQ(run_joulecast(train + " --start-from " + folder.file("nothing.jcp")).status, 1);
}

}  // namespace
}  // namespace joulecast::testing
