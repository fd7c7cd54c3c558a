#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::read_file;
using testing::run_joulecast;
using testing::run_shell;
using ::testing::StartsWith;
using testing::TemporaryFolder;
using testing::write_file;

/// A meter that tells 30 W for an hour.
class MeasureCommand : public ::testing::Test {
  protected:
    MeasureCommand() {
        std::string trace = "time_s,power_w\n";
        for (int second = 0; second < 3600; second += 10) trace += std::to_string(second) + ",30\n";
        write_file(folder.file("trace.csv"), trace);
    }
    std::string meter() const { return " --meter replay:" + folder.file("trace.csv") + " "; }

    const TemporaryFolder folder;
};

TEST_F(MeasureCommand, EnergyIsPowerTimesTimeAndNothingIsAboveIdleWhenPowerIsTheSame) {
    const auto ran = run_joulecast("measure --idle 0.1s --repeat 2 --format json" + meter() + "-- sleep 0.1");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(json.at("schema"), "joulecast.measure/1");
    EXPECT_EQ(json.at("command"), nlohmann::json({"sleep", "0.1"}));
    const auto line = json.at("meters").at(0);
    EXPECT_EQ(line.at("runs"), 2);
    const double time_s = line.at("time_s");
    EXPECT_GE(time_s, 0.1);
    EXPECT_NEAR(line.at("energy_j"), 30 * time_s, 1e-6 * time_s);
    EXPECT_NEAR(line.at("dynamic_energy_j"), 0, 1e-6);
    EXPECT_NEAR(line.at("power_w"), 30, 1e-6);
    EXPECT_NEAR(line.at("idle_power_w"), 30, 1e-6);
    EXPECT_FALSE(line.at("energy_half_width_j").is_null());
    EXPECT_EQ(json.at("runs").size(), 2U);
    EXPECT_EQ(json.at("runs").at(1).at("energy_j").size(), 1U);
}

TEST_F(MeasureCommand, ACommandsOwnOutputAndStatusPassThrough) {
    const auto ran = run_shell("echo in | $JOULECAST measure --idle 0 --meter none -o " + folder.file("out") +
                               " -- sh -c 'cat; exit 7'");
    EXPECT_EQ(ran.status, 7);
    EXPECT_EQ(ran.out, "in\n");
    EXPECT_THAT(read_file(folder.file("out")), HasSubstr("status"));
}

TEST_F(MeasureCommand, WordsOfTheCommandAreLeftAsTheyAre) {
    const auto ran = run_joulecast("measure --idle 0 --meter none -- printf '<%s>' '[a,b]' -- --meter ++ 'c d' ''");
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, StartsWith("<[a,b]><--><--meter><++><c d><>"));
}

TEST_F(MeasureCommand, AFailedRunIsTheLast) {
    const auto ran =
        run_joulecast("measure --idle 0 --meter none --repeat 3 -- sh -c 'echo x >>" + folder.file("n") + "; exit 3'");
    EXPECT_EQ(ran.status, 3);
    EXPECT_EQ(read_file(folder.file("n")), "x\n");
}

TEST_F(MeasureCommand, EnergyThatNoMeterTellsIsUnknownAndHasItsReason) {
    const std::string missing = " --meter replay:" + folder.file("nothing") + " ";
    const auto ran = run_joulecast("measure --idle 0 --format json" + missing + "-- true");
    EXPECT_EQ(ran.status, 3);
    EXPECT_THAT(ran.err, HasSubstr("no energy"));
    const auto line = nlohmann::json::parse(ran.out).at("meters").at(0);
    EXPECT_TRUE(line.at("energy_j").is_null());
    EXPECT_FALSE(line.at("time_s").is_null());
    EXPECT_GT(line.at("peak_rss_bytes"), 0);
    EXPECT_THAT(line.at("energy_missing_reason"), Not(""));
}

TEST_F(MeasureCommand, RequiredEnergyThatCannotBeMeasuredRunsNothing) {
    const auto ran = run_joulecast("measure --idle 0 --require-energy --meter replay:" + folder.file("nothing") +
                                   " -- touch " + folder.file("ran"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_FALSE(std::filesystem::exists(folder.file("ran")));
}

TEST_F(MeasureCommand, OneMeterThatIsMissingLeavesTheOther) {
    const auto ran = run_joulecast("measure --idle 0 --format json" + meter() +
                                   "--meter replay:" + folder.file("nothing") + " -- true");
    EXPECT_EQ(ran.status, 3);
    const auto meters = nlohmann::json::parse(ran.out).at("meters");
    ASSERT_EQ(meters.size(), 2U);
    EXPECT_FALSE(meters.at(0).at("energy_j").is_null());
    EXPECT_TRUE(meters.at(1).at("energy_j").is_null());
}

TEST_F(MeasureCommand, AnInterruptEndsTheCommandAndKeepsWhatWasMeasured) {
    const auto ran = run_joulecast("measure --idle 0 --format json" + meter() +
                                   "-- sh -c 'kill -INT $PPID; while :; do sleep 0.01; done'");
    EXPECT_EQ(ran.status, 130);
    const auto json = nlohmann::json::parse(ran.out);
    EXPECT_EQ(json.at("interrupted"), true);
    EXPECT_EQ(json.at("runs").at(0).at("status"), 128 + SIGINT);
    EXPECT_FALSE(json.at("meters").at(0).at("time_s").is_null());
}

TEST_F(MeasureCommand, TheTraceCanBeReplayed) {
    const std::string trace = folder.file("power.csv");
    const auto ran = run_joulecast("measure --idle 0.2s" + meter() + "--trace " + trace + " -- sleep 0.2");
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(read_file(trace), StartsWith("time_s,run,meter,power_w\n-0."));
    EXPECT_THAT(read_file(trace), HasSubstr(",1,replay:"));
    const auto again = run_joulecast("measure --idle 0 --format json --meter replay:" + trace + " -- sleep 0.1");
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_NEAR(nlohmann::json::parse(again.out).at("meters").at(0).at("power_w"), 30, 1e-6);
}

TEST_F(MeasureCommand, APictureHoldsItsLibraryAndIsRefusedWithoutIt) {
    write_file(folder.file("plotly.min.js"), "/*the library*/");
    const std::string words = " measure --idle 0" + meter() + "--picture " + folder.file("p.html") + " -- true";
    EXPECT_EQ(run_shell("JOULECAST_HOME=" + folder.path().string() + " $JOULECAST" + words).status, 0);
    EXPECT_THAT(read_file(folder.file("p.html")), HasSubstr("/*the library*/"));
    const auto refused = run_shell("JOULECAST_HOME=" + folder.file("empty") + " $JOULECAST" + words);
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, HasSubstr("plotly.min.js"));
    EXPECT_THAT(refused.out, HasSubstr("replay"));  // the numbers are there all the same
}

TEST_F(MeasureCommand, WrongUsageIsNamed) {
    EXPECT_EQ(run_joulecast("measure").status, 2);
    EXPECT_EQ(run_joulecast("measure --meter volt -- true").status, 2);
    EXPECT_EQ(run_joulecast("measure --idle long -- true").status, 2);
    const auto missing = run_joulecast("measure --idle 0 --meter none -- no-such-program");
    EXPECT_EQ(missing.status, 1);
    EXPECT_THAT(missing.err, HasSubstr("no-such-program"));
}

}  // namespace
}  // namespace joulecast
