// Memory and disk fail during a sweep: it says so and ends, or goes on; the rows before stay, and the next sweep
// measures what is missing.
#include "joulecast/profile/sweep.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "joulecast/dataset/sqlite.h"
#include "joulecast/units/termination.h"
#include "profile/sweeps.h"
#include "tests/faults/failing_allocation.h"
#include "tests/faults/faults.h"
#include "tests/faults/recorded_disk.h"

namespace joulecast {
namespace {

using namespace joulecast::testing;

constexpr std::int64_t operations = 2;
constexpr std::size_t all_rows = operations + 1;

/// How many rows are stored by the last bar of this progress: "[#####...] 1/3, ...".
std::size_t rows_in(const std::string& progress) {
    const auto bar_end = progress.rfind("] ");
    return bar_end == std::string::npos ? 0 : std::stoul(progress.substr(bar_end + 2));
}

class FaultySweep : public FaultyFolder {
  protected:
    static void SetUpTestSuite() { FailingSqliteAllocation::take_over(); }

    void SetUp() override {
        FaultyFolder::SetUp();
        const Dataset empty(folder / "empty.db");
    }

    std::filesystem::path file() const { return folder / "a.db"; }

    /// Progress goes to `output` as to a terminal: a line after each row. Opening the database, before `opened`, is
    /// what dataset_test.cpp lets fail.
    void profile(std::ostream& output, const std::function<void()>& opened = [] {}) const {
        Supervisor supervisor({.command = "exec '" FAKE_WORKER "'", .restart_attempts = 1});
        Dataset dataset(file());
        opened();
        std::vector<std::pair<std::int64_t, std::int64_t>> calls;
        for (std::int64_t batch = 1; batch <= operations; ++batch) calls.emplace_back(batch, 1);
        Variation variation = bag("many", calls);
        variation.network = true;
        const PlanSettings planned = fake_settings();
        SweepSettings settings;
        settings.point = planned.point;
        settings.interrupted = [] { return false; };
        settings.now_s = [now_s = 0.0]() mutable { return now_s += 0.1; };
        SweepProgress progress(output, true, settings.now_s);
        sweep(make_plan({variation}, &dataset, planned), supervisor, dataset, settings, progress);
    }
    void profile() const {
        std::ostringstream output;
        profile(output);
    }

    /// What was measured; the same twice fails. Without Dataset, whose look at the tables takes longer than the sweep.
    std::set<std::string> rows() const {
        std::set<std::string> all;
        const sqlite::Connection connection(file(), sqlite::Connection::Access::read_only);
        auto select = connection.prepare("SELECT operation FROM operations UNION ALL SELECT model FROM networks");
        while (select.step()) EXPECT_TRUE(all.insert(select.text(0)).second) << "doubled: " << select.text(0);
        return all;
    }

