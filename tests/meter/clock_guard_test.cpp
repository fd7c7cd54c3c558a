#include "joulecast/meter/clock_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <random>

#include <sched.h>
#include <sys/syscall.h>

#include "joulecast/error.h"
#include "tests/clockd/guarded.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using testing::Signal;

class ClockGuardTest : public testing::Guarded {
  protected:
    /// Starts a measuring process that holds clocks, ends it by `end`, and waits for what is left of it.
    void hold_and_end(const std::function<void(ClockGuard&)>& last_words, int signal = 0) {
        const Signal held;
        const pid_t client = start([&] {
            ::setpgid(0, 0);
            ClockGuard guard(gpu(), at_once());
            guard.hold(at(900, 120));
            held.give();
            last_words(guard);
        });
        held.await();
        EXPECT_TRUE(signal == 0 || is_held());
        if (signal != 0) ::kill(-client, signal);
        wait_for_all();
    }
};

[[noreturn]] void wait_for_the_end(ClockGuard& /*guard*/) {
    for (;;) ::pause();
}

TEST_F(ClockGuardTest, HoldsThePointAndTellsTheRealOne) {
    ClockGuard guard(gpu(), at_once());
    EXPECT_FALSE(guard.child()) << "nothing is started before the first lock";
    const Settled held = guard.hold(at(900, 120));
    EXPECT_EQ(held.remark, "");
    EXPECT_EQ(held.real.sm_clock_mhz, 900);
    EXPECT_EQ(held.real.memory_clock_mhz, 1215);
    EXPECT_EQ(held.real.power_limit_w, 120);
    EXPECT_EQ(fake.gpu().locked_graphics_mhz, 900U);
    EXPECT_TRUE(guard.child());
    guard.hold(at(1200, 120));
    EXPECT_EQ(fake.gpu().locked_graphics_mhz, 1200U);
}

TEST_F(ClockGuardTest, ThePointThatIsHeldIsNotSetAgain) {
    ClockGuard guard(gpu(), at_once());
    guard.hold(at(900, 120));
    guard.hold(at(900, 120));
    EXPECT_EQ(fake.gpu().locks, 1U);
    EXPECT_EQ(fake.gpu().limit_changes, 1U);
}

/// Counts what was waited for; time stands still otherwise.
class CountedTime final : public SettleClock {
  public:
    double now_s() override { return waited_s; }
    void wait(double seconds) override { waited_s += seconds; }
    double waited_s = 0;
};

TEST_F(ClockGuardTest, ACardBelowItsTargetIsWaitedForOnceAPoint) {
    fake.gpu().load = 1;
    CountedTime time;
    ClockGuard guard(gpu(), ClockGuard::Settings{}, &time);
    // 100 W hold the card at 1170 MHz, see NvmlTest.
    EXPECT_EQ(guard.hold(at(1410, 100)).real.sm_clock_mhz, 1170);
    const double first_s = time.waited_s;
    EXPECT_NEAR(first_s, 3, 0.03);
    const Settled again = guard.hold(at(1410, 100));
    EXPECT_EQ(again.real.sm_clock_mhz, 1170);
    EXPECT_EQ(again.remark, "GPU 0 (NVIDIA A30): clock 1170 instead of 1410 MHz (power cap)");
    EXPECT_EQ(time.waited_s, first_s);
}

TEST_F(ClockGuardTest, APointThatNamesNothingGivesBackAndStartsNoGuard) {
    ClockGuard guard(gpu(), at_once());
    EXPECT_EQ(guard.hold({}).real.sm_clock_mhz, 1440);
    EXPECT_FALSE(guard.child());
    guard.hold(at(900, 120));
    guard.hold({});
    EXPECT_FALSE(is_held());
}

TEST_F(ClockGuardTest, ReleaseAndDestructionRestore) {
    {
        ClockGuard guard(gpu(), at_once());
        guard.hold(at(900, 120));
        guard.release();
        EXPECT_FALSE(is_held());
        guard.hold(at(900, 120));
    }
    wait_for_all();
    expect_restored();
}

TEST_F(ClockGuardTest, WithoutTheRightItSaysWhatToDo) {
    fake.gpu().may_change = false;
    ClockGuard guard(gpu(), at_once());
    try {
        guard.hold(at(900, 120));
        FAIL() << "locked without the right to";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(),
                     "cannot lock clocks on GPU 0 (NVIDIA A30): no permission. Run as root, or measure at the current "
                     "clock with --clocks current.");
    }
}

