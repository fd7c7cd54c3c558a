#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

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

std::int64_t number_of(const char* variable, std::int64_t otherwise) {
    const char* value = std::getenv(variable);
    return value == nullptr ? otherwise : std::atoll(value);
}

/// The processes that this one has started and that still run.
std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> children;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string id = entry.path().filename().string();
        if (id.find_first_not_of("0123456789") != std::string::npos) continue;
        std::string stat;
        std::getline(std::ifstream(entry.path() / "stat"), stat);  // "12 (name) S PARENT ..."
        const auto name_end = stat.rfind(')');
        if (name_end == std::string::npos) continue;
        std::istringstream words(stat.substr(name_end + 1));
        char state = '?';
        pid_t its_parent = -1;
        if (words >> state >> its_parent && its_parent == parent && state != 'Z') children.push_back(std::stoi(id));
    }
    return children;
}

void read_progress(int file, std::size_t bytes) {
    char byte = 0;
    while (bytes-- > 0 && ::read(file, &byte, 1) == 1) {
    }
}

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
        Supervisor supervisor({.command = "exec '" FAKE_WORKER "' --guard 1 " + worker_options,
                               .restart_wait = std::chrono::milliseconds(1)});
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

    /// Starts a sweep and kills its worker up to twice, which it must get over, then itself, each after a random amount
    /// of progress: in a measurement, a commit, a lock, or at the start. Its worker dies by itself, too, once in twenty
    /// requests. Returns how many workers were killed.
    std::int64_t kill_one_sweep(std::mt19937& random) {
        const auto [sweep, progress] =
            start_reporting([this](std::ostream& output) { profile("--die-at-random 0.05", output); });
        std::int64_t workers_killed = 0;
        for (auto times = random() % 3; times > 0; --times) {
            read_progress(progress, random() % 800);
            for (const pid_t worker : children_of(sweep)) workers_killed += ::kill(worker, SIGKILL) == 0 ? 1 : 0;
        }
        read_progress(progress, random() % 1500);
        ::kill(sweep, SIGKILL);
        ::close(progress);
        wait_for_all();
        return workers_killed;
    }

    std::filesystem::path databases;
};

TEST_F(KillTest, AtRandomMomentsLoseNoRowDoubleNoneAndLeaveNoClockLocked) {
    const auto seed = number_of("JOULECAST_KILL_SEED", std::random_device{}());
    SCOPED_TRACE("again with JOULECAST_KILL_SEED=" + std::to_string(seed));
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    const std::int64_t kills = number_of("JOULECAST_KILLS", USUAL_KILLS);
    std::int64_t workers_killed = 0, databases_filled = 0, rows_kept = 0;
    std::set<std::string> before;
    for (std::int64_t round = 0; round < kills && !HasFailure(); ++round) {
        SCOPED_TRACE("kill " + std::to_string(round));
        workers_killed += kill_one_sweep(random);
        expect_restored();
        const auto after = rows();
        for (const std::string& row : before) EXPECT_TRUE(after.contains(row)) << "lost: " << row;
        rows_kept += static_cast<std::int64_t>(before.size());
        before = after;
        if (before.size() > all_rows * 9 / 10) {
            complete();
            ++databases_filled;
            before.clear();
        }
    }
    EXPECT_GT(fake.gpu().locks, static_cast<std::uint64_t>(kills) / 2) << "few kills met a locked clock";
    EXPECT_GT(workers_killed, kills / 2);
    std::cout << kills << " sweeps and " << workers_killed << " of their workers killed, " << fake.gpu().locks
              << " clocks locked, " << databases_filled << " databases filled, " << rows_kept
              << " times a row looked for; seed " << seed << "\n";
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
