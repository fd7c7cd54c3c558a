// What a user does, on pretended cards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using namespace joulecast::testing;

std::string on(const std::string& device, const std::string& options = "--seed 1") {
    return " --device " + device + " --worker \"exec '" PRETEND "' " + options + "\" ";
}

nlohmann::json profiled(const std::string& arguments) {
    const Ran ran = run_joulecast("profile " + arguments + " --format json");
    EXPECT_EQ(ran.status, 0) << ran.err;
    return nlohmann::json::parse(ran.out);
}

TEST(PretendedJourney, TwoNetworksAtTwoClocksAndOnceMoreWithNothingLeft) {
    const TemporaryFolder folder;
    const std::string arguments = "alexnet mobilenet_v2 --mode inference,training --networks --clocks 900,1500 --db " +
                                  folder.file("a.db") + on("pretend-a");
    const auto first = profiled(arguments);
    EXPECT_GT(first.at("measured"), 100);
    EXPECT_EQ(first.at("measured"), first.at("wanted"));
    EXPECT_EQ(first.at("failed"), 0);
    const auto again = profiled(arguments);
    EXPECT_EQ(again.at("measured"), 0);
    EXPECT_EQ(again.at("already_measured"), first.at("wanted"));
}

TEST(PretendedJourney, TheWordPretendedIsShown) {
    const TemporaryFolder folder;
    const std::string db = folder.file("a.db");
    const Ran ran = run_joulecast("profile alexnet --db " + db + on("pretend-c"));
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("Pretended card C (no real hardware)"));
    EXPECT_THAT(run_joulecast("info " + db).out, HasSubstr("retend"));
}

TEST(PretendedJourney, PowerLimitsAreMet) {
    const TemporaryFolder folder;
    const std::string db = folder.file("a.db");
    profiled("--probe --power-limits 100,165 --db " + db + on("pretend-a", "--truth --seed 1"));
    EXPECT_THAT(run_joulecast("export --db " + db).out, HasSubstr("power_cap"));
}

TEST(PretendedJourney, ATrainedPredictorComesNearANetworkItHasNotSeen) {
    const TemporaryFolder folder;
    const std::string db = " --db " + folder.file("a.db"), predictor = folder.file("p.jcp");
    profiled("resnet18 alexnet --networks" + db + on("pretend-a"));
    EXPECT_EQ(run_joulecast("train" + db + " -o " + predictor).status, 0);
    const std::string truth = folder.file("truth.db");
    profiled("resnet34 --networks --no-operations --db " + truth + on("pretend-a", "--truth"));
    const Ran ran = run_joulecast("validate --db " + truth + " --predictor " + predictor + " --format json");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto forecast = nlohmann::json::parse(ran.out).at("networks").at(0);
    // Wide bounds: that the way from measuring to a forecast holds is tested, not how well the learners learn.
    EXPECT_LT(std::abs(forecast.at("error").get<double>()), 0.3);
    EXPECT_LT(std::abs(forecast.at("energy_error").get<double>()), 0.3);
}

TEST(PretendedJourney, ACpuHasNoClocksToSet) {
    const TemporaryFolder folder;
    const Ran ran = run_joulecast("profile alexnet --clocks 900 --db " + folder.file("a.db") + on("pretend-cpu"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("the pretended CPU sets its own clock"));
    EXPECT_GT(profiled("alexnet --networks --db " + folder.file("a.db") + on("pretend-cpu")).at("measured"), 10);
}

TEST(PretendedJourney, MishapsOnDemandBecomeRows) {
    const TemporaryFolder folder;
    const std::string db = " --db " + folder.file("a.db");
    const auto ran = profiled("alexnet" + db + on("pretend-a", "--fail crash:conv2d --fail out_of_memory:max_pool"));
    EXPECT_EQ(ran.at("failed"), 5 + 3);  // AlexNet has five convolutions and three pools, all different
    const Ran info = run_joulecast("info " + folder.file("a.db"));
    EXPECT_THAT(info.out, HasSubstr("crashed"));
    EXPECT_THAT(info.out, HasSubstr("out_of_memory"));
}

}  // namespace
}  // namespace joulecast