    /// From the beginning, in a process of its own: 0 when all was measured, 1 when it said why not.
    template <class Fault>
    int profile_with(std::int64_t nth, bool lasts) const {
        begin_anew();
        const pid_t child = ::fork();
        if (child == 0) {
            end_in_order_without_memory("a sweep");  // as the program does
            std::ofstream progress(progress_file());
            std::optional<Fault> fault;
            const auto opened = [&] { fault.emplace(nth, lasts); };
            ::_exit(ending_of([&] { profile(progress, opened); }) == Ended::well ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

    std::filesystem::path progress_file() const { return folder / "progress"; }
    /// How many rows the process said it had stored.
    std::size_t rows_told() const {
        std::ifstream input(progress_file());
        return rows_in({std::istreambuf_iterator<char>(input), {}});
    }

    /// How many there are to fail.
    template <class Fault>
    std::int64_t asked() const {
        begin_anew();
        std::optional<Fault> none;
        std::ostringstream output;
        profile(output, [&] { none.emplace(std::numeric_limits<std::int64_t>::max()); });
        return none->asked();
    }

    void begin_anew() const {
        for (const char* end : {"", "-wal", "-shm", "-journal"}) std::filesystem::remove(file().string() + end);
        std::filesystem::copy_file(folder / "empty.db", file());
    }

    /// Each in turn, alone and with all after it.
    template <class Fault>
    void fail(const std::string& what, std::int64_t most) {
        const std::int64_t all = asked<Fault>();
        std::map<int, int> endings;
        const std::int64_t step = all / most + 1;
        for (std::int64_t nth = 1; nth <= all && !HasFailure(); nth += step) {
            // In short either of them.
            for (const bool lasts : {false, true}) {
                if (step > 1 && lasts != (nth % 2 == 0)) continue;
                SCOPED_TRACE(what + " " + std::to_string(nth) + " of " + std::to_string(all) +
                             (lasts ? " and all after it" : ""));
                const int ending = profile_with<Fault>(nth, lasts);
                ++endings[ending];
                const std::size_t stored = rows().size();
                EXPECT_GE(stored, rows_told()) << "a row is lost";
                EXPECT_TRUE(ending != 0 || stored == all_rows) << "only " << stored << " rows";
                EXPECT_LE(ending, 1) << "it crashed";
            }
            if (nth % 20 > 0 && step == 1) continue;
            profile();
            EXPECT_EQ(rows().size(), all_rows) << "it does not go on";
        }
        std::cout << what << " of a sweep, " << all << ":";
        for (const auto& [ending, count] : endings)
            std::cout << " " << count << (ending == 0 ? " measured all" : ending == 1 ? " said why not" : " crashed");
        std::cout << "\n";
    }
};

/// What a sweep tells of its progress: how many changes of the disk there were when each row was said to be stored.
class StoredMoments final : public std::stringbuf {
  public:
    explicit StoredMoments(const RecordedDisk& disk) : disk_(disk) {}
    const std::vector<std::size_t>& moments() const { return moments_; }

  private:
    int sync() override {
        const std::string line = str();
        str("");
        while (moments_.size() < rows_in(line)) moments_.push_back(disk_.changes().size());
        return 0;
    }

    const RecordedDisk& disk_;
    std::vector<std::size_t> moments_;
};

TEST_F(FaultySweep, AfterALossOfPowerHasEveryRowThatWasSaidToBeStored) {
    std::vector<RecordedDisk::Change> changes;
    std::vector<std::size_t> stored;
    {
        const RecordedDisk disk;
        StoredMoments moments(disk);
        std::ostream output(&moments);
        profile(output);
        changes = disk.changes();
        stored = moments.moments();
    }
    ASSERT_EQ(stored.size(), all_rows);
    std::mt19937 random(24);
    const std::size_t step = changes.size() / static_cast<std::size_t>(most_faults(15)) + 1;
    const int each = step == 1 ? 20 : 1;
    std::int64_t replayed = 0;
    for (std::size_t first = 0; first <= changes.size(); first += step) {
        SCOPED_TRACE("after " + std::to_string(first) + " of " + std::to_string(changes.size()) + " changes");
        const auto least = static_cast<std::size_t>(std::ranges::upper_bound(stored, first) - stored.begin());
        for (int loss = 0; loss < each; ++loss, ++replayed) {
            begin_anew();
            std::filesystem::remove(file());
            for (const auto& [name, content] : after_loss(std::span(changes).first(first), random))
                std::ofstream(name, std::ios::binary) << content;
            const Dataset sound(file());  // or made anew, where not even its tables had come to the disk
            ASSERT_GE(rows().size(), least);
            ASSERT_LE(rows().size(), least + 1);
        }
        profile();
        ASSERT_EQ(rows().size(), all_rows) << "it does not go on";
    }
    std::cout << replayed << " losses of power replayed\n";
}

TEST_F(FaultySweep, KeepsItsRowsWhicheverAllocationFails) {
    fail<FailingAllocation>("allocations", most_faults(15));
}

TEST_F(FaultySweep, KeepsItsRowsWhicheverAllocationOfSqliteFails) {
    fail<FailingSqliteAllocation>("allocations of SQLite", most_faults(10));
}

TEST_F(FaultySweep, KeepsItsRowsWhicheverWriteFails) {
    const RecordedDisk disk;
    fail<FailingChange>("writes", most_faults(10));
}

}  // namespace
}  // namespace joulecast
