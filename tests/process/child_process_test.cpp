#include "joulecast/process/child_process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstddef>
#include <string>

namespace joulecast {
namespace {

using std::chrono::milliseconds;
using Ending = ChildProcess::Ending;

constexpr milliseconds long_enough{20'000};
constexpr std::size_t line_limit = std::size_t{64} << 20;

TEST(ChildProcess, AnswersLineByLine) {
    ChildProcess child("cat", line_limit);
    for (const std::string line : {"one", "two"}) {
        const auto reply = child.exchange(line, long_enough);
        EXPECT_EQ(reply.ending, Ending::line);
        EXPECT_EQ(reply.line, line);
    }
    EXPECT_EQ(child.finish(long_enough), 0);
}

TEST(ChildProcess, LinesLargerThanAPipeGoThroughInBothDirections) {
    // A pipe holds 64 KiB: writing all before reading any would stop both sides for ever.
    const std::string line(3'000'000, 'x');
    ChildProcess child("cat", line_limit);
    const auto reply = child.exchange(line, long_enough);
    EXPECT_EQ(reply.ending, Ending::line);
    EXPECT_EQ(reply.line.size(), line.size());
}

TEST(ChildProcess, ReadsWhatAProcessSaysUnasked) {
    ChildProcess child("printf 'one\\n\\nthree\\nhalf a li'", line_limit);
    for (const std::string line : {"one", "", "three"}) {
        const auto reply = child.next_line(long_enough);
        EXPECT_EQ(reply.ending, Ending::line);
        EXPECT_EQ(reply.line, line);
    }
    EXPECT_EQ(child.next_line(long_enough).ending, Ending::closed);
    EXPECT_EQ(child.next_line(long_enough).ending, Ending::closed);
}

TEST(ChildProcess, WithoutATimeoutOnlyWhatHasAlreadyComeIsRead) {
    ChildProcess child("read line; echo one; echo two; read line", line_limit);
    EXPECT_EQ(child.next_line(milliseconds(0)).ending, Ending::timeout);
    EXPECT_EQ(child.exchange("", long_enough).line, "one");
    EXPECT_EQ(child.next_line(long_enough).line, "two");
    EXPECT_EQ(child.next_line(milliseconds(0)).ending, Ending::timeout);
}

TEST(ChildProcess, ALineBeyondTheLimitIsCutAndCalledTooLong) {
    ChildProcess child("echo 123456789; echo 12345678", 8);
    const auto longer = child.next_line(long_enough);
    EXPECT_EQ(longer.ending, Ending::too_long);
    EXPECT_EQ(longer.line, "12345678");
    const auto just_fits = child.next_line(long_enough);
    EXPECT_EQ(just_fits.ending, Ending::line);
    EXPECT_EQ(just_fits.line, "12345678");
}

TEST(ChildProcess, SilenceIsATimeout) {
    ChildProcess child("exec sleep 1000", line_limit);
    EXPECT_EQ(child.exchange("hello", milliseconds(50)).ending, Ending::timeout);
    EXPECT_EQ(child.stop(), "signal 9 (Killed)");
}

TEST(ChildProcess, IsClosedWhenItEndsThoughAGrandchildHoldsItsOutput) {
    ChildProcess child("sleep 100 & echo one; exit 3", line_limit);
    EXPECT_EQ(child.next_line(long_enough).line, "one");
    EXPECT_EQ(child.next_line(long_enough).ending, Ending::closed);
    EXPECT_EQ(child.stop(), "exit status 3");
}

TEST(ChildProcess, WritingToADeadProcessIsNoSignalToUs) {
    ChildProcess child("exit 3", line_limit);
    const auto reply = child.exchange(std::string(1'000'000, 'x'), long_enough);
    EXPECT_EQ(reply.ending, Ending::closed);
    EXPECT_EQ(child.stop(), "exit status 3");
}

TEST(ChildProcess, KeepsTheEndOfStandardError) {
    ChildProcess child("yes long | head -c 100000 >&2; echo last words >&2; read line", line_limit);
    EXPECT_EQ(child.exchange("", long_enough).ending, Ending::closed);
    const std::string tail = child.error_tail();
    EXPECT_LE(tail.size(), 4096U);
    EXPECT_TRUE(tail.ends_with("last words\n")) << tail;
}

TEST(ChildProcess, ACommandThatCannotBeFoundEndsWith127) {
    ChildProcess child("/no/such/program", line_limit);
    EXPECT_EQ(child.exchange("hello", long_enough).ending, Ending::closed);
    EXPECT_EQ(child.stop(), "exit status 127");
    EXPECT_NE(child.error_tail().find("not found"), std::string::npos) << child.error_tail();
}

TEST(ChildProcess, GrandchildrenDieWithIt) {
    pid_t grandchild = 0;
    {
        ChildProcess child("sleep 1000 & echo $!; wait", line_limit);
        grandchild = std::stoi(child.exchange("", long_enough).line);
        EXPECT_EQ(::kill(grandchild, 0), 0);
    }
    // Reaped by init some time after; a zombie can still be signalled, so ask what it is.
    const std::string state =
        "/bin/sh -c 'cat /proc/" + std::to_string(grandchild) + "/stat 2>/dev/null || echo x x Z'";
    ChildProcess look(state + "; cat", line_limit);
    const std::string line = look.exchange("", long_enough).line;
    EXPECT_EQ(line.find(") S"), std::string::npos) << line;
}

}  // namespace
}  // namespace joulecast