TEST_F(ClockGuardTest, WhatIsNotSupportedIsRefusedWithTheNearest) {
    ClockGuard guard(gpu(), at_once());
    try {
        guard.hold(at(901, 120));
        FAIL() << "901 MHz were held";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("the nearest is 900"));
    }
    EXPECT_NO_THROW(guard.hold(at(900, 120)));
}

TEST_F(ClockGuardTest, AMissingGuardIsNamed) {
    auto settings = at_once();
    settings.program = "/nowhere/joulecast-clockd";
    ClockGuard guard(gpu(), settings);
    try {
        guard.hold(at(900, 120));
        FAIL() << "no guard, but a lock";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("/nowhere/joulecast-clockd"));
    }
    EXPECT_FALSE(is_held());
}

TEST_F(ClockGuardTest, TwoMeasurementsDoNotShareACard) {
    ClockGuard first(gpu(), at_once());
    first.hold(at(900, 120));
    ClockGuard second(gpu(), at_once());
    EXPECT_THROW(second.hold(at(1200, 120)), Error);
    EXPECT_EQ(fake.gpu().locked_graphics_mhz, 900U);
    first.release();
}

TEST_F(ClockGuardTest, ALostCardIsAnErrorAndItsRecordWaits) {
    ClockGuard guard(gpu(), at_once());
    guard.hold(at(900, 120));
    fake.gpu().lost = true;
    EXPECT_THROW(guard.hold(at(1200, 120)), Error);
    fake.gpu().lost = false;
    EXPECT_NO_THROW(guard.hold(at(1200, 120)));
}

TEST_F(ClockGuardTest, AGuardThatIsKilledIsFollowedByOneThatUndoesItsWork) {
    ClockGuard guard(gpu(), at_once());
    guard.hold(at(900, 120));
    const int killed = *guard.child();
    ::kill(killed, SIGKILL);
    ::waitid(P_PID, static_cast<id_t>(killed), nullptr, WEXITED | WNOWAIT);
    EXPECT_TRUE(is_held());
    EXPECT_TRUE(left_behind(folder, gpu()));
    guard.release();
    EXPECT_FALSE(is_held());
    EXPECT_FALSE(left_behind(folder, gpu()));
}

TEST_F(ClockGuardTest, ThePointThatIsHeldIsGuardedAgainWhenItsGuardIsGone) {
    ClockGuard guard(gpu(), at_once());
    guard.hold(at(900, 120));
    const int killed = *guard.child();
    ::kill(killed, SIGKILL);
    ::waitid(P_PID, static_cast<id_t>(killed), nullptr, WEXITED | WNOWAIT);
    guard.hold(at(900, 120));
    EXPECT_NE(*guard.child(), killed);
    EXPECT_TRUE(is_leased(folder, gpu()));
    EXPECT_TRUE(is_held());
}

TEST_F(ClockGuardTest, AGuardThatDiesInTheMiddleOfAChangeHasWrittenItDownBefore) {
    // Graphics clock and power limit are two changes: it dies after the first, or after the second.
    for (const std::uint64_t change : {1U, 2U}) {
        ClockGuard guard(gpu(), at_once());
        fake.gpu().kill_at_change = change;
        EXPECT_THROW(guard.hold(at(900, 120)), Error);
        EXPECT_TRUE(is_held());
        EXPECT_TRUE(left_behind(folder, gpu()));
        guard.hold(at(1200, 140));
        guard.release();
        expect_nothing_held();
    }
}

TEST_F(ClockGuardTest, RestoresAfterTheNormalEnd) {
    hold_and_end([](ClockGuard&) {});
    expect_restored();
}

TEST_F(ClockGuardTest, RestoresAfterAnError) {
    hold_and_end([](ClockGuard&) { throw Error("out of memory"); });
    expect_restored();
}

TEST_F(ClockGuardTest, RestoresAfterAnEndWithoutDestructors) {
    hold_and_end([](ClockGuard&) { ::_exit(3); });
    expect_restored();
}

TEST_F(ClockGuardTest, RestoresAfterCtrlC) {
    hold_and_end(wait_for_the_end, SIGINT);
    expect_restored();
}

TEST_F(ClockGuardTest, RestoresAfterSigterm) {
    hold_and_end(wait_for_the_end, SIGTERM);
    expect_restored();
}

TEST_F(ClockGuardTest, RestoresAfterSigkill) {
    hold_and_end(wait_for_the_end, SIGKILL);
    expect_restored();
}

TEST_F(ClockGuardTest, TheGuardItselfSitsOutSignalsUntilItHasRestored) {
    {
        ClockGuard guard(gpu(), at_once());
        guard.hold(at(900, 120));
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::kill(*guard.child(), signal);
        guard.hold(at(1200, 120));
        EXPECT_EQ(fake.gpu().locked_graphics_mhz, 1200U);
    }
    expect_restored();
}

