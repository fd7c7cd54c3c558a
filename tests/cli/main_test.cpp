#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::run_joulecast;
using testing::run_shell;
using ::testing::StartsWith;
using testing::TemporaryFolder;

TEST(Program, WithoutArgumentsShowsThePipelineAndEveryVerb) {
    const auto ran = run_joulecast("");
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("model file --> graph --> profile"));
    for (const char* verb : {"devices", "doctor"}) EXPECT_THAT(ran.out, HasSubstr(verb));
}

TEST(Program, SaysItsVersion) {
    const auto ran = run_joulecast("--version");
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.out, "joulecast " JOULECAST_VERSION "\n");
}

TEST(Program, WrongUsageEndsWithTwoAndNamesTheHelp) {
    const auto unknown_verb = run_joulecast("frobnicate");
    EXPECT_EQ(unknown_verb.status, 2);
    EXPECT_THAT(unknown_verb.err, StartsWith("joulecast: "));
    EXPECT_THAT(unknown_verb.out, IsEmpty());

    const auto unknown_option = run_joulecast("devices --no-such-option");
    EXPECT_EQ(unknown_option.status, 2);
    EXPECT_THAT(unknown_option.err, HasSubstr("See: joulecast devices --help"));

    EXPECT_EQ(run_joulecast("devices --format yaml").status, 2);
}

TEST(Program, HelpListsTheVerbsInGroups) {
    const auto ran = run_joulecast("--help");
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("Usage: joulecast VERB"));
    EXPECT_THAT(ran.out, HasSubstr("\nForecast:\n  predict "));
    EXPECT_THAT(ran.out, HasSubstr("\nMeasure:\n  profile "));
}

TEST(Program, HelpOfAVerbGivesUsageExamplesAndOptionsInGroups) {
    const auto ran = run_joulecast("predict --help");
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("Usage: joulecast predict MODEL... --device ID"));
    EXPECT_THAT(ran.out, HasSubstr("\nExamples:\n  joulecast predict "));
    EXPECT_THAT(ran.out, HasSubstr("\nDevice:\n  --device ID"));
    EXPECT_THAT(ran.out, HasSubstr("\nOutput:\n"));
    EXPECT_THAT(ran.out, HasSubstr("joulecast help predict"));
    EXPECT_LT(std::ranges::count(ran.out, '\n'), 60) << "the prose belongs into joulecast help predict";
}

TEST(Program, HelpPrintsTheGuideOfAVerbOrTopic) {
    EXPECT_THAT(run_joulecast("help diff").out, HasSubstr("# joulecast diff A B"));
    EXPECT_THAT(run_joulecast("help exporting").out, HasSubstr("torch.export"));
    const auto unknown = run_joulecast("help cooking");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.err, HasSubstr("no guide on cooking"));
}

TEST(Output, AFullDiskIsAnErrorNotASilentLoss) {
    const auto ran = run_joulecast("devices > /dev/full");
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("cannot write standard output: No space left on device"));

    const auto into_file = run_joulecast("devices -o /dev/full");
    EXPECT_EQ(into_file.status, 1);
    EXPECT_THAT(into_file.err, HasSubstr("cannot write /dev/full: No space left on device"));
}

TEST(Output, AFailedWriteLeavesThePreviousResultAlone) {
    const TemporaryFolder folder;
    testing::write_file(folder.path() / "devices.csv", "previous\n");
    // No file may grow here, so the write fails (with an error, since SIGXFSZ is ignored).
    const auto ran = run_shell("trap '' XFSZ; ulimit -f 0; \"$JOULECAST\" devices --format csv -o " +
                               folder.file("devices.csv") + " 2>/dev/null");
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(testing::read_file(folder.path() / "devices.csv"), "previous\n");
}

TEST(Output, GoesToTheFileAskedFor) {
    const TemporaryFolder folder;
    const auto ran = run_joulecast("devices --format csv -o " + folder.file("devices.csv"));
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(testing::read_file(folder.path() / "devices.csv"), StartsWith("id,name,kind,"));
}

TEST(Output, AClosedPipeEndsTheProgramQuietly) {
    const TemporaryFolder folder;
    // The reader closes its end, then lets the writer start.
    const auto ran = run_shell("cd " + folder.path().string() +
                               " && mkfifo go && { read line < go; \"$JOULECAST\" devices; echo $? >&2; } | "
                               "{ exec <&-; echo go > go; }");
    EXPECT_EQ(ran.err, "141\n");  // 128 + SIGPIPE, as any filter
}

TEST(ShippedFolder, ZooIsFoundFromTheBuildTreeWhateverTheWorkingFolder) {
    const auto ran = run_shell("cd / && \"$JOULECAST\" doctor --format json");
    EXPECT_THAT(ran.out, HasSubstr(" networks, all open"));
}

}  // namespace
}  // namespace joulecast
