#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <span>
#include <sstream>

#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string predictor = std::string(" --predictor ") + JOULECAST_SOURCE_DIR + "/tests/model/data/version_1.jcp ";

/// The answers to some lines; each must be a line of JSON.
std::vector<json> answers(const std::string& lines, const std::string& options = "--device cpu-synthetic",
                          int status = 0) {
    const Ran ran = run_joulecast("predict --stdin " + options + predictor, lines);
    EXPECT_EQ(ran.status, status) << ran.err;
    std::vector<json> all;
    std::istringstream out(ran.out);
    for (std::string line; std::getline(out, line);) all.push_back(json::parse(line));
    return all;
}

TEST(PredictStdin, AnswersWhatPredictSays) {
    const auto said = answers(R"({"id":"x","model":"resnet18","symbols":{"batch":4},"mode":"training","host":"cpp"})"
                              "\n");
    ASSERT_EQ(said.size(), 1U);
    const Ran ran = run_joulecast(
        "predict resnet18 --device cpu-synthetic --set batch=4 --mode training --host cpp --format json" + predictor);
    json expected = json::parse(ran.out)["predictions"][0];
    expected["id"] = "x";
    EXPECT_EQ(said[0], expected);
}

TEST(PredictStdin, AnswersEveryLineInOrderAndEchoesIds) {
    const auto said = answers(
        "{\"id\":1,\"model\":\"alexnet\"}\n\n"
        "{\"id\":2,\"model\":\"alexnet\"}\r\n"
        "{\"model\":\"alexnet\",\"operations\":false}");
    ASSERT_EQ(said.size(), 3U);
    EXPECT_EQ(said[0]["id"], 1);
    EXPECT_EQ(said[1]["id"], 2);
    EXPECT_TRUE(said[2]["id"].is_null());
    EXPECT_EQ(said[0]["time_s"], said[1]["time_s"]);  // forecast once, kept
    EXPECT_EQ(said[0]["time_s"], said[2]["time_s"]);
    EXPECT_FALSE(said[0]["operations"].empty());
    EXPECT_FALSE(said[2].contains("operations"));
}

TEST(PredictStdin, GoesOnAfterWhatItCannotAnswer) {
    const auto said = answers(
        "nonsense\n"
        "{\"id\":\"a\",\"model\":\"no_such_network\"}\n"
        "{\"id\":\"b\",\"model\":\"alexnet\",\"symbols\":{\"colour\":3}}\n"
        "{\"id\":\"c\",\"model\":\"alexnet\",\"device\":\"h200\"}\n"
        "{\"id\":\"d\",\"model\":\"alexnet\",\"precision\":\"fp7\"}\n" +
        std::string((std::size_t{16} << 20U) + 10, 'x') +
        "\n"
        "{\"id\":\"e\",\"model\":\"alexnet\"}\n");
    ASSERT_EQ(said.size(), 7U);
    EXPECT_THAT(said[0]["error"].get<std::string>(), HasSubstr("one JSON object"));
    EXPECT_EQ(said[1]["id"], "a");
    EXPECT_THAT(said[1]["error"].get<std::string>(), HasSubstr("no_such_network"));
    EXPECT_THAT(said[2]["error"].get<std::string>(), HasSubstr("colour"));
    EXPECT_THAT(said[3]["error"].get<std::string>(), HasSubstr("h200"));
    EXPECT_THAT(said[4]["error"].get<std::string>(), HasSubstr("fp7"));
    EXPECT_THAT(said[5]["error"].get<std::string>(), HasSubstr("longer than 16 MB"));
    EXPECT_EQ(said[6]["id"], "e");
    EXPECT_GT(said[6]["time_s"]["value"], 0);
}

TEST(PredictStdin, TakesAGraphInTheRequest) {
    const auto said =
        answers(R"j({"graph":{"schema":"joulecast.graph/1","name":"two","has_edges":false,"symbols":{"batch":2},)j"
                R"j("nodes":[{"operation":"aten::relu(self=f32[batch,64])","count":3}]},"symbols":{"batch":4}})j");
    ASSERT_EQ(said.size(), 1U);
    EXPECT_EQ(said[0]["model"], "two");
    EXPECT_EQ(said[0]["operations"][0]["signature"], "aten::relu(self=f32[4,64])");
    EXPECT_EQ(said[0]["operations"][0]["count"], 3);
}

/// What predict says with such options, as the answer to a request is written.
json predicted(const std::string& options) {
    const Ran ran = run_joulecast("predict --format json " + options);
    EXPECT_EQ(ran.status, 0) << ran.err;
    json one = json::parse(ran.out)["predictions"][0];
    one["id"] = nullptr;
    return one;
}

std::vector<json> shipped_answers(const std::string& lines) {
    const Ran ran = run_joulecast("predict --stdin --device a100", lines);
    std::vector<json> all;
    std::istringstream out(ran.out);
    for (std::string line; std::getline(out, line);) all.push_back(json::parse(line));
    return all;
}

