#include "joulecast/profile/sweep.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>

#include <gmock/gmock.h>

#include "dataset/samples.h"
#include "joulecast/dataset/measuring_lock.h"
#include "profile/sweeps.h"

namespace joulecast {
namespace {

using joulecast::testing::bag;
using joulecast::testing::fake_settings;
using joulecast::testing::relu_row;
using ::testing::HasSubstr;

std::atomic<bool> was_interrupted{false};

Variation many(std::int64_t operations) {
    std::vector<std::pair<std::int64_t, std::int64_t>> calls;
    for (std::int64_t batch = 1; batch <= operations; ++batch) calls.emplace_back(batch, 1);
    Variation variation = bag("many", calls);
    variation.network = true;
    return variation;
}

class SweepTest : public joulecast::testing::DatasetFolder {
  protected:
    std::filesystem::path file() const { return folder / "a.db"; }

    /// Plans and measures into the file, as `joulecast profile` does; progress goes to `output`.
    SweepResult profile(const std::vector<Variation>& variations, const std::string& worker_options,
                        std::ostream& output, bool terminal = false, std::optional<double> budget_s = {}) {
        // exec: the worker's parent is this process, not the shell.
        Supervisor supervisor({.command = "exec '" FAKE_WORKER "' " + worker_options});
        Dataset dataset(file());
        const MeasuringLock lock(file(), "cpu-fake", [](const std::string&) {}, [] { return false; });
        SweepSettings settings;
        settings.point = fake_settings().point;
        settings.budget_s = budget_s;
        settings.interrupted = [] { return was_interrupted.load(); };
        settings.now_s = [this] { return now_s_ += 0.001; };
        Progress progress(output, terminal, settings.now_s);
        return sweep(make_plan(variations, &dataset, fake_settings()), supervisor, dataset, settings, progress);
    }
    SweepResult profile(const std::vector<Variation>& variations, const std::string& worker_options = "") {
        return profile(variations, worker_options, output_);
    }

    std::map<std::string, Measurement> rows() const {
        std::map<std::string, Measurement> all;
        for (const OperationRow& row : Dataset(file()).operations({}, true)) {
            const bool is_new = all.emplace(signature(row.measurement.operation), row.measurement).second;
            EXPECT_TRUE(is_new) << "doubled: " << signature(row.measurement.operation);
        }
        return all;
    }

    void TearDown() override {
        was_interrupted = false;
        DatasetFolder::TearDown();
    }

