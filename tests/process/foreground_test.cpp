#include "joulecast/process/foreground.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

ForegroundRun shell(const std::string& script) {
    return Foreground().run({"/bin/sh", "-c", script});
}

TEST(Foreground, TellsTheExitStatus) {
    EXPECT_EQ(shell("exit 0").status, 0);
    EXPECT_EQ(shell("exit 42").status, 42);
    EXPECT_EQ(shell("kill -KILL $$").status, 128 + SIGKILL);
}

TEST(Foreground, TellsTimeAndMemory) {
    const auto run = shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done");
    EXPECT_GT(run.end_s, run.start_s);
    EXPECT_GT(run.cpu_s, 0);
    EXPECT_LT(run.cpu_s, 60);
    EXPECT_GT(run.peak_rss_bytes, 1e5);
}

TEST(Foreground, HandsSignalsOn) {
    // The program signals us, its parent, and waits for what comes back.
    const auto handed_on = [](const std::string& name) {
        Foreground foreground;
        const auto run = foreground.run(
            {"/bin/sh", "-c", "trap 'exit 9' " + name + "; kill -" + name + " $PPID; while :; do sleep 0.01; done"});
        return std::pair(run.status, foreground.interrupted());
    };
    EXPECT_EQ(handed_on("TERM"), std::pair(9, true));
    EXPECT_EQ(handed_on("INT"), std::pair(9, true));
    EXPECT_EQ(handed_on("USR1"), std::pair(9, false));
}

TEST(Foreground, ThePipeSignalIsAsUsual) {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(shell("kill -PIPE $$").status, 128 + SIGPIPE);
    std::signal(SIGPIPE, SIG_DFL);
}

TEST(Foreground, AProgramThatIsNotThereIsNamed) {
    try {
        Foreground().run({"no-such-program"});
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("no-such-program"));
        EXPECT_THAT(error.what(), HasSubstr("No such file"));
    }
}

}  // namespace
}  // namespace joulecast
