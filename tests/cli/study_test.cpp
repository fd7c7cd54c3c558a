#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using testing::read_file;
using testing::run_joulecast;
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
    const auto ran = run_joulecast("study proportionality --format json" + worker);
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
    const auto ran = run_shell("JOULECAST_HOME=" + folder.path().string() + " $JOULECAST study proportionality --csv " +
                               folder.file("p.csv") + " --picture " + folder.file("p.html") + worker);
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(read_file(folder.file("p.csv")), StartsWith("calls,runtime_s,fitted_s,residual_s,sigmas\n1,1.01e-05,"));
    EXPECT_THAT(read_file(folder.file("p.html")), HasSubstr("Runtime against number of calls"));
}

TEST(StudyProportionality, AWorkerThatRefusesIsAnErrorWithItsReason) {
    const auto ran = run_joulecast("study proportionality 'fake::refuse(self=f32[1])'" + worker);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("no such device"));
}

TEST(StudyStartup, TakesARecordedTraceApart) {
    const TemporaryFolder folder;
    write_file(folder.file("log.csv"), power_log());
    const auto ran = run_joulecast("study startup --format json --power-log " + folder.file("log.csv") + " --csv " +
                                   folder.file("points.csv"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_NEAR(json.at("steady_w"), 100.5, 0.1);
    ASSERT_EQ(json.at("runs").size(), 4U);
    for (const auto& run : json.at("runs")) EXPECT_NEAR(run.at("settled_after_s"), 0.5, 0.01);
    EXPECT_THAT(read_file(folder.file("points.csv")), HasSubstr("\n2,150,1,0\n"));
    EXPECT_THAT(read_file(folder.file("points.csv")), StartsWith("time_s,power_w,run,run_time_s\n0,10,0,\n"));
}

TEST(StudyStartup, TracesRestsAndRunsOfAWorker) {
    const TemporaryFolder folder;
    write_file(folder.file("flat.csv"), "time_s,power_w\n0,30\n100,30\n");
    const auto ran = run_joulecast("study startup --runs 2 --run 0.05s --rest 0.05s --format json --csv " +
                                   folder.file("points.csv") + " --meter replay:" + folder.file("flat.csv") + worker);
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(json.at("runs").size(), 2U);
    EXPECT_THAT(json.at("meter"), HasSubstr("replay"));
    EXPECT_THAT(read_file(folder.file("points.csv")), HasSubstr(",30,"));
}

TEST(StudyStartup, WithoutAMeterItSaysWhyNot) {
    const auto ran = run_joulecast("study startup --meter replay:/nowhere" + worker);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("no power can be traced"));
    EXPECT_THAT(ran.err, HasSubstr("--power-log"));
}

TEST(Study, OnlyWhatThereIsIsAccepted) {
    EXPECT_EQ(run_joulecast("study learners").status, 2);
    EXPECT_EQ(run_joulecast("study").status, 2);
}

}  // namespace
}  // namespace joulecast
