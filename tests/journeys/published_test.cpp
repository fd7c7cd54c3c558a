// The thesis' predictor, from measurements of a pretended card to forecasts held to its truth.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/journeys/pretended.h"

namespace joulecast {
namespace {

using namespace joulecast::testing;
using nlohmann::json;
using ::testing::HasSubstr;

json answer_of(const std::string& command) {
    const Ran ran = run_joulecast(command + " --format json");
    EXPECT_EQ(ran.status, 0) << ran.err;
    return json::parse(ran.out);
}

TEST(JourneyOfThePapers, TheThesisForestForecastsTheNetworksThatItLearntAtEachOfTheirClocks) {
    const TemporaryFolder folder;
    const std::string database = folder.file("m.db"), predictor = folder.file("thesis.jcp");
    const std::string networks = "resnet18 vgg11 --set batch=8 --networks --clocks 600,900,1200";
    profiled(networks + " --db " + database + on("pretend-a"));
    const Ran ran = run_joulecast("train --method thesis --db " + database + " -o " + predictor);
    ASSERT_EQ(ran.status, 0) << ran.err;
    const json scored = answer_of("validate --predictor " + predictor + " --db " + database);
    ASSERT_EQ(scored.at("networks").size(), 6U);
    // Their sums, without a correction.
    for (const json& network : scored.at("networks")) {
        EXPECT_LT(std::abs(network.at("error").get<double>()), 0.2) << network;          // 0.002 to 0.1
        EXPECT_LT(std::abs(network.at("power_error").get<double>()), 0.025) << network;  // 0.003 to 0.008
    }
    // Slower clocks take longer, and no clock is the forecast of another.
    const json forecasts = answer_of("predict resnet18 --device pretend-a --set batch=8 --clocks 600,900,1200 " +
                                     std::string("--predictor ") + predictor)
                               .at("predictions");
    ASSERT_EQ(forecasts.size(), 3U);
    EXPECT_GT(forecasts[0].at("time_s").at("value"), forecasts[1].at("time_s").at("value"));
    EXPECT_GT(forecasts[1].at("time_s").at("value"), forecasts[2].at("time_s").at("value"));
    const Ran limited = run_joulecast(
        "predict resnet18 --device pretend-a --set batch=8 --power-limits 200 "
        "--predictor " +
        predictor);
    EXPECT_EQ(limited.status, 2);
    EXPECT_THAT(limited.err, HasSubstr("has no power limits"));
    // Without the database: only clocks that the card has, of which three were measured.
    const json choice = answer_of("recommend resnet18 --device pretend-a --set batch=8 --predictor " + predictor);
    EXPECT_GT(choice.at("candidates").size(), 3U);
    for (const json& candidate : choice.at("candidates"))
        EXPECT_EQ(std::fmod(candidate.at("clock_mhz").get<double>(), 50), 0) << candidate;
}

TEST(JourneyOfThePapers, SponnersRegressionsForecastACardAtItsOwnClock) {
    const TemporaryFolder folder;
    const std::string database = folder.file("m.db"), predictor = folder.file("sponner.jcp");
    // Three rows of a layer type at least: two networks at two sizes have four of each.
    profiled("resnet18 vgg11 --set batch=4,8 --networks --db " + database + on("pretend-a"));
    const Ran ran = run_joulecast("train --method sponner --db " + database + " -o " + predictor);
    ASSERT_EQ(ran.status, 0) << ran.err;
    const json scored = answer_of("validate --predictor " + predictor + " --db " + database);
    ASSERT_EQ(scored.at("networks").size(), 4U);
    for (const json& network : scored.at("networks"))
        EXPECT_LT(std::abs(network.at("error").get<double>()), 0.16) << network;  // 0.006 to 0.074
    // A line may put the least of a layer type at zero or below: then that is named, and the status is 3.
    const Ran asked =
        run_joulecast("predict resnet18 --device pretend-a --set batch=8 --format json --predictor " + predictor);
    EXPECT_TRUE(asked.status == 0 || asked.status == 3) << asked.err;
    const json answer = json::parse(asked.out);
    const json& forecast = answer.at("predictions").at(0);
    EXPECT_EQ(forecast.at("predictor_method"), "sponner");
    EXPECT_EQ(asked.status == 3, !forecast.at("unknown_operations").empty());
    const Ran clocked =
        run_joulecast("predict resnet18 --device pretend-a --set batch=8 --clocks 900 --predictor " + predictor);
    EXPECT_EQ(clocked.status, 2);
    EXPECT_THAT(clocked.err, HasSubstr("has no clocks"));
}

}  // namespace
}  // namespace joulecast
