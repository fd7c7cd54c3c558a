// Tests for tools/run_tests.py, which tests/house/run_tests_test.py asks for: some must not end well.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>

namespace {

TEST(Quiet, Passes) {}

TEST(Quiet, Skips) {
    GTEST_SKIP() << "there is no such device";
}

TEST(Quiet, CanBeInterrupted) {
    EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_DFL);
}

TEST(Unruly, Passes) {}

TEST(Unruly, Fails) {
    std::cout << "words of the failed one\n";
    EXPECT_EQ(1, 2);
}

TEST(Unruly, Dies) {
    std::cout << "words of the dead one" << std::endl;
    std::abort();
}

TEST(Unruly, ComesAfterTheDead) {}

TEST(Late, LeavesSomethingThatFailsAtTheEnd) {
    std::atexit([] { _exit(23); });
}

}  // namespace
