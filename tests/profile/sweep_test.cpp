#include "joulecast/profile/sweep.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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
#include "joulecast/error.h"
#include "joulecast/profile/found_clocks.h"
#include "profile/reporting_process.h"
#include "profile/sweeps.h"

namespace joulecast {
namespace {

using joulecast::testing::bag;
using joulecast::testing::fake_settings;
using joulecast::testing::relu_row;
using joulecast::testing::start_reporting;
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
    std::filesystem::path file() const { return folder / database_; }

    /// Plans and measures into the file, as `joulecast profile` does; progress goes to `output`.
    SweepResult profile(const std::vector<Variation>& variations, const std::string& worker_options,
                        std::ostream& output, bool terminal = false, std::optional<double> budget_s = {}) {
        // exec: the worker's parent is this process, not the shell.
        return profile_by("exec '" FAKE_WORKER "' " + worker_options, variations, output, terminal, budget_s);
    }
    SweepResult profile_by(const std::string& command, const std::vector<Variation>& variations, std::ostream& output,
                           bool terminal = false, std::optional<double> budget_s = {}) {
        Supervisor supervisor({.command = command, .restart_wait = std::chrono::milliseconds(1)});
        Dataset dataset(file());
        planned_.point.engine = supervisor.capabilities().engine;
        const FoundClocks found = find_clocks(supervisor, planned_.point, {});
        for (ClockSetting& clocks : planned_.clocks) clocks.found = found;
        const MeasuringLock lock(file(), "cpu-fake", [](const std::string&) {}, [] { return false; });
        SweepSettings settings;
        settings.point = planned_.point;
        settings.budget_s = budget_s;
        settings.pace_interval_s = pace_interval_s_;
        settings.interrupted = [] { return was_interrupted.load(); };
        settings.patience = [](const MeasureSettings&, double, bool) { return std::chrono::milliseconds(500); };
        settings.now_s = [this] { return now_s_ += look_s_; };
        SweepProgress progress(output, terminal, settings.now_s);
        return sweep(make_plan(variations, &dataset, planned_), supervisor, dataset, settings, progress);
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

    PlanSettings planned_ = fake_settings();
    std::string database_ = "a.db";
    double now_s_ = 0;
    std::optional<double> pace_interval_s_;
    double look_s_ = 0.001;  ///< that pass with every look at the clock
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

TEST_F(SweepTest, MeasuresAnewForASecondEngine) {
    profile({many(5)}, "--framework 'torch 2.13.0'");
    const SweepResult other = profile({many(5)}, "--framework 'onnxruntime 1.31'");
    EXPECT_EQ(other.measured, 6);
    std::map<std::string, int> engines;
    const Dataset dataset(file());
    for (const OperationRow& row : dataset.operations()) ++engines[row.measurement.real.engine];
    for (const NetworkRow& row : dataset.networks()) ++engines[row.measurement.real.engine];
    EXPECT_EQ(engines, (std::map<std::string, int>{{"torch", 6}, {"onnxruntime", 6}}));
    EXPECT_EQ(profile({many(5)}, "--framework 'onnxruntime 2.0'").measured, 0);
}

TEST_F(SweepTest, StoresNothingThatAnotherEngineMeasured) {
    profile({many(2)}, "--engine-of-answers tvm");
    for (const auto& [text, measurement] : rows()) {
        EXPECT_EQ(measurement.outcome, Outcome::crashed);
        EXPECT_THAT(measurement.message, HasSubstr("measured with engine tvm, not torch"));
        EXPECT_TRUE(std::isnan(measurement.time.mean_s));
    }
}

TEST_F(SweepTest, GoesOnAfterNumbersThatCannotBeRight) {
    const SweepResult result = profile({many(5)}, "--endless-on '[3,8]'");
    EXPECT_EQ(result.left, 0);
    const Measurement row = rows().at(signature(relu_row(3)));
    EXPECT_EQ(row.outcome, Outcome::suspect);
    EXPECT_THAT(row.message, HasSubstr("1e+308 s, not from 1 ns to a day"));
    EXPECT_THAT(output_.str(), HasSubstr("suspect: time is 1e+308 s"));
    EXPECT_EQ(profile({many(5)}, "--endless-on '[3,8]'").failed, 0);  // it was tried
}

// A job script had set 900 MHz, and the sweep found everything measured already, at 1440 MHz.
TEST_F(SweepTest, MeasuresAnewAtAClockThatAnotherProgramSet) {
    EXPECT_EQ(profile({many(5)}, "--gpu 1440").measured, 6);
    EXPECT_EQ(profile({many(5)}, "--gpu 1440").measured, 0);
    EXPECT_EQ(profile({many(5)}, "--gpu 1400").measured, 0);  // boost wanders
    EXPECT_EQ(profile({many(5)}, "--gpu 900").measured, 6);   // the network too: its session tells
    EXPECT_EQ(profile({many(5)}, "--gpu 900").measured, 0);
    // And another's power limit, of which the fake says nothing with networks.
    EXPECT_EQ(profile({many(5)}, "--gpu 1440:150").measured, 5);
    std::map<double, int> clocks;
    for (const OperationRow& row : Dataset(file()).operations()) ++clocks[row.measurement.real.sm_clock_mhz];
    EXPECT_EQ(clocks, (std::map<double, int>{{900, 5}, {1440, 10}}));
}

// A session of heavy operations alone would else tell the clock of its power cap.
TEST_F(SweepTest, StoresTheClockUnderALightLoadOnceInEachSession) {
    const auto light = [this] {
        std::vector<double> clocks;
        for (const ReferenceRow& row : Dataset(file()).references())
            if (row.operation == signature(light_operation())) clocks.push_back(row.real.sm_clock_mhz);
        return clocks;
    };
    profile({many(3)});
    EXPECT_TRUE(light().empty());  // a CPU has no such clocks
    database_ = "gpu.db";
    const SweepResult result = profile({many(3)}, "--gpu 1440");
    EXPECT_EQ(light(), std::vector{1440.0});
    EXPECT_EQ(result.references, 4);  // three at the start, one at the end: this one is no repeat
}

TEST_F(SweepTest, SaysThatTheClockChangedSinceItWasPlanned) {
    profile({many(3)}, "--gpu 1440 --gpu-later 1420");
    EXPECT_THAT(output_.str(), ::testing::Not(HasSubstr("another program sets its clock")));
    profile({many(4)}, "--gpu 1440 --gpu-later 900");
    EXPECT_THAT(output_.str(), HasSubstr("now runs at 900 MHz, not 1440 MHz as planned"));
    // What was planned as missing is stored with what was read, and counts for that.
    EXPECT_EQ(profile({many(4)}, "--gpu 900").measured, 4);
}

TEST_F(SweepTest, TellsOfRowsThatDoNotTellTheirClock) {
    profile({many(3)}, "--gpu 1440");
    EXPECT_THAT(output_.str(), ::testing::Not(HasSubstr("have no clock")));
    Measurement silent = rows().begin()->second;
    silent.operation = relu_row(77);
    silent.real.sm_clock_mhz = std::nan("");
    Dataset(file()).insert(silent, joulecast::testing::sample_provenance());
    profile({many(3)}, "--gpu 1440");
    EXPECT_THAT(output_.str(), HasSubstr("of cpu-fake have no clock"));
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

TEST_F(SweepTest, ABadAnswerIsARowAndTheSweepGoesOn) {
    const std::map<std::string, std::string> kinds = {
        {"--negative-clock-on", "real_sm_clock_mhz is negative"},
        {"--refuses", "the worker refused the request: not this one"},
        {"--another-on", "of another operation: aten::relu(self=f32[999])"},
        {"--another-device-on", "of h200, not of cpu-fake"}};
    for (const auto& [option, message] : kinds) {
        std::filesystem::remove(file());
        const SweepResult result = profile({many(5)}, option + " '[2,8]'");
        EXPECT_EQ(result.failed, 1) << option;
        const auto stored = rows();
        ASSERT_EQ(stored.size(), 5u) << option;
        EXPECT_EQ(stored.at(signature(relu_row(2))).outcome, Outcome::crashed) << option;
        EXPECT_THAT(stored.at(signature(relu_row(2))).message, HasSubstr(message));
        EXPECT_EQ(stored.at(signature(relu_row(4))).outcome, Outcome::ok) << option;
    }
}

TEST_F(SweepTest, KeepsWhatAnEngineMadeOfANetworkAndRefusesNodesThatItLacks) {
    profile({many(3)}, "--kernel 2");
    const NetworkMeasurement kept = Dataset(file()).networks().at(0).measurement;
    EXPECT_EQ(kept.kernels, (std::vector<NetworkKernel>{{"Fused", {0, 1, 2}}}));
    std::filesystem::remove(file());
    profile({many(3)}, "--kernel 3");
    const NetworkMeasurement refused = Dataset(file()).networks().at(0).measurement;
    EXPECT_EQ(refused.outcome, Outcome::crashed);
    EXPECT_THAT(refused.message, HasSubstr("a kernel of nodes that the network does not have"));
    EXPECT_TRUE(refused.kernels.empty());
}

TEST_F(SweepTest, InfersThatLargerBatchesRunOutOfMemoryToo) {
    profile({bag("first", {{10, 1}})}, "--no-memory-from 10");
    EXPECT_EQ(rows().at(signature(relu_row(10))).outcome, Outcome::out_of_memory);
    // A new sweep knows it from the database: a worker with plenty of memory is not even asked.
    const SweepResult result = profile({bag("second", {{9, 1}, {11, 1}})});
    EXPECT_EQ(result.inferred, 1);
    // Another engine may need less of it.
    EXPECT_EQ(profile({bag("third", {{12, 1}})}, "--framework 'tvm 0.27'").inferred, 0);
    EXPECT_EQ(rows().at(signature(relu_row(11))).outcome, Outcome::inferred);
    EXPECT_EQ(rows().at(signature(relu_row(9))).outcome, Outcome::ok);
}

TEST_F(SweepTest, RepeatsAReferenceOperationAndTellsHowFarItLiesApart) {
    look_s_ = 5;  // several looks for each operation: a repeat is due every few of them
    const SweepResult result = profile({many(30)}, "--drift 2:2:1.02 --nonsense-on '[3,8]'");
    EXPECT_GT(result.references, 5);
    std::vector<ReferenceRow> references;
    std::map<std::string, int> drawn;
    for (const ReferenceRow& row : Dataset(file()).references()) {
        if (row.operation.starts_with("aten::mm")) references.push_back(row);
        if (row.operation.starts_with("aten::relu")) ++drawn[row.operation];
    }
    EXPECT_EQ(std::ssize(references), result.references);
    EXPECT_GT(drawn.size(), 2u);
    for (const auto& [operation, times] : drawn) EXPECT_EQ(times, 2) << operation;
    EXPECT_EQ(references.at(0).operation, "aten::mm(self=f32[512,512], mat2=f32[512,512])");
    // The fake answers 512 us, the second time 2 % more: n numbers, one of them off by d, have mean 1 + d/n and
    // deviation d / sqrt(n).
    const auto n = static_cast<double>(references.size());
    EXPECT_NEAR(result.sigma_between, 0.02 / std::sqrt(n) / (1 + 0.02 / n), 1e-9);
    EXPECT_EQ(rows().size(), 30u);
    EXPECT_EQ(output_.str().find("drift"), std::string::npos) << output_.str();
    for (const OperationRow& row : Dataset(file()).operations()) {
        EXPECT_LE(row.measurement.started_at, row.measurement.ended_at);
        EXPECT_EQ(row.measurement.started_at.size(), 24u) << row.measurement.started_at;
    }
}

TEST_F(SweepTest, MarksWhatWasMeasuredWhileTheMachineDriftedAndMeasuresItOnceMore) {
    look_s_ = 5;
    const SweepResult result = profile({many(30)}, "--drift 6:6:1.5");
    EXPECT_EQ(result.measured, 31);
    // Those between the fifth repeat and the sixth: a share of all 31, which the repeats after the first three divide.
    EXPECT_GT(result.repeated, 0);
    EXPECT_LE(result.repeated, 31 / (result.references - 4) + 1);
    const std::string told = output_.str();
    EXPECT_THAT(told, HasSubstr("the machine drifts: the reference operation takes 50 % more time"));
    EXPECT_EQ(told.find("drifts"), told.rfind("drifts"));  // once
    std::int64_t marked = 0;
    for (const auto& [text, measurement] : rows())
        if (measurement.message.find("measured once more: the reference operation took 50 % more") == 0) ++marked;
    EXPECT_EQ(marked, result.repeated);
    std::int64_t drifted = 0;
    for (const ReferenceRow& row : Dataset(file()).references()) drifted += row.drifted ? 1 : 0;
    EXPECT_EQ(drifted, 1);
}

TEST_F(SweepTest, LeavesTheMarkWhereTheBudgetDoesNotAllowARepeat) {
    look_s_ = 5;
    const SweepResult result = profile({bag("a", {{1, 1}, {2, 1}, {3, 1}})}, "--drift 4:9:1.5", output_, false, 75);
    EXPECT_EQ(result.repeated, 0);
    std::int64_t marked = 0;
    for (const auto& [text, measurement] : rows())
        marked += measurement.message == "the reference operation took 50 % more time than at the start" ? 1 : 0;
    EXPECT_GT(marked, 0);
}

TEST_F(SweepTest, LetsTheWorkerPrepareAndSaysWhatItFoundOnce) {
    planned_.clocks = {{900}, {1200}};
    const SweepResult result = profile({many(4)}, "--prepares 'the meter is suspect' --crash-on '[2,8]'");
    EXPECT_EQ(result.measured, 8);
    const std::string told = output_.str();
    EXPECT_THAT(told, HasSubstr("the meter is suspect"));
    EXPECT_EQ(told.find("suspect"), told.rfind("suspect"));
    EXPECT_THAT(told, HasSubstr("temperature has not settled (71 C); measuring anyway"));
}

TEST_F(SweepTest, MeasuresOnceMoreWhatHeatThrottled) {
    const SweepResult result = profile({many(8)}, "--thermal-on '[4,8]'");
    EXPECT_EQ(result.repeated, 1);
    EXPECT_EQ(result.measured, 9);
    const Measurement again = rows().at(signature(relu_row(4)));
    EXPECT_DOUBLE_EQ(again.time.mean_s, 4e-6);  // twice as long at first
    EXPECT_EQ(again.conditions.limited_by, LimitedBy::none);
    EXPECT_EQ(again.message, "measured once more: heat throttled the first time");
    EXPECT_THAT(output_.str(), HasSubstr("heat throttles cpu-fake"));
}

TEST_F(SweepTest, GoesOnWithoutReferenceWhereThereIsNone) {
    const SweepResult result = profile({many(5)}, "--no-reference 1");
    EXPECT_EQ(result.measured, 6);
    EXPECT_EQ(result.references, 0);
    EXPECT_TRUE(std::isnan(result.sigma_between));
    EXPECT_THAT(output_.str(), HasSubstr("cannot measure the reference operation: no products here"));
}

TEST_F(SweepTest, ALineThatBreaksCostsNoRow) {
    const std::string line =
        "exec '" FLAKY_LINE "' '" + (folder / "connections").string() + "' 1 \"exec '" FAKE_WORKER "'\"";
    const SweepResult result = profile_by(line, {many(60)}, output_);
    EXPECT_EQ(result.measured, 61);
    EXPECT_EQ(result.failed, 0);
    const auto stored = rows();
    ASSERT_EQ(stored.size(), 60u);
    for (const auto& [text, measurement] : stored) EXPECT_EQ(measurement.outcome, Outcome::ok) << measurement.message;
    long connections = 0;
    std::ifstream(folder / "connections") >> connections;
    EXPECT_GT(connections, 6);
    for (const char* loss : {"died", "garbage", "asking a fresh worker"}) EXPECT_THAT(output_.str(), HasSubstr(loss));
}

TEST_F(SweepTest, BlamesNoOperationWhenTheReferenceIsLostAsWell) {
    const std::string breaks = "--breaks '" + (folder / "broken").string() + "'";
    EXPECT_THROW(profile({many(9)}, breaks), Error);
    EXPECT_FALSE(rows().contains(signature(relu_row(5))));  // not `crashed`: it is tried again
    profile({many(9)});
    EXPECT_EQ(rows().at(signature(relu_row(5))).outcome, Outcome::ok);
}

TEST_F(SweepTest, AFullDiskOfTheWorkersMachineIsNoFaultOfTheOperation) {
    try {
        profile({many(9)}, "--full-on '[5,8]'");
        ADD_FAILURE() << "it went on";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("machine or the line to it was lost twice"));
        EXPECT_THAT(error.what(), HasSubstr("the disk of board is full"));
    }
    const std::size_t kept = rows().size();
    EXPECT_LT(kept, 9u);
    EXPECT_FALSE(rows().contains(signature(relu_row(5))));                         // not `crashed`: it is tried again
    EXPECT_EQ(profile({many(9)}).measured, 10 - static_cast<std::int64_t>(kept));  // the network, too
    EXPECT_EQ(rows().at(signature(relu_row(5))).outcome, Outcome::ok);
}

TEST_F(SweepTest, SaysThatTheWorkerIsOfAnotherRelease) {
    profile({many(2)}, "--release 0.0.9");
    EXPECT_THAT(output_.str(), HasSubstr("the worker is joulecast-fake 0.0.9, this is joulecast "));
    output_.str("");
    profile({many(3)});  // "fake 1" is a stranger, who has releases of his own
    EXPECT_THAT(output_.str(), ::testing::Not(HasSubstr("this is joulecast")));
}

TEST_F(SweepTest, StopsWithAReasonAfterThreeLossesInARow) {
    profile({many(3)});
    try {
        profile({many(9)}, "--crash-on aten");  // whatever it is asked, the reference too
        ADD_FAILURE() << "it went on";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("lost 3 times in a row"));
        EXPECT_THAT(error.what(), HasSubstr("signal 9"));
    }
    EXPECT_EQ(rows().size(), 3u);  // all kept, and none made of a loss
    profile({many(9)});
    EXPECT_EQ(rows().size(), 9u);
}

TEST_F(SweepTest, InfersNetworksTooButNeitherOtherModesNorOtherOptimizers) {
    const auto network = [](std::int64_t batch, Mode mode) {
        Variation variation = bag("net", {{1, 1}});
        variation.operations = false;
        variation.network = true;
        variation.mode = variation.graph.mode = mode;
        variation.symbols["batch"] = batch;
        variation.graph.symbols["batch"].value = batch;
        return variation;
    };
    planned_.optimizer = Optimizer::adam;
    EXPECT_EQ(profile({network(8, Mode::training)}, "--no-memory-from 8").failed, 1);
    // Nobody is asked for a larger one; half of it, another mode and a leaner optimizer are tried.
    EXPECT_EQ(profile({network(16, Mode::training)}).inferred, 1);
    EXPECT_EQ(profile({network(4, Mode::training)}).measured, 1);
    EXPECT_EQ(profile({network(16, Mode::inference)}).measured, 1);
    planned_.optimizer = Optimizer::sgd;
    EXPECT_EQ(profile({network(16, Mode::training)}).measured, 1);
    for (const NetworkRow& row : Dataset(file()).networks())
        if (row.measurement.outcome == Outcome::inferred) {
            EXPECT_EQ(row.measurement.message, "ran out of memory at batch=8");
        }
}

TEST_F(SweepTest, ShardsMergedAreWhatOneSweepMeasures) {
    profile({many(40)});
    const auto whole = rows();
    Dataset merged(folder / "merged.db");
    planned_.shards = 3;
    std::int64_t networks = 0;
    for (planned_.shard = 1; planned_.shard <= 3; ++planned_.shard) {
        database_ = "shard" + std::to_string(planned_.shard) + ".db";
        profile({many(40)});
        EXPECT_LT(rows().size(), 25u);
        const Dataset part(file());
        networks += std::ssize(part.networks());
        EXPECT_EQ(merged.merge(part),
                  std::ssize(part.operations()) + std::ssize(part.networks()) + std::ssize(part.references()));
    }
    database_ = "merged.db";
    EXPECT_EQ(networks, 1);
    const auto all = rows();  // fails on a doubled one
    ASSERT_EQ(all.size(), whole.size());
    for (const auto& [text, measurement] : whole) EXPECT_TRUE(all.contains(text)) << text;
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

/// Milliseconds that the fake was asked to time.
std::int64_t asked_ms(const Measurement& measurement) {
    return measurement.time.calls_per_block;
}

TEST_F(SweepTest, SpendsWhatIsLeftOfABudgetOnWhatErrsMost) {
    planned_.budget_s = 3;
    look_s_ = 0.039;
    const SweepResult result = profile({many(10)}, "--unsettled 1", output_, false, 3);
    EXPECT_EQ(result.measured, 11);
    EXPECT_EQ(result.left, 0);
    EXPECT_GT(result.refined, 0);
    EXPECT_LT(result.refined, 10);
    // Each is called once, and errs by a hundredth of its time: the larger, the more.
    std::int64_t refined = 0;
    for (const auto& [text, measurement] : rows()) {
        const bool is_large = measurement.time.mean_s * 1e6 > 10.5 - static_cast<double>(result.refined);
        EXPECT_EQ(asked_ms(measurement), is_large ? 250 : 50) << text;
        if (is_large) ++refined;
    }
    EXPECT_EQ(refined, result.refined);
    EXPECT_EQ(Dataset(file()).networks().at(0).measurement.time.calls_per_block, 100);
    // Asked again it goes on where it stopped.
    look_s_ = 0.001;
    const SweepResult again = profile({many(10)}, "--unsettled 1", output_, false, 3);
    EXPECT_EQ(again.measured, 0);
    EXPECT_EQ(again.refined, 10 - result.refined);
    for (const auto& [text, measurement] : rows()) EXPECT_EQ(asked_ms(measurement), 250) << text;
    EXPECT_EQ(profile({many(10)}, "--unsettled 1", output_, false, 3).refined, 0);
}

TEST_F(SweepTest, MeasuresNothingLongerThatHasSettled) {
    planned_.budget_s = 3;
    EXPECT_EQ(profile({many(10)}, "", output_, false, 3).refined, 0);
}

TEST_F(SweepTest, PutsNetworksBetweenTheOperationsOfABudget) {
    planned_.budget_s = 60;
    profile({many(60)}, "", output_, false, 60);
    const Dataset dataset(file());
    const std::string network = dataset.networks().at(0).measurement.started_at;
    const auto before = std::ranges::count_if(
        dataset.operations(), [&](const OperationRow& row) { return row.measurement.started_at < network; });
    EXPECT_NEAR(static_cast<double>(before), 30, 5);  // in the middle; time stamps are of a millisecond
}

TEST_F(SweepTest, FollowsThePaceEveryFewSeconds) {
    look_s_ = 0.1;
    pace_interval_s_ = 5;
    const SweepResult result = profile({many(60)});
    // Three at the start, one every five seconds, one before the network and one at the end.
    EXPECT_NEAR(static_cast<double>(result.references), now_s_ / 5 + 5, 3);
    const Dataset dataset(file());
    const std::string network = dataset.networks().at(0).measurement.started_at;
    std::string last_before;
    for (const ReferenceRow& row : dataset.references()) {
        EXPECT_FALSE(row.drifted);
        if (row.operation.starts_with("aten::mm") && row.started_at <= network) last_before = row.started_at;
    }
    for (const OperationRow& row : dataset.operations())  // nothing stands between the two
        EXPECT_FALSE(row.measurement.started_at > last_before && row.measurement.started_at < network);
}

// They were put to the pace of a repeat seconds ago, or to the one at the sweep's end.
TEST_F(SweepTest, FollowsThePaceAlongWhatItMeasuresOnceMore) {
    look_s_ = 1;
    pace_interval_s_ = 5;
    const SweepResult result = profile({many(20)}, "--thermal-on ',8]'");
    ASSERT_EQ(result.repeated, 20);
    std::vector<std::string> again_at;
    for (const auto& [text, measurement] : rows()) again_at.push_back(measurement.started_at);
    const auto [first, last] = std::ranges::minmax(again_at);
    const std::vector<ReferenceRow> references = Dataset(file()).references();
    const auto between = std::ranges::count_if(references, [&](const ReferenceRow& row) {
        return row.operation.starts_with("aten::mm") && row.started_at > first && row.started_at < last;
    });
    EXPECT_GE(between, 3);
}

TEST_F(SweepTest, MarksNothingForDriftWhereABudgetFollowsThePace) {
    look_s_ = 0.5;
    pace_interval_s_ = 5;
    planned_.budget_s = 600;
    const SweepResult result = profile({many(60)}, "--drift 20:1000:1.5", output_, false, 600);
    EXPECT_EQ(result.repeated, 0);
    EXPECT_THAT(output_.str(), HasSubstr("the machine's speed changes"));
    for (const auto& [text, measurement] : rows()) EXPECT_EQ(measurement.message, "") << text;
}

TEST_F(SweepTest, TwoSweepsOnOneDatabaseShareTheWork) {
    const auto run = [this](std::ostream& out) { profile({many(40)}, "", out, true); };
    const auto [first, first_progress] = start_reporting(run);
    const auto [second, second_progress] = start_reporting(run);
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
