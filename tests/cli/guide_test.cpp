#include "cli/guide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace joulecast::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(SplitGuide, TakesTheTitleTheFirstParagraphAndTheExamples) {
    const Guide guide = split_guide(
        "# joulecast verb FILE\n\nDoes this\nand that.\n\nExamples:\n\n    joulecast verb a\n    joulecast verb b\n\n"
        "More, as in a plan:\n\n    not = an example\n");
    EXPECT_EQ(guide.title, "joulecast verb FILE");
    EXPECT_EQ(guide.summary, "Does this and that.");
    EXPECT_THAT(guide.examples, ElementsAre("joulecast verb a", "joulecast verb b"));
}

TEST(SplitGuide, ASingleParagraphIsAllSummary) {
    const Guide guide = split_guide("Only this.");
    EXPECT_EQ(guide.title, "");
    EXPECT_EQ(guide.summary, "Only this.");
    EXPECT_THAT(guide.examples, IsEmpty());
}

TEST(SplitGuide, ATitleAloneLeavesNothing) {
    EXPECT_EQ(split_guide("# title").summary, "");
    EXPECT_EQ(split_guide("").summary, "");
}

TEST(VerbHelp, GivesUsageThreeExamplesAndOptionsInTheirGroups) {
    CLI::App app("", "verb");
    std::string file;
    std::string mode = "slow";
    app.option_defaults()->group("Input");
    app.add_option("--in", file, "what to read")->type_name("FILE")->required();
    app.option_defaults()->group("Pace");
    app.add_option("--mode", mode, "how to go")->check(CLI::IsMember({"slow", "fast"}))->capture_default_str();
    app.formatter(std::make_shared<VerbHelp>(
        Guide{"joulecast verb A | --in FILE", "Does this.", {"verb 1", "verb 2", "verb 3", "verb 4"}}));
    const std::string help = app.help("joulecast");
    EXPECT_THAT(help, HasSubstr("Does this.\n\nUsage: joulecast verb A\n       joulecast verb --in FILE\n"));
    EXPECT_THAT(help, HasSubstr("\nExamples:\n  verb 1\n  verb 2\n  verb 3\n\n"));
    EXPECT_THAT(help, HasSubstr("\nInput:\n  --in FILE                     what to read (required)\n"));
    EXPECT_THAT(help, HasSubstr("\nPace:\n  --mode slow|fast              how to go [slow]\n"));
    EXPECT_THAT(help, HasSubstr("joulecast help verb"));
    EXPECT_THAT(help, Not(HasSubstr("OPTIONS")));
}

TEST(VerbHelp, ListsThePartsOfAVerbAndNamesItsGuideInTheirs) {
    CLI::App program("", "joulecast");
    CLI::App* const verb = program.add_subcommand("fleet", "");
    verb->formatter(std::make_shared<VerbHelp>(Guide{"joulecast fleet plan | status", "Does this.", {}}));
    CLI::App* const part = verb->add_subcommand("plan", "writes it");
    EXPECT_THAT(verb->help("joulecast"), HasSubstr("\n  plan                          writes it\n"));
    EXPECT_THAT(verb->help("joulecast"), HasSubstr("More: joulecast help fleet\n"));
    EXPECT_THAT(part->help("joulecast fleet"), HasSubstr("       joulecast fleet status\n"));
    EXPECT_THAT(part->help("joulecast fleet"), HasSubstr("More: joulecast help fleet\n"));
}

}  // namespace
}  // namespace joulecast::cli
