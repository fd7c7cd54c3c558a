// Memory and disk fail during a sweep: it says so and ends, or goes on; the rows before stay, and the next sweep
// measures what is missing.
#include "joulecast/profile/sweep.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <iostream>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "joulecast/dataset/sqlite.h"
#include "profile/sweeps.h"
#include "tests/faults/failing_allocation.h"
#include "tests/faults/faults.h"
#include "tests/faults/recorded_disk.h"

namespace joulecast {
namespace {

using namespace joulecast::testing;

constexpr std::int64_t operations = 6;
constexpr std::size_t all_rows = operations + 1;

class FaultySweep : public FaultyFolder {
  protected:
    static void SetUpTestSuite() { FailingSqliteAllocation::take_over(); }

    std::filesystem::path file() const { return folder / "a.db"; }

    void profile() const {
        Supervisor supervisor({.command = "exec '" FAKE_WORKER "'", .restart_attempts = 1});
        Dataset dataset(file());
        std::vector<std::pair<std::int64_t, std::int64_t>> calls;
        for (std::int64_t batch = 1; batch <= operations; ++batch) calls.emplace_back(batch, 1);
        Variation variation = bag("many", calls);
        variation.network = true;
        const PlanSettings planned = fake_settings();
        SweepSettings settings;
        settings.point = planned.point;
        settings.interrupted = [] { return false; };
        settings.now_s = [now_s = 0.0]() mutable { return now_s += 0.1; };
        std::ostringstream output;
        SweepProgress progress(output, true, settings.now_s);
        sweep(make_plan({variation}, &dataset, planned), supervisor, dataset, settings, progress);
    }

    std::set<std::string> rows() const {
        std::set<std::string> all;
        const Dataset dataset(file());
        for (const OperationRow& row : dataset.operations())
            EXPECT_TRUE(all.insert(signature(row.measurement.operation)).second) << "doubled";
        for (const NetworkRow& row : dataset.networks())
            EXPECT_TRUE(all.insert(row.measurement.model).second) << "doubled";
        return all;
    }

    /// In a process of its own: 0 when all was measured, 1 when it said why not.
    template <class Fault>
    int profile_with(std::int64_t nth, bool lasts) const {
        const pid_t child = ::fork();
        if (child == 0) {
            const Fault fault(nth, lasts);
            ::_exit(ending_of([&] { profile(); }) == Ended::well ? 0 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

    /// How many there are to fail.
    template <class Fault>
    std::int64_t asked() const {
        const Fault none(std::numeric_limits<std::int64_t>::max());
        profile();
        return none.asked();
    }

    void begin_anew() const {
        for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(file().string() + end);
    }

    template <class Fault>
    void fail(const std::string& what, std::int64_t most) {
        const std::int64_t all = asked<Fault>();
        begin_anew();
        std::set<std::string> before;
        std::map<int, int> endings;
        for (std::int64_t nth = 1; nth <= all; nth += all / most + 1) {
            const bool lasts = nth % 2 == 0;
            SCOPED_TRACE(what + " " + std::to_string(nth) + " of " + std::to_string(all));
            const int ending = profile_with<Fault>(nth, lasts);
            ++endings[ending];
            const auto after = rows();
            for (const std::string& row : before) EXPECT_TRUE(after.contains(row)) << "lost: " << row;
            EXPECT_TRUE(ending != 0 || after.size() == all_rows) << "only " << after.size() << " rows";
            EXPECT_TRUE(ending <= 1 || ending == may_end_by) << "ended by " << ending;
            before = after;
            // From where this one has left it; from the beginning where little is left to measure.
            if (before.size() >= all_rows / 2) begin_anew();
            if (before.size() >= all_rows / 2) before.clear();
            if (HasFailure()) break;
        }
        for (const auto& [ending, count] : endings)
            std::cout << what << " of a sweep: " << count << " ended with " << ending << "\n";
        profile();
        EXPECT_EQ(rows().size(), all_rows);
    }

    int may_end_by = 0;
};

TEST_F(FaultySweep, KeepsItsRowsWhicheverAllocationFails) {
    // nlohmann's destructor of an array or object allocates (3.11: a list of what is nested), and may not throw.
    may_end_by = 128 + SIGABRT;
    fail<FailingAllocation>("allocations", std::min<std::int64_t>(most_faults(15), 1000));
}

TEST_F(FaultySweep, KeepsItsRowsWhicheverAllocationOfSqliteFails) {
    fail<FailingSqliteAllocation>("allocations of SQLite", std::min<std::int64_t>(most_faults(10), 5000));
}

TEST_F(FaultySweep, KeepsItsRowsWhicheverWriteFails) {
    const RecordedDisk disk;
    fail<FailingChange>("writes", most_faults(10));
}

}  // namespace
}  // namespace joulecast
