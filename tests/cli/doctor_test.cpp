#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using testing::run_joulecast;
using testing::run_shell;
using testing::TemporaryFolder;

nlohmann::json finding(const nlohmann::json& report, const std::string& part) {
    for (const auto& entry : report.at("findings")) {
        if (entry.at("part") == part) return entry;
    }
    return {};
}

TEST(Doctor, NamesEveryPartItsStateAndWhatToDo) {
    const auto report = nlohmann::json::parse(run_joulecast("doctor --format json").out);
    EXPECT_EQ(report.at("schema"), "joulecast.doctor/1");
    for (const char* part :
         {"zoo", "predictors", "dataset", "torch worker", "energy meter", "meter rapl", "meter hwmon", "meter nvml",
          "meter nvidia-smi", "clock governor", "GPU driver", "GPU clocks"}) {
        const auto entry = finding(report, part);
        ASSERT_FALSE(entry.is_null()) << part;
        EXPECT_NE(entry.at("found"), "") << part;
        EXPECT_EQ(entry.at("state") == "works", entry.at("what_to_do") == "") << part;
    }
}

TEST(Doctor, AMissingZooFailsAndSaysHowToFindIt) {
    const TemporaryFolder empty;
    const auto ran = run_shell("JOULECAST_HOME=" + empty.path().string() + " \"$JOULECAST\" doctor --format json");
    EXPECT_EQ(ran.status, 1);
    const auto entry = finding(nlohmann::json::parse(ran.out), "zoo");
    EXPECT_EQ(entry.at("state"), "missing");
    EXPECT_THAT(entry.at("what_to_do").get<std::string>(), HasSubstr("JOULECAST_HOME"));
}

TEST(Doctor, AWorkerThatCannotSayHelloIsReportedWithItsReason) {
    const auto ran = run_joulecast("doctor --worker 'echo no such library >&2; exit 127' --format json");
    const auto entry = finding(nlohmann::json::parse(ran.out), "torch worker");
    EXPECT_EQ(entry.at("state"), "broken");
    EXPECT_THAT(entry.at("found").get<std::string>(), HasSubstr("no such library"));
}

}  // namespace
}  // namespace joulecast
