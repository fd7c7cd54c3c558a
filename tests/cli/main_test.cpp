#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
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
    EXPECT_EQ(run_joulecast("-V").out, ran.out);
}

TEST(Program, AMisspeltVerbIsNamedWithThoseNearIt) {
    const auto misspelt = run_joulecast("predcit resnet50 --device a100");
    EXPECT_EQ(misspelt.status, 2);
    EXPECT_THAT(misspelt.err, StartsWith("joulecast: there is no verb 'predcit'. Did you mean predict?\n"));
    const auto network = run_joulecast("resnet50");
    EXPECT_EQ(network.status, 2);
    EXPECT_THAT(network.err, HasSubstr("it is a network: joulecast predict resnet50 --device ID"));
}

TEST(Program, HelpAloneListsItsTopics) {
    const auto ran = run_joulecast("help");
    EXPECT_EQ(ran.status, 0) << ran.err;
    for (const char* topic : {"\n  predict ", "\n  networks ", "\n  exporting ", "\n  boards "})
        EXPECT_THAT(ran.out, HasSubstr(topic));
}

TEST(Program, HelpHasOptionsBeforeProseInTheWidthOfTheTerminal) {
    for (const std::string width : {"80", "64"}) {
        const auto ran = run_shell("COLUMNS=" + width + " \"$JOULECAST\" help recommend");
        EXPECT_LT(ran.out.find("--max-slowdown"), ran.out.find("# joulecast recommend")) << width;
        std::istringstream lines(ran.out.substr(ran.out.find("# joulecast recommend")));
        for (std::string line; std::getline(lines, line);) {
            const bool is_prose = !line.starts_with("    ") && !line.starts_with('|') && !line.starts_with('#');
            if (!is_prose) continue;
            EXPECT_LE(line.size(), std::stoul(width)) << line;
        }
    }
}

TEST(Program, PrintsAManPageOfAllGuides) {
    const auto ran = run_joulecast("help --man");
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out, StartsWith(".TH joulecast 1 "));
    for (const char* verb : {".SH \"joulecast predict ", ".SH \"joulecast compare "})
        EXPECT_THAT(ran.out, HasSubstr(verb));
    EXPECT_EQ(run_joulecast("help predict --man").status, 2);
}

TEST(Program, ItsCompletionIsAScriptThatTheShellTakes) {
    EXPECT_EQ(run_joulecast("completion csh").status, 2);
    const TemporaryFolder folder;
    const std::string script = folder.file("joulecast.bash");
    ASSERT_EQ(run_shell("\"$JOULECAST\" completion bash > " + script).status, 0);
    const auto completes = [&](const std::string& words, int at) {
        return run_shell("bash -c 'source " + script + "; COMP_WORDS=(" + words +
                         "); COMP_CWORD=" + std::to_string(at) + "; _joulecast; echo ${COMPREPLY[@]}'")
            .out;
    };
    EXPECT_EQ(completes("joulecast recom", 1), "recommend\n");
    EXPECT_EQ(completes("joulecast predict resnet50 --device a100-40g-p", 4), "a100-40g-pcie\n");
    EXPECT_EQ(completes("joulecast predict --mod", 2), "--mode\n");
    EXPECT_EQ(completes("joulecast fleet sta", 2), "status\n");
    EXPECT_EQ(completes("joulecast fleet plan --parti", 3), "--partition\n");
    EXPECT_EQ(completes("joulecast predict --format j", 3), "json\n");
    EXPECT_THAT(run_joulecast("completion fish").out,
                HasSubstr("__fish_seen_subcommand_from predict' -l device -x -a '"));
    EXPECT_THAT(run_joulecast("completion zsh").out, StartsWith("autoload -U +X bashcompinit"));
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
    EXPECT_LT(std::ranges::count(ran.out, '\n'), 80) << "the prose belongs into joulecast help predict";
}

TEST(Program, HelpPrintsTheGuideOfAVerbOrTopic) {
    EXPECT_THAT(run_joulecast("help diff").out, HasSubstr("# joulecast diff A B"));
    EXPECT_THAT(run_joulecast("help exporting").out, HasSubstr("torch.export"));
    EXPECT_THAT(run_joulecast("help boards").out, HasSubstr("joulecast pack-worker"));
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

TEST(Output, AFilesNameDecidesTheFormat) {
    const TemporaryFolder folder;
    const auto write = [&](const std::string& file, const std::string& more) {
        return run_joulecast("devices a30 -o " + folder.file(file) + more);
    };
    EXPECT_EQ(write("a.json", "").status, 0);
    EXPECT_THAT(testing::read_file(folder.path() / "a.json"), StartsWith("{"));
    EXPECT_EQ(write("a.csv", " --format csv").status, 0);
    EXPECT_EQ(write("a.txt", " --format csv").status, 0);
    for (const auto& [file, more] : {std::pair("b.json", " --format csv"), std::pair("b.csv", " --format table"),
                                     std::pair("b.html", ""), std::pair("b.pdf", " --format json")}) {
        const auto refused = write(file, more);
        EXPECT_EQ(refused.status, 2) << file;
        EXPECT_THAT(refused.err, HasSubstr(file));
        EXPECT_FALSE(std::filesystem::exists(folder.file(file)));
    }
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
