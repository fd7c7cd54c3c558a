#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <random>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "clockd/guarded.h"
#include "dataset/samples.h"
#include "joulecast/dataset/measuring_lock.h"
#include "joulecast/profile/sweep.h"
#include "profile/reporting_process.h"
#include "profile/sweeps.h"

namespace joulecast {
namespace {

using namespace joulecast::testing;

constexpr std::int64_t operations = 60;
/// Of each operation and the network: one row at each of two clocks.
constexpr std::size_t all_rows = 2 * (operations + 1);

class KillTest : public Guarded {
  protected:
    void SetUp() override {
        // Rows are synced to the disk before the next is measured: in memory a kill hits more different moments.
        std::filesystem::path place = ::testing::TempDir();
        if (std::filesystem::is_directory("/dev/shm") && ::access("/dev/shm", W_OK) == 0) place = "/dev/shm";
        databases = place / ("joulecast-kills-" + std::to_string(::getpid()));
        std::filesystem::create_directories(databases);
    }
    void TearDown() override { std::filesystem::remove_all(databases); }

    std::filesystem::path file() const { return databases / "a.db"; }

    SweepResult profile(const std::string& worker_options, std::ostream& output) {
        Supervisor supervisor({.command = "exec '" FAKE_WORKER "' --guard 1 " + worker_options});
        Dataset dataset(file());
        const MeasuringLock lock(file(), "cpu-fake", [](const std::string&) {}, [] { return false; });
        std::vector<std::pair<std::int64_t, std::int64_t>> calls;
        for (std::int64_t batch = 1; batch <= operations; ++batch) calls.emplace_back(batch, 1);
        Variation variation = bag("many", calls);
        variation.network = true;
        PlanSettings planned = fake_settings();
        planned.clocks = {{900, std::nan(""), 120}, {1200, std::nan(""), 150}};
        SweepSettings settings;
        settings.point = planned.point;
        settings.interrupted = [] { return false; };
        settings.now_s = [now_s = 0.0]() mutable { return now_s += 0.1; };
        SweepProgress progress(output, true, settings.now_s);
        return sweep(make_plan({variation}, &dataset, planned), supervisor, dataset, settings, progress);
    }

    /// What was measured at which clock; a second row of the same fails.
    std::set<std::string> rows() const {
        std::set<std::string> all;
        const Dataset dataset(file());
        const auto add = [&](const std::string& what, const OperatingPoint& asked) {
            const bool is_new = all.insert(what + " at " + std::to_string(asked.sm_clock_mhz)).second;
            EXPECT_TRUE(is_new) << "doubled: " << what;
        };
        for (const OperationRow& row : dataset.operations())
            add(signature(row.measurement.operation), row.measurement.asked);
        for (const NetworkRow& row : dataset.networks()) add(row.measurement.model, row.measurement.asked);
        return all;
    }

    /// Measures what is left, and begins anew.
    void complete() {
        std::ostringstream output;
        profile("", output);
        EXPECT_EQ(rows().size(), all_rows);
        expect_restored();
        std::filesystem::remove_all(databases);
        std::filesystem::create_directories(databases);
    }

    std::filesystem::path databases;
};

TEST_F(KillTest, AtRandomMomentsLoseNoRowDoubleNoneAndLeaveNoClockLocked) {
    const int kills = std::getenv("JOULECAST_KILLS") == nullptr ? 200 : std::atoi(std::getenv("JOULECAST_KILLS"));
    std::mt19937 random(7);
    std::set<std::string> before;
    std::uint64_t locks = 0;
    for (int round = 0; round < kills; ++round) {
        // Its worker dies, too, by itself: once in twenty requests.
        const auto [child, progress] =
            start_reporting([this](std::ostream& out) { profile("--die-at-random 0.05", out); });
        // A random amount of progress, then the program's end: in a measurement, a commit, a lock, or at the start.
        std::size_t bytes = random() % 1500;
        char byte = 0;
        while (bytes-- > 0 && ::read(progress, &byte, 1) == 1) {
        }
        ::kill(child, random() % 4 == 0 ? SIGTERM : SIGKILL);
        ::close(progress);
        wait_for_all();
        expect_restored();
        const auto after = rows();
        for (const std::string& row : before) EXPECT_TRUE(after.contains(row)) << "lost: " << row;
        before = after;
        if (before.size() > all_rows * 9 / 10) {
            complete();
            before.clear();
        }
    }
    locks = fake.gpu().locks;
    EXPECT_GT(locks, static_cast<std::uint64_t>(kills) / 2) << "few kills met a locked clock";
    complete();
}

TEST_F(KillTest, ClocksOfTheWholeSweepAreThoseAskedForAndGivenBack) {
    std::ostringstream output;
    const SweepResult result = profile("", output);
    EXPECT_EQ(result.measured, static_cast<std::int64_t>(all_rows));
    wait_for_all();
    expect_restored();
    for (const OperationRow& row : Dataset(file()).operations()) {
        EXPECT_EQ(row.measurement.real.sm_clock_mhz, row.measurement.asked.sm_clock_mhz);
        EXPECT_EQ(row.measurement.real.power_limit_w, row.measurement.asked.power_limit_w);
    }
    EXPECT_EQ(fake.gpu().locks, 2u);  // clocks outermost: one lock for each
}

}  // namespace
}  // namespace joulecast
