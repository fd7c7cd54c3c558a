// docs/seeds.md promises a command for every table and figure of two papers: each must still be one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/journeys/pretended.h"

namespace joulecast {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace joulecast::testing;

/// What stands between backticks and begins with the program's name.
std::vector<std::string> commands_of(const std::string& page) {
    const std::string text = read_file(JOULECAST_SOURCE_DIR "/docs/" + page);
    const std::string start = "`joulecast";
    std::vector<std::string> commands;
    for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1))
        commands.push_back(text.substr(at + 1, text.find('`', at + 1) - at - 1));
    return commands;
}

/// So that nothing is measured on the machine that tests: profile plans only, and studies of a device find no worker.
std::string without_measuring(std::string command) {
    const std::string board = "ssh board joulecast-torch";
    if (const auto at = command.find(board); at != std::string::npos) command.replace(at, board.size(), "false");
    const std::string verb = command.substr(command.find(' ') + 1);
    if (verb.starts_with("profile ")) return command + " --dry-run";
    if (verb.starts_with("study proportionality") || verb.starts_with("study startup"))
        return command + " --worker false";
    return command;
}

TEST(Seeds, EveryCommandOfThePageIsOne) {
    const auto commands = commands_of("seeds.md");
    EXPECT_GT(commands.size(), 40u);
    const TemporaryFolder folder;
    // Their files are not there, and most end with that: status 1. Wrong usage is status 2.
    for (const std::string& command : commands) {
        const bool is_of_laboratory = command.starts_with("joulecast-lab ");
        if (is_of_laboratory && !HAS_LABORATORY) continue;  // it was not built
        const Ran ran =
            run_shell("cd '" + folder.path().string() + "' && ln -sfn '" JOULECAST_SOURCE_DIR "/plans' plans && " +
                      (is_of_laboratory ? "\"$JOULECAST_LAB\" " : "\"$JOULECAST\" ") +
                      without_measuring(command).substr(command.find(' ') + 1));
        EXPECT_TRUE(ran.status == 0 || ran.status == 1) << command << ": " << ran.status << '\n' << ran.err;
    }
}

TEST(Seeds, AnOptionThatIsGoneIsWrongUsage) {
    EXPECT_EQ(run_joulecast("validate --db a.db --gone").status, 2);
    EXPECT_EQ(run_joulecast("profile " JOULECAST_SOURCE_DIR "/plans/thesis.plan --db a.db --gone --dry-run").status, 2);
}

TEST(Seeds, ThePlanOfTheThesisFitsItsCard) {
    const TemporaryFolder folder;
    const std::string plan =
        "profile " JOULECAST_SOURCE_DIR "/plans/thesis.plan --dry-run --format json --db " + folder.file("a.db");
    const Ran ran = run_joulecast(plan + " --device a30");
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("the plan sets the clock of a30: 6 settings"));
    int networks = 0;
    const auto planned = nlohmann::json::parse(ran.out);
    for (const auto& one : planned.at("plan")) networks += one.at("kind") == "network" ? 1 : 0;
    EXPECT_EQ(networks, 18 * 2 * 2 * 6);  // modes, precisions, clocks
}

TEST(Seeds, ThePlanOfTheThesisNamesTheNearestClockOfAnotherCard) {
    const TemporaryFolder folder;
    const std::string plan =
        "profile " JOULECAST_SOURCE_DIR "/plans/thesis.plan --dry-run --db " + folder.file("a.db") + on("pretend-a");
    const Ran refused = run_joulecast(plan);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("pretend-a has no 210 MHz"), HasSubstr("the nearest is 300")));
    const Ran ran = run_joulecast(plan + "--clocks 300,600,900,1200,1450");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("to measure, about"));
}

}  // namespace
}  // namespace joulecast
