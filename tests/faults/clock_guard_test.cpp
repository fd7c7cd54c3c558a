// Memory and disk fail in the guard of the clocks, and it is killed at every step: the card is given back as it was
// before the first hold, by the guard itself or, where it was killed, by the next one.
#include "joulecast/meter/clock_guard.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

#include <fcntl.h>

#include <gmock/gmock.h>

#include "tests/clockd/guarded.h"
#include "tests/faults/faults.h"

namespace joulecast {
namespace {

using namespace joulecast::testing;
namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::uint32_t limit_before_mw = 150000;  // an administrator's, not the card's default

class FaultyGuard : public Guarded {
  protected:
    FaultyGuard() : report(fake.path() + "-report") { ::setenv("JOULECAST_FAULT_REPORT", report.c_str(), 1); }
    ~FaultyGuard() override {
        ::unsetenv("JOULECAST_FAULT");
        ::unsetenv("JOULECAST_FAULT_REPORT");
        fs::remove(report);
    }

    /// What guards tell of themselves.
    struct Told {
        int started = 0, ended = 0;
        std::int64_t allocations = 0, calls = 0;  ///< of the last that ended
    };
    Told told() const {
        Told told;
        std::ifstream lines(report);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::string what;
            words >> what;
            if (what == "start") ++told.started;
            if (what == "end" && words >> told.allocations >> told.calls) ++told.ended;
        }
        return told;
    }

    void begin_anew() {
        fs::remove_all(folder);
        fs::remove(report);
        fake.reboot();
        fake.gpu().power_limit_mw = limit_before_mw;
    }

    /// Changes of every kind, one of them while the clocks are given back by the end.
    void measure() const {
        ClockGuard guard(gpu(), at_once());
        OperatingPoint point = at(900, 120);
        point.memory_clock_mhz = 1215;
        guard.hold(point);
        guard.hold(at(1200, 140));
        guard.release();
        guard.hold(at(600, 120));
    }

    bool is_as_found() {
        const FakeGpu& card = fake.gpu();
        return card.locked_graphics_mhz == 0 && card.locked_memory_mhz == 0 && card.power_limit_mw == limit_before_mw;
    }

    /// With a guard that each measurement starts, or one service.
    enum class Kind { child, service };

    /// Measures under the fault. What came of it: "done", "told" (an Error), "died" (a guard).
    std::string measure_under(const std::string& fault, Kind kind) {
        begin_anew();
        ::setenv("JOULECAST_FAULT", fault.c_str(), 1);
        const pid_t service = kind == Kind::service ? start_service() : -1;
        const Ended ended = ending_of([&] {
            try {
                measure();
            } catch (const Error& error) {
                // What the calls fail with, and no errno of an earlier one.
                if (fault.starts_with("call") && !is_deadly(fault.substr(fault.rfind(' ') + 1))) {
                    EXPECT_THAT(error.what(), HasSubstr("No space left on device"));
                }
                throw;
            }
        });
        if (service > 0) ::kill(service, SIGTERM);
        wait_for_all();
        ::unsetenv("JOULECAST_FAULT");
        if (told().ended < told().started) return "died";
        return ended == Ended::well ? "done" : "told";
    }

    /// Comes back when it listens, or has ended.
    pid_t start_service() const {
        const pid_t id = ::fork();
        if (id == 0) {
            ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
            ::execl(JOULECAST_CLOCKD_PROGRAM, JOULECAST_CLOCKD_PROGRAM, "--socket", socket.c_str(), "--state",
                    folder.c_str(), "--nvml", FakeNvml::library().c_str(), static_cast<char*>(nullptr));
            ::_exit(127);
        }
        siginfo_t ending{};
        while (!fs::is_socket(socket) && ending.si_pid == 0) {
            ::waitid(P_PID, static_cast<id_t>(id), &ending, WEXITED | WNOHANG | WNOWAIT);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return id;
    }

    /// A guard that ends by itself leaves the card as it was found; after one that died, it is written down what has to
    /// be undone, and the next undoes it.
    void check(const std::string& ending) {
        EXPECT_TRUE(ending == "died" || is_as_found()) << "changed by a guard that has ended";
        EXPECT_TRUE(is_as_found() || left_behind(folder, gpu())) << "nothing tells what to undo";
        {
            const ClockLease next(gpu(), folder);
        }
        EXPECT_TRUE(is_as_found()) << fake.gpu().locked_graphics_mhz << " MHz, " << fake.gpu().locked_memory_mhz
                                   << " MHz, " << fake.gpu().power_limit_mw << " mW";
        EXPECT_FALSE(left_behind(folder, gpu()));
    }

    /// Each of `asked` of these fails in each of the ways; how the measurements ended.
    void fail_each_in_turn(const std::string& what, std::int64_t asked, std::int64_t most,
                           const std::vector<std::string>& ways, Kind kind) {
        EXPECT_GT(asked, 0);
        std::map<std::string, int> endings;
        for (std::int64_t nth = 1; nth <= asked; nth += asked / most + 1) {
            for (const std::string& way : ways) {
                const std::string fault = what + " " + std::to_string(nth) + " " + way;
                SCOPED_TRACE("JOULECAST_FAULT='" + fault + "' of " + std::to_string(asked));
                const std::string ending = measure_under(fault, kind);
                ++endings[ending];
                check(ending);
                EXPECT_EQ(ending == "died", is_deadly(way)) << ending;
                if (HasFailure()) return;
            }
        }
        std::cout << what << "s of a guard:";
        for (const auto& [ending, count] : endings) std::cout << " " << count << " " << ending;
        std::cout << " (of " << asked << " in " << ways.size() << " ways)\n";
    }

    static bool is_deadly(const std::string& way) { return way == "dies" || way == "halves"; }

    fs::path report;
};

TEST_F(FaultyGuard, GivesTheCardBackWhicheverAllocationFails) {
    ASSERT_EQ(measure_under("", Kind::child), "done");
    fail_each_in_turn("allocation", told().allocations, most_faults(30), {"", "lasts"}, Kind::child);
}

TEST_F(FaultyGuard, AsAServiceGivesTheCardBackWhicheverAllocationFails) {
    ASSERT_EQ(measure_under("", Kind::service), "done");
    fail_each_in_turn("allocation", told().allocations, most_faults(30), {"", "lasts"}, Kind::service);
}

TEST_F(FaultyGuard, GivesTheCardBackWhicheverCallOnItsStateFails) {
    ASSERT_EQ(measure_under("", Kind::child), "done");
    fail_each_in_turn("call", told().calls, most_faults(30), {"fails", "lasts", "fills"}, Kind::child);
}

TEST_F(FaultyGuard, KilledAtAnyCallOnItsStateIsFollowedByOneThatGivesTheCardBack) {
    ASSERT_EQ(measure_under("", Kind::child), "done");
    fail_each_in_turn("call", told().calls, most_faults(30), {"dies", "halves"}, Kind::child);
}

}  // namespace
}  // namespace joulecast
