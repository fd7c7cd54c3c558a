#include "joulecast/worker/supervision/child_process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

namespace joulecast {
namespace {

using std::chrono::milliseconds;
using Ending = ChildProcess::Ending;

constexpr milliseconds long_enough{20'000};

TEST(ChildProcess, AnswersLineByLine) {
    ChildProcess child("cat");
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
    ChildProcess child("cat");
    const auto reply = child.exchange(line, long_enough);
    EXPECT_EQ(reply.ending, Ending::line);
    EXPECT_EQ(reply.line.size(), line.size());
}

TEST(ChildProcess, SilenceIsATimeout) {
    ChildProcess child("exec sleep 1000");
    EXPECT_EQ(child.exchange("hello", milliseconds(50)).ending, Ending::timeout);
    EXPECT_EQ(child.stop(), "signal 9 (Killed)");
}

TEST(ChildProcess, WritingToADeadProcessIsNoSignalToUs) {
    ChildProcess child("exit 3");
    const auto reply = child.exchange(std::string(1'000'000, 'x'), long_enough);
    EXPECT_EQ(reply.ending, Ending::closed);
    EXPECT_EQ(child.stop(), "exit status 3");
}

TEST(ChildProcess, KeepsTheEndOfStandardError) {
    ChildProcess child("yes long | head -c 100000 >&2; echo last words >&2; read line");
    EXPECT_EQ(child.exchange("", long_enough).ending, Ending::closed);
    const std::string tail = child.error_tail();
    EXPECT_LE(tail.size(), 4096U);
    EXPECT_TRUE(tail.ends_with("last words\n")) << tail;
}

TEST(ChildProcess, ACommandThatCannotBeFoundEndsWith127) {
    ChildProcess child("/no/such/program");
    EXPECT_EQ(child.exchange("hello", long_enough).ending, Ending::closed);
    EXPECT_EQ(child.stop(), "exit status 127");
    EXPECT_NE(child.error_tail().find("not found"), std::string::npos) << child.error_tail();
}

TEST(ChildProcess, GrandchildrenDieWithIt) {
    pid_t grandchild = 0;
    {
        ChildProcess child("sleep 1000 & echo $!; wait");
        grandchild = std::stoi(child.exchange("", long_enough).line);
        EXPECT_EQ(::kill(grandchild, 0), 0);
    }
    // Reaped by init some time after; a zombie can still be signalled, so ask what it is.
    const std::string state =
        "/bin/sh -c 'cat /proc/" + std::to_string(grandchild) + "/stat 2>/dev/null || echo x x Z'";
    ChildProcess look(state + "; cat");
    const std::string line = look.exchange("", long_enough).line;
    EXPECT_EQ(line.find(") S"), std::string::npos) << line;
}

}  // namespace
}  // namespace joulecast