    double now_s_ = 0;
    std::ostringstream output_;
};

TEST_F(SweepTest, StoresEveryResultWithItsProvenanceAndDevice) {
    const SweepResult result = profile({many(5)});
    EXPECT_EQ(result.measured, 6);  // and the network
    EXPECT_EQ(result.left, 0);
    const auto stored = rows();
    ASSERT_EQ(stored.size(), 5u);
    EXPECT_DOUBLE_EQ(stored.at(signature(relu_row(3))).time.mean_s, 3e-6);
    EXPECT_EQ(stored.at(signature(relu_row(3))).block_s.size(), 2u);
    const Dataset dataset(file());
    EXPECT_EQ(dataset.devices().at(0).id, "cpu-fake");
    const Provenance provenance = dataset.operations().at(0).provenance;
    EXPECT_EQ(provenance.worker, "fake 1");
    EXPECT_THAT(provenance.session, HasSubstr(provenance.started));
    EXPECT_THAT(provenance.settings, HasSubstr("\"order_seed\":1"));
    ASSERT_EQ(dataset.networks().size(), 1u);
    EXPECT_EQ(dataset.networks().at(0).measurement.model, "many");
    EXPECT_DOUBLE_EQ(dataset.networks().at(0).measurement.time.mean_s, 5e-6);
}

TEST_F(SweepTest, MeasuresNothingTwice) {
    profile({many(5)});
    const SweepResult again = profile({many(7)});
    EXPECT_EQ(again.measured, 2);  // relu_row(6), relu_row(7); the network "many" has the same name and symbols
    EXPECT_EQ(rows().size(), 7u);
}

TEST_F(SweepTest, GoesOnAfterTheWorkerDied) {
    const SweepResult result = profile({many(6)}, "--crash-on '[3,8]'");
    EXPECT_EQ(result.measured, 6);
    EXPECT_EQ(result.failed, 1);
    const auto stored = rows();
    EXPECT_EQ(stored.size(), 6u);
    EXPECT_EQ(stored.at(signature(relu_row(3))).outcome, Outcome::crashed);
    EXPECT_FALSE(stored.at(signature(relu_row(3))).message.empty());
    EXPECT_THAT(output_.str(), HasSubstr("crashed"));
}

TEST_F(SweepTest, RefusesNumbersThatCannotBeAndSaysSo) {
    profile({many(3)}, "--nonsense-on '[2,8]'");
    const auto stored = rows();
    EXPECT_EQ(stored.at(signature(relu_row(2))).outcome, Outcome::crashed);
    EXPECT_THAT(stored.at(signature(relu_row(2))).message, HasSubstr("time_p05_s is negative"));
    EXPECT_TRUE(std::isnan(stored.at(signature(relu_row(2))).time.mean_s));
    EXPECT_EQ(stored.at(signature(relu_row(3))).outcome, Outcome::ok);
}

TEST_F(SweepTest, InfersThatLargerBatchesRunOutOfMemoryToo) {
    profile({bag("first", {{10, 1}})}, "--no-memory-from 10");
    EXPECT_EQ(rows().at(signature(relu_row(10))).outcome, Outcome::out_of_memory);
    // A new sweep knows it from the database: a worker with plenty of memory is not even asked.
    const SweepResult result = profile({bag("second", {{9, 1}, {11, 1}})});
    EXPECT_EQ(result.inferred, 1);
    EXPECT_EQ(rows().at(signature(relu_row(11))).outcome, Outcome::inferred);
    EXPECT_EQ(rows().at(signature(relu_row(9))).outcome, Outcome::ok);
}

TEST_F(SweepTest, KeepsWhatItHasWhenInterruptedAndDoesNotCallTheWorkersDeathAResult) {
    std::signal(SIGINT, [](int) { was_interrupted = true; });
    const SweepResult result = profile({many(8)}, "--signal-parent-on '[4,8]'");
    std::signal(SIGINT, SIG_DFL);
    EXPECT_TRUE(result.interrupted);
    EXPECT_EQ(result.measured + result.left, 9);
    EXPECT_GE(result.left, 1);
    EXPECT_FALSE(rows().contains(signature(relu_row(4))));
    was_interrupted = false;
    profile({many(8)});
    EXPECT_EQ(rows().size(), 8u);
}

TEST_F(SweepTest, EndsWithTheBudgetAndLeavesTheSmallestShares) {
    // Every look at the clock takes 1 ms here: the budget is gone long before 100 operations are done.
    Variation only_operations = many(100);
    only_operations.network = false;
    const SweepResult result = profile({only_operations}, "", output_, false, 0.2);
    EXPECT_FALSE(result.interrupted);
    EXPECT_GT(result.left, 20);
    const auto stored = rows();
    EXPECT_EQ(static_cast<std::int64_t>(stored.size()), result.measured);
    EXPECT_GT(stored.size(), 20u);
    // All but the first ten, before the pace is known, are of the larger half: the share grows with the batch.
    std::int64_t small = 0;
    for (std::int64_t batch = 1; batch <= 50; ++batch) small += stored.contains(signature(relu_row(batch))) ? 1 : 0;
    EXPECT_LE(small, 15);
}

/// Starts the sweep in a process of its own; the returned end of a pipe carries its progress.
template <class Profile>
std::pair<pid_t, int> start(Profile run) {
    int ends[2];
    if (::pipe(ends) != 0) return {-1, -1};
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        struct PipeBuffer : std::stringbuf {
            int file = -1;
            int sync() override {
                const std::string text = str();
                str("");
                return ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : -1;
            }
        } buffer;
        buffer.file = ends[1];
        std::ostream output(&buffer);
        try {
            run(output);
            ::_exit(0);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            ::_exit(1);
        }
    }
    ::close(ends[1]);
    return {child, ends[0]};
}

TEST_F(SweepTest, SurvivesKillsAtAnyMomentWithoutLosingOrDoublingARow) {
    // The full number runs under the label slow.
    const int kills = std::getenv("JOULECAST_KILLS") == nullptr ? 6 : std::atoi(std::getenv("JOULECAST_KILLS"));
    constexpr std::int64_t operations = 60;
    std::mt19937 random(7);
    std::map<std::string, Measurement> before;
    for (int round = 0; round < kills; ++round) {
        const auto [child, progress] = start([this](std::ostream& out) { profile({many(operations)}, "", out, true); });
        // A random amount of progress, then a kill: some hit a measurement, some a commit, some the start.
        std::size_t bytes = random() % 1500;
        char byte = 0;
        while (bytes-- > 0 && ::read(progress, &byte, 1) == 1) {
        }
        ::kill(child, SIGKILL);
        ::close(progress);
        ::waitpid(child, nullptr, 0);
        const auto after = rows();
        for (const auto& [text, measurement] : before) EXPECT_TRUE(after.contains(text)) << "lost: " << text;
        before = after;
    }
    profile({many(operations)});
    EXPECT_EQ(rows().size(), static_cast<std::size_t>(operations));
    EXPECT_EQ(Dataset(file()).networks().size(), 1u);
}

TEST_F(SweepTest, TwoSweepsOnOneDatabaseShareTheWork) {
    const auto run = [this](std::ostream& out) { profile({many(40)}, "", out, true); };
    const auto [first, first_progress] = start(run);
    const auto [second, second_progress] = start(run);
    char bytes[4096];
    while (::read(first_progress, bytes, sizeof bytes) > 0 || ::read(second_progress, bytes, sizeof bytes) > 0) {
    }
    for (const pid_t child : {first, second}) {
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(rows().size(), 40u);  // rows() fails on a doubled one
}

}  // namespace
}  // namespace joulecast
