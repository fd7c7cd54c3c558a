#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using testing::run_joulecast;

TEST(Devices, ThisMachineComesFirstInEveryFormat) {
    const auto json = nlohmann::json::parse(run_joulecast("devices --format json").out);
    EXPECT_EQ(json.at("schema"), "joulecast.devices/1");
    const auto& device = json.at("devices").at(0);
    EXPECT_EQ(device.at("kind"), "cpu");
    EXPECT_THAT(run_joulecast("devices").out, HasSubstr(device.at("id").get<std::string>()));
    EXPECT_THAT(run_joulecast("devices --format csv").out, HasSubstr(device.at("id").get<std::string>()));
}

TEST(Devices, CpuNamesThisMachineAndShowsItsSource) {
    const auto ran = run_joulecast("devices cpu");
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("read from /proc and /sys"));
}

TEST(Devices, ShowEveryFigureWithItsSourceInEveryFormat) {
    const auto text = run_joulecast("devices a30");
    EXPECT_EQ(text.status, 0);
    EXPECT_THAT(text.out, HasSubstr("165 W"));
    EXPECT_THAT(text.out, HasSubstr("NVIDIA A30 data sheet"));
    const auto json = nlohmann::json::parse(run_joulecast("devices a30 --format json").out);
    const auto& device = json.at("devices").at(0);
    EXPECT_EQ(device.at("peak_flop_per_s_tf32"), 8.25e13);
    EXPECT_EQ(device.at("tdp_w"), 165);
    EXPECT_TRUE(device.at("idle_w").is_null());
    EXPECT_THAT(device.at("sources").at("tdp_w").get<std::string>(), HasSubstr("NVIDIA A30"));
    EXPECT_THAT(run_joulecast("devices a30 --format csv").out, HasSubstr("tdp_w,165,W,"));
}

TEST(Devices, AreFoundByOtherNamesAndTheChoiceIsPrinted) {
    const auto ran = run_joulecast("devices h100 --format json");
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.err, HasSubstr("h100 is h100-sxm, NVIDIA H100 80GB HBM3"));
    EXPECT_EQ(nlohmann::json::parse(ran.out).at("devices").at(0).at("id"), "h100-sxm");
}

TEST(Devices, AnUnknownIdIsWrongUsageAndListsThoseNearIt) {
    const auto ran = run_joulecast("devices h1000");
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("no device is called 'h1000'. Near it: "));
    EXPECT_THAT(ran.err, HasSubstr("h100-sxm"));
}

/// Figures made up.
constexpr const char* abacus = R"({"schema": "joulecast.device/1", "id": "abacus-9", "kind": "gpu", "units": 12,
    "tdp_w": 77, "sources": [{"text": "scratched into the frame"}]})";

TEST(Devices, ADataSheetOfOnesOwnIsShownAddedAndFound) {
    const testing::TemporaryFolder folder;
    testing::write_file(folder.path() / "mine.json", abacus);
    const auto shown = run_joulecast("devices '" + folder.file("mine.json") + "'");
    EXPECT_EQ(shown.status, 0);
    EXPECT_THAT(shown.out, HasSubstr("scratched into the frame"));
    const std::string with_folder = "JOULECAST_DEVICES='" + folder.file("own") + "' \"$JOULECAST\" ";
    EXPECT_EQ(testing::run_shell(with_folder + "devices abacus-9").status, 2);
    const auto added = testing::run_shell(with_folder + "devices --add '" + folder.file("mine.json") + "'");
    EXPECT_EQ(added.status, 0) << added.err;
    const auto found = testing::run_shell(with_folder + "devices Abacus_9 --format json");
    EXPECT_EQ(nlohmann::json::parse(found.out).at("devices").at(0).at("tdp_w"), 77);
    EXPECT_THAT(testing::run_shell(with_folder + "devices").out, HasSubstr(folder.file("own")));
}

// The sheet was copied over the one before: a full disk cost both.
TEST(Devices, ASheetThatCannotBeWrittenLeavesTheOneBefore) {
    const testing::TemporaryFolder folder;
    testing::write_file(folder.path() / "small.json", abacus);
    std::string large = abacus;
    large.insert(1, R"("note": ")" + std::string(900, 'x') + R"(", "name": ")" + std::string(900, 'y') + R"(", )");
    testing::write_file(folder.path() / "large.json", large);
    const std::string add = "JOULECAST_DEVICES='" + folder.file("own") + "' \"$JOULECAST\" devices --add ";
    ASSERT_EQ(testing::run_shell(add + folder.file("small.json")).status, 0);
    // At most one block to a file: 512 or 1024 bytes.
    const auto ran = testing::run_shell("trap '' XFSZ; ulimit -f 1; " + add + folder.file("large.json"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("cannot write "));
    EXPECT_EQ(testing::read_file(folder.path() / "own" / "abacus-9.json"), abacus);
    const std::filesystem::directory_iterator own(folder.path() / "own");
    EXPECT_EQ(std::distance(begin(own), end(own)), 1);
}

TEST(Devices, AFileThatIsNoDataSheetIsNotAdded) {
    const testing::TemporaryFolder folder;
    testing::write_file(folder.path() / "bad.json", R"({"schema": "joulecast.device/1", "id": "x", "kind": "gpu"})");
    const auto ran = testing::run_shell("JOULECAST_DEVICES='" + folder.file("own") +
                                        "' \"$JOULECAST\" devices --add '" + folder.file("bad.json") + "'");
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("bad.json: \"sources\""));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "own"));
}

}  // namespace
}  // namespace joulecast
