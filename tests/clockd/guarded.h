#pragma once

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "joulecast/meter/clock_guard.h"
#include "joulecast/meter/clock_lease.h"
#include "tests/fake_nvml/fake_nvml.h"

namespace joulecast::testing {

/// A fake card, a folder for state files, and the guard that was built; orphans of the processes that a test starts
/// become its own, so that it can wait for their guards.
class Guarded : public ::testing::Test {
  protected:
    Guarded() : folder(fake.path() + "-state"), socket(fake.path() + "-socket") {
        ::setenv("JOULECAST_CLOCK_STATE", folder.c_str(), 1);
        ::setenv("JOULECAST_CLOCKD", JOULECAST_CLOCKD_PROGRAM, 1);
        ::setenv("JOULECAST_CLOCKD_SOCKET", socket.c_str(), 1);
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    }
    ~Guarded() override {
        std::filesystem::remove_all(folder);
        std::filesystem::remove(socket);
    }

    static NvmlGpu gpu(unsigned index = 0) {
        std::string why;
        return Nvml::open(FakeNvml::library(), why)->gpus().at(index);
    }
    static OperatingPoint at(double clock_mhz, double limit_w) {
        OperatingPoint point;
        point.sm_clock_mhz = clock_mhz;
        point.power_limit_w = limit_w;
        return point;
    }
    /// The fake settles at once, so nothing has to be waited for.
    static ClockGuard::Settings at_once() {
        ClockGuard::Settings settings;
        settings.settle = {.equal_readings = 1, .poll_s = 0, .rest_s = 0, .limit_s = 1};
        return settings;
    }

    bool is_held() { return fake.gpu().locked_graphics_mhz != 0 || fake.gpu().power_limit_mw != 165000; }
    void expect_nothing_held() {
        EXPECT_EQ(fake.gpu().locked_graphics_mhz, 0U);
        EXPECT_EQ(fake.gpu().locked_memory_mhz, 0U);
        EXPECT_EQ(fake.gpu().power_limit_mw, 165000U);
        EXPECT_FALSE(left_behind(folder, gpu()));
    }
    /// As if nobody had ever been there.
    void expect_restored() {
        expect_nothing_held();
        EXPECT_FALSE(is_leased(folder, gpu()));
    }

    /// A process that does that and ends with status 0, or 1 if it throws.
    static pid_t start(const std::function<void()>& work) {
        const pid_t id = ::fork();
        if (id != 0) return id;
        try {
            work();
        } catch (const std::exception&) {
            ::_exit(1);
        }
        ::_exit(0);
    }
    /// Waits for every process that this test, or one it killed, has started.
    static void wait_for_all() {
        while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
        }
    }

    FakeNvml fake;
    std::filesystem::path folder;
    std::string socket;
};

/// One process tells another that it is so far.
class Signal {
  public:
    Signal() { EXPECT_EQ(::pipe(ends_), 0); }
    ~Signal() {
        ::close(ends_[0]);
        ::close(ends_[1]);
    }
    Signal(const Signal&) = delete;
    Signal& operator=(const Signal&) = delete;
    void give() const { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }
    void await() const {
        char byte = 0;
        EXPECT_EQ(::read(ends_[0], &byte, 1), 1);
    }

  private:
    int ends_[2] = {-1, -1};
};

}  // namespace joulecast::testing