TEST(PredictStdin, AsksForClocksAndLimitsAsPredictDoes) {
    auto said = shipped_answers(R"({"model":"resnet18","symbols":{"batch":8},"clock_mhz":900})"
                                "\n"
                                R"({"model":"resnet18","symbols":{"batch":8},"device":"a100@900","power_limit_w":160})"
                                "\n"
                                R"({"model":"resnet18","device":"a100@900","clock_mhz":900})"
                                "\n"
                                R"({"model":"resnet18","clock_mhz":9000})"
                                "\n");
    ASSERT_EQ(said.size(), 4U);
    for (const json& one : std::span(said).first(2))
        EXPECT_FALSE(one.contains("notes")) << "the choice of the predictor stands in the forecast";
    EXPECT_EQ(said[0], predicted("resnet18 --set batch=8 --device a100@900"));
    EXPECT_EQ(said[1], predicted("resnet18 --set batch=8 --device a100@900 --power-limits 160"));
    EXPECT_THAT(said[2]["error"].get<std::string>(), HasSubstr("give it once"));
    EXPECT_EQ(said[2]["status"], 2);
    EXPECT_THAT(said[3]["error"].get<std::string>(), HasSubstr("210 to 1410 MHz"));
}

TEST(PredictStdin, ForecastsTrainingStepsAsAsked) {
    const auto said =
        shipped_answers(R"({"model":"resnet18","mode":"training","operations":false})"
                        "\n"
                        R"({"model":"resnet18","mode":"training","optimizer":"adam","operations":false})"
                        "\n"
                        R"({"model":"resnet18","mode":"training","optimizer":"adam","accumulate":3,"operations":false})"
                        "\n"
                        R"({"model":"resnet18","optimizer":"adam"})"
                        "\n");
    ASSERT_EQ(said.size(), 4U);
    const auto seconds = [&](std::size_t i) { return said[i]["time_s"]["value"].get<double>(); };
    EXPECT_GT(seconds(1), seconds(0));
    EXPECT_GT(seconds(2), 2 * seconds(0) + seconds(1));  // gradients are added, too
    EXPECT_THAT(said[3]["error"].get<std::string>(), HasSubstr("checkpointing need training"));
}

TEST(PredictStdin, SaysThatPartsAreUnknownAndRefusesThemWhenStrict) {
    const std::string line =
        R"j({"graph":{"schema":"joulecast.graph/1","has_edges":false,"nodes":[{"operation":"my::op(x=f32[8])"}]}})j";
    const auto said = answers(line, "--device cpu-synthetic", 3);
    EXPECT_EQ(said.at(0)["unknown_nodes"], 1);
    const auto strict = answers(line, "--device cpu-synthetic --strict", 0);
    EXPECT_THAT(strict.at(0)["error"].get<std::string>(), HasSubstr("my::op"));
}

TEST(PredictStdin, NeedsADeviceFromSomewhere) {
    const auto said = answers("{\"model\":\"alexnet\"}\n{\"model\":\"alexnet\",\"device\":\"cpu-synthetic\"}\n", "");
    ASSERT_EQ(said.size(), 2U);
    EXPECT_THAT(said[0]["error"].get<std::string>(), HasSubstr("\"device\" is missing"));
    EXPECT_GT(said[1]["time_s"]["value"], 0);
}

TEST(PredictStdin, ReadsAFileAnewOnceItWasWrittenAnew) {
    const TemporaryFolder folder;
    const std::string file = folder.file("net.graph.json");
    const auto write = [&](const std::string& count) {
        write_file(file, R"j({"schema":"joulecast.graph/1","has_edges":false,"nodes":[{"operation":)j"
                         R"j("aten::relu(self=f32[64])","count":)j" +
                             count + "}]}");
    };
    write("3");
    // The shell asks, waits for the answer, lets the file change, and asks again.
    const std::string ask = "'{\"model\":\"" + file + "\"}'";
    const Ran ran = run_shell("cd " + folder.path().string() +
                              " && mkfifo in out && { $JOULECAST predict --stdin "
                              "--device cpu-synthetic" +
                              predictor + " <in >out & exec 3>in 4<out; echo " + ask +
                              " >&3; read -r first <&4; sed -i s/:3}/:40}/ " + file + "; echo " + ask +
                              " >&3; read -r second <&4; exec 3>&-; echo \"$first\"; echo \"$second\"; }");
    std::istringstream out(ran.out);
    std::string first, second;
    std::getline(out, first);
    std::getline(out, second);
    ASSERT_FALSE(second.empty()) << ran.err;
    EXPECT_EQ(json::parse(first)["operations"][0]["count"], 3);
    EXPECT_EQ(json::parse(second)["operations"][0]["count"], 40);
}

TEST(PredictStdin, TakesNoOptionThatRequestsHave) {
    EXPECT_EQ(run_joulecast("predict resnet18 --stdin --device cpu" + predictor).status, 2);
    EXPECT_EQ(run_joulecast("predict --stdin --mode training --device cpu" + predictor).status, 2);
    EXPECT_EQ(run_joulecast("predict --stdin --format csv --device cpu" + predictor).status, 2);
    EXPECT_EQ(run_joulecast("predict --stdin --device cpu --device a30" + predictor).status, 2);
    EXPECT_EQ(run_joulecast("predict --device cpu" + predictor).status, 2);
    EXPECT_EQ(run_joulecast("predict resnet18" + predictor).status, 2);
}

}  // namespace
}  // namespace joulecast::testing