TEST_F(ClockGuardTest, ACopyOfTheProcessThatKeepsTheConnectionOpenDoesNotKeepTheClocks) {
    if (::syscall(SYS_pidfd_open, ::getpid(), 0) < 0) GTEST_SKIP() << "this kernel has no files of processes (pidfd)";
    const Signal held;
    const Signal copied;
    const Signal done;
    const pid_t client = start([&] {
        ClockGuard guard(gpu(), at_once());
        guard.hold(at(900, 120));
        // What Python's multiprocessing does: a fork without an exec.
        if (::fork() == 0) {
            copied.give();
            done.await();
            ::_exit(0);
        }
        held.give();
        wait_for_the_end(guard);
    });
    held.await();
    copied.await();
    ::kill(client, SIGKILL);
    // The client and its guard; the copy still waits.
    EXPECT_GT(::waitpid(-1, nullptr, 0), 0);
    EXPECT_GT(::waitpid(-1, nullptr, 0), 0);
    expect_restored();
    done.give();
    wait_for_all();
}

/// The acceptance of the guard: a measuring process killed at any moment, often.
TEST_F(ClockGuardTest, KilledAtRandomMomentsTheClocksAreRestoredEveryTime) {
    const char* named = std::getenv("JOULECAST_KILLS");
    const int rounds = named != nullptr ? std::atoi(named) : 30;
    std::mt19937 random(20260301);
    std::uniform_int_distribution<useconds_t> delay_us(0, 10000);
    int killed_while_held = 0;
    for (int round = 0; round < rounds; ++round) {
        const Signal started;
        // Every other round dies while its guard is starting, the others once the first clock is held.
        const bool dies_early = round % 2 == 0;
        const pid_t client = start([&] {
            ClockGuard guard(gpu(), at_once());
            if (dies_early) started.give();
            guard.hold(at(900, 120));
            if (!dies_early) started.give();
            for (unsigned mhz = 1200;; mhz = mhz == 900 ? 1200 : 900) guard.hold(at(mhz, mhz == 900 ? 120 : 140));
        });
        started.await();
        ::usleep(delay_us(random));
        killed_while_held += is_held() ? 1 : 0;
        ::kill(client, SIGKILL);
        wait_for_all();
        expect_restored();
        if (HasFailure()) FAIL() << "in round " << round;
    }
    EXPECT_GE(killed_while_held, rounds / 2);
}

/// With the guard killed, too, nobody is left to give the clocks back: the next one does, by what was written down
/// before each change.
TEST_F(ClockGuardTest, KilledAtRandomMomentsWithItsGuardTheNextOneRestores) {
    const char* named = std::getenv("JOULECAST_KILLS");
    const int rounds = named != nullptr ? std::atoi(named) : 20;
    std::mt19937 random(20261124);
    int held_by_nobody = 0;
    for (int round = 0; round < rounds; ++round) {
        int ends[2] = {-1, -1};
        ASSERT_EQ(::pipe(ends), 0);
        const pid_t client = start([&] {
            ClockGuard guard(gpu(), at_once());
            guard.hold(at(900, 120));
            const int id = *guard.child();
            if (::write(ends[1], &id, sizeof id) != sizeof id) return;
            for (unsigned mhz = 1200;; mhz = mhz == 900 ? 1200 : 900) guard.hold(at(mhz, mhz == 900 ? 120 : 140));
        });
        int guard = -1;
        ASSERT_EQ(::read(ends[0], &guard, sizeof guard), static_cast<ssize_t>(sizeof guard));
        ::close(ends[0]);
        ::close(ends[1]);
        // A random amount of progress: some changes more, and into the next one.
        const std::uint64_t changes = fake.gpu().locks + random() % 6;
        for (int i = 0; i < 1'000'000 && fake.gpu().locks < changes; ++i) ::sched_yield();
        for (auto i = random() % 300; i > 0; --i) ::sched_yield();
        // The client stands still first: its guard must not be followed by another of its own.
        ::kill(client, SIGSTOP);
        ::kill(guard, SIGKILL);
        ::kill(client, SIGKILL);
        wait_for_all();
        held_by_nobody += is_held() ? 1 : 0;
        EXPECT_TRUE(!is_held() || left_behind(folder, gpu())) << "nothing tells what to undo";
        {
            const ClockLease undoes_at_once(gpu(), folder);
        }
        expect_restored();
        if (HasFailure()) FAIL() << "in round " << round;
    }
    EXPECT_GE(held_by_nobody, rounds / 2);
}

}  // namespace
}  // namespace joulecast
