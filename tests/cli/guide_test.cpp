#include "cli/guide.h"

#include <gtest/gtest.h>

namespace joulecast::cli {
namespace {

TEST(SplitGuide, TakesTheTitleOffAndTheFirstParagraphOut) {
    const Guide guide = split_guide("# joulecast verb\n\nDoes this\nand that.\n\nMore.\n\n    example\n");
    EXPECT_EQ(guide.summary, "Does this and that.");
    EXPECT_EQ(guide.body, "More.\n\n    example");
}

TEST(SplitGuide, ASingleParagraphIsAllSummary) {
    const Guide guide = split_guide("Only this.");
    EXPECT_EQ(guide.summary, "Only this.");
    EXPECT_EQ(guide.body, "");
}

TEST(SplitGuide, ATitleAloneLeavesNothing) {
    EXPECT_EQ(split_guide("# title").summary, "");
    EXPECT_EQ(split_guide("").summary, "");
}

}  // namespace
}  // namespace joulecast::cli
