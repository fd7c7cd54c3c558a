// joulecast-lab as a whole, and command lines of joulecast that it takes over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Ran;
using testing::run_joulecast;
using testing::run_laboratory;
using testing::run_shell;
using ::testing::StartsWith;
using testing::TemporaryFolder;
using testing::write_file;

TEST(Laboratory, HelpListsItsVerbs) {
    const Ran ran = run_laboratory("--help");
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.out, HasSubstr("Usage: joulecast-lab VERB"));
    for (const char* verb : {"import", "baselines", "figures", "validate", "study", "help"})
        EXPECT_THAT(ran.out, HasSubstr(std::string("\n  ") + verb + "  "));
    EXPECT_THAT(ran.out, Not(HasSubstr("\n  predict ")));
}

TEST(Laboratory, SaysItsVersion) {
    EXPECT_EQ(run_laboratory("--version").out, "joulecast-lab " JOULECAST_VERSION "\n");
}

TEST(Laboratory, WrongUsageEndsWithTwoAndNamesTheHelp) {
    EXPECT_EQ(run_laboratory("predict resnet18").status, 2);
    const Ran ran = run_laboratory("baselines --no-such-option");
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, StartsWith("joulecast-lab: "));
    EXPECT_THAT(ran.err, HasSubstr("See: joulecast-lab baselines --help"));
}

TEST(Laboratory, HelpOfAVerbAndItsGuideAreItsOwn) {
    const Ran help = run_laboratory("validate --help");
    EXPECT_THAT(help.out, HasSubstr("Usage: joulecast-lab validate --db FILE"));
    EXPECT_THAT(help.out, HasSubstr("--baselines"));
    EXPECT_THAT(help.out, HasSubstr("--predictions"));
    EXPECT_THAT(help.out, HasSubstr("More: joulecast-lab help validate"));
    EXPECT_THAT(run_laboratory("help study").out, HasSubstr("# joulecast-lab study"));
    EXPECT_THAT(run_laboratory("help seeds").out, HasSubstr("# The two papers"));
    const Ran unknown = run_laboratory("help predict");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.err, HasSubstr("no guide on predict"));
}

// Scripts were written when joulecast did all this.
TEST(Laboratory, TakesOverWhatJoulecastUsedToDo) {
    const TemporaryFolder folder;
    write_file(folder.file("t.csv"), "split,op,device,latency_ms,batch,hidden\ntrain,add,T4,0.1,3,5\n");
    const std::string import = "import neusight " + folder.file("t.csv") + " --format csv --db " + folder.file("a.db");
    const Ran imported = run_joulecast(import);
    EXPECT_EQ(imported.status, 0) << imported.err;
    EXPECT_THAT(imported.out, StartsWith("file,rows,used,added,dropped,"));
    EXPECT_THAT(imported.out, HasSubstr("t.csv,1,1,1,0,"));
    EXPECT_EQ(run_joulecast("study --help").out, run_laboratory("study --help").out);
    EXPECT_EQ(run_joulecast("help study").out, run_laboratory("help study").out);
    const Ran study = run_joulecast("study learners");
    EXPECT_EQ(study.status, 2);
    EXPECT_THAT(study.out, IsEmpty());
    EXPECT_THAT(study.err, HasSubstr("--db FILE"));
    const Ran unknown = run_joulecast("validate --db " + folder.file("a.db") + " --baselines oracle");
    EXPECT_EQ(unknown.status, 2);
    EXPECT_THAT(unknown.err, HasSubstr("unknown baseline oracle"));
}

TEST(Laboratory, HandsOverWordsAsTheyAre) {
    const TemporaryFolder folder;
    // A program in its place that prints its words.
    write_file(folder.path() / "joulecast-lab", "#!/bin/sh\nprintf '%s|' \"$@\"\nexit 7\n");
    const Ran ran = run_shell("cd " + folder.path().string() +
                              " && cp \"$JOULECAST\" joulecast && chmod +x joulecast-lab && "
                              "./joulecast validate --db 'a b.db' --learner=knn '' '*'");
    EXPECT_EQ(ran.out, "validate|--db|a b.db|--learner=knn||*|");
    EXPECT_EQ(ran.status, 7);
}

TEST(Laboratory, WhereItIsMissingJoulecastSaysWhatToBuild) {
    const TemporaryFolder folder;
    const Ran ran =
        run_shell("cd " + folder.path().string() + " && cp \"$JOULECAST\" joulecast && ./joulecast study learners");
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.out, IsEmpty());
    EXPECT_THAT(ran.err, HasSubstr("joulecast-lab"));
    EXPECT_THAT(ran.err, HasSubstr("-DJOULECAST_LAB=ON"));
}

TEST(Laboratory, HasVanishedFromTheHelpOfJoulecast) {
    const std::string help = run_joulecast("--help").out;
    EXPECT_THAT(help, Not(HasSubstr("\n  study ")));
    EXPECT_THAT(help, HasSubstr("joulecast-lab --help"));
    EXPECT_THAT(run_joulecast("import --help").out, Not(HasSubstr("neusight")));
    EXPECT_THAT(run_joulecast("validate --help").out, Not(HasSubstr("--baselines")));
}

}  // namespace
}  // namespace joulecast
