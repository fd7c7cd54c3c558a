#include "joulecast/fleet/journal.h"

#include <sstream>

#include <gtest/gtest.h>

namespace joulecast {
namespace {

Journal journal(const std::string& text) {
    std::istringstream input(text);
    return read_journal(input);
}

TEST(Journal, ReadsWhatTasksWrite) {
    const Journal read = journal(
        "2026-01-02T03:04:05Z started job=12_7 node=n1 restart=0 card=n1/GPU-1 : \n"
        "2026-01-02T03:05:05Z failed job=12_7 node=n2 restart=3 card=n2 : no space = left: sorry\n");
    ASSERT_EQ(read.lines.size(), 2u);
    EXPECT_EQ(read.lines[0].event, "started");
    EXPECT_EQ(read.lines[0].job, "12_7");
    EXPECT_EQ(read.lines[0].card, "n1/GPU-1");
    EXPECT_EQ(read.lines[0].text, "");
    EXPECT_EQ(read.lines[1].node, "n2");
    EXPECT_EQ(read.lines[1].restart, 3);
    EXPECT_EQ(read.lines[1].text, "no space = left: sorry");
    EXPECT_EQ(read.unreadable, 0u);
}

TEST(Journal, CountsLinesThatAreNoneOfOurs) {
    const Journal read = journal(
        "\n2026-01-02T03:04:05Z exploded job=1_1 node=n1 restart=0 : \n"
        "yesterday started job=1_1 node=n1 restart=0 : \n"
        "2026-01-02T03:04:05Z started job=1_1 node=n1 restart=-1 : \n"
        "2026-01-02T03:04:05Z started job=1_1 restart=0 : \n"
        "2026-01-02T03:04:05Z star");
    EXPECT_TRUE(read.lines.empty());
    EXPECT_EQ(read.unreadable, 6u);
}

TEST(Journal, LetsNoTextSteerATerminal) {
    const Journal read = journal("2026-01-02T03:04:05Z failed job=1_1 node=\x1b[2J restart=0 : a\x1b[31mb\n");
    ASSERT_EQ(read.lines.size(), 1u);
    EXPECT_EQ(read.lines[0].node, "?[2J");
    EXPECT_EQ(read.lines[0].text, "a?[31mb");
}

TEST(Journal, EndsWithTheTaskThatTookTheShard) {
    const Journal read = journal(
        "2026-01-02T03:04:05Z finished job=1_1 node=n1 restart=0 : \n"
        "2026-01-02T03:04:06Z skipped job=2_1 node=n2 restart=0 : job 1_1 measures it\n"
        "2026-01-02T03:04:07Z marked job=2_1 node=n2 restart=0 : no energy\n");
    ASSERT_NE(last_standing(read), nullptr);
    EXPECT_EQ(last_standing(read)->event, "finished");
    EXPECT_EQ(last_standing(journal("")), nullptr);
}

TEST(Journal, ShowsHowFarClocksOfNodesLieApart) {
    // Written in this order: n2's clock is 119 s behind n1's or more.
    EXPECT_EQ(clock_difference_s(journal("2026-01-02T03:04:00Z started job=1_1 node=n1 restart=0 : \n"
                                         "2026-01-02T03:02:01Z started job=1_1 node=n2 restart=1 : \n"
                                         "2026-01-02T03:02:02Z finished job=1_1 node=n2 restart=1 : \n")),
              119);
    EXPECT_EQ(clock_difference_s(journal("2026-01-02T03:04:00Z started job=1_1 node=n1 restart=0 : \n"
                                         "2026-01-02T03:05:00Z finished job=1_1 node=n1 restart=0 : \n")),
              0);
}

}  // namespace
}  // namespace joulecast
