#include "cli/prose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joulecast::cli {
namespace {

using ::testing::HasSubstr;

TEST(Wrapped, BreaksBetweenWordsAndIndentsWhatFollows) {
    EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
    EXPECT_EQ(wrapped("one two three", 7, "  "), "one two\n  three");
    EXPECT_EQ(wrapped("incomprehensible is", 5), "incomprehensible\nis");
    EXPECT_EQ(wrapped("one two", 9, "", 4), "one\ntwo") << "the first line begins at column 4";
    EXPECT_EQ(wrapped("µµ µµ", 5), "µµ µµ") << "by columns, not bytes";
    EXPECT_EQ(wrapped("is 90 % of", 5), "is\n90 %\nof") << "a number and its % stay together";
    EXPECT_EQ(wrapped("", 5), "");
}

TEST(WrappedGuide, LeavesCommandsAndTablesAlone) {
    EXPECT_EQ(wrapped_guide("# Title that is long\n\na b\nc d\n\n    a command that is long\n\n| a | table that is "
                            "|\n- an item\n  of two\n",
                            10),
              "# Title that is long\n\na b c d\n\n    a command that is long\n\n| a | table that is |\n- an item\n  of "
              "two\n");
}

TEST(ManPage, EscapesWhatTroffWouldRead) {
    const std::string page =
        as_man_page("# joulecast x\n\nUse `--set`.\n.not a request\n\n## Part\n\n    x --y \\z\n\n- one\n");
    EXPECT_THAT(page, HasSubstr(".SH \"joulecast x\"\n"));
    EXPECT_THAT(page, HasSubstr("Use \\fB\\-\\-set\\fR."));
    EXPECT_THAT(page, HasSubstr(".SS \"Part\"\n"));
    EXPECT_THAT(page, HasSubstr(".nf\n    x \\-\\-y \\ez\n"));
    EXPECT_THAT(page, HasSubstr(".IP \\(bu 2\none\n"));
    EXPECT_THAT(as_man_page(".TH is a word\n"), HasSubstr("\\&.TH is a word"));
}

}  // namespace
}  // namespace joulecast::cli
