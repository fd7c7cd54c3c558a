#include "lab/verbs/seed_figures.h"

#include <gtest/gtest.h>

#include "tests/cli/run_command.h"

namespace joulecast::cli {
namespace {

TEST(SeedFigures, HaveAnEntryForEachCommandOfALine) {
    const auto figures = seed_figures(
        "## First\n\n| | |\n|---|---|\n| two columns | `joulecast info a.db` |\n\n## The paper\n\n"
        "| | what it shows | command |\n|---|---|---|\n"
        "| Figure 1 | a curve | `joulecast a`; as numbers (`x_s`): `joulecast-lab b`, in the same way |\n"
        "| Table 2 | numbers | not yet: nobody measured |\n");
    ASSERT_EQ(figures.size(), 3U);
    EXPECT_EQ(figures[0].paper, "The paper");
    EXPECT_EQ(figures[0].figure, "Figure 1");
    EXPECT_EQ(figures[0].shows, "a curve");
    EXPECT_EQ(figures[0].command, "joulecast a");
    EXPECT_EQ(figures[0].note, "");
    EXPECT_EQ(figures[1].figure, "Figure 1");
    EXPECT_EQ(figures[1].command, "joulecast-lab b");
    EXPECT_EQ(figures[1].note, "as numbers (`x_s`); in the same way");
    EXPECT_EQ(figures[2].command, "");
    EXPECT_EQ(figures[2].note, "not yet: nobody measured");
}

TEST(SeedFigures, OfATextWithoutTablesAreNone) {
    EXPECT_TRUE(seed_figures("").empty());
    EXPECT_TRUE(seed_figures("# Title\n\n| | |\n|---|---|\n| a | `joulecast b` |\n").empty());
    EXPECT_TRUE(seed_figures("| unfinished").empty());
}

}  // namespace
}  // namespace joulecast::cli
