#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "joulecast/dataset/dataset.h"
#include "joulecast/device/device_table.h"
#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using namespace joulecast::testing;

/// The worker of tests/profile, which computes its answers.
std::string with_worker(const std::string& options = "") {
    return " --worker \"exec '" FAKE_WORKER "' " + options + "\"";
}

nlohmann::json profiled(const std::string& arguments) {
    const Ran ran = run_joulecast("profile " + arguments + " --format json");
    EXPECT_EQ(ran.status, 0) << ran.err;
    return nlohmann::json::parse(ran.out);
}

TEST(Profile, MeasuresWhatIsMissingAndNothingTwice) {
    const TemporaryFolder folder;
    const std::string db = " --db " + folder.file("a.db") + with_worker();
    const auto first = profiled("alexnet --set batch=1,8 --networks" + db);
    EXPECT_GT(first.at("measured"), 10);
    EXPECT_EQ(first.at("measured"), first.at("wanted"));
    EXPECT_EQ(first.at("left"), 0);
    const auto again = profiled("alexnet --set batch=1,8 --networks" + db);
    EXPECT_EQ(again.at("measured"), 0);
    EXPECT_EQ(again.at("already_measured"), first.at("wanted"));
    const Ran more = run_joulecast("profile alexnet --set batch=8 --mode inference,training" + db);
    EXPECT_THAT(more.err, HasSubstr("already measured on cpu-fake"));
}

TEST(Profile, PatienceIsATime) {
    const TemporaryFolder folder;
    const std::string db = "alexnet --set batch=8 --db " + folder.file("a.db") + with_worker();
    const Ran refused = run_joulecast("profile " + db + " --patience 5x");
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("'5x' is not a duration"));
    EXPECT_GT(profiled(db + " --patience 10m").at("measured"), 0);
}

TEST(Profile, NamesTheEngineAndMeasuresAnewForAnother) {
    const TemporaryFolder folder;
    const std::string db = "alexnet --set batch=8 --db " + folder.file("a.db");
    const auto first = profiled(db + with_worker("--framework 'torch 2.13.0'"));
    EXPECT_EQ(first.at("engine"), "torch");
    const auto other = profiled("--dry-run " + db + with_worker("--framework 'onnxruntime 1.31'"));
    EXPECT_EQ(other.at("engine"), "onnxruntime");
    EXPECT_EQ(other.at("already_measured"), 0);
    EXPECT_EQ(other.at("plan").at(0).at("engine"), "onnxruntime");
    const auto parts =
        nlohmann::json::parse(run_joulecast("info --format json " + folder.file("a.db")).out).at("parts");
    EXPECT_EQ(parts.at(0).at("engine"), "torch");
}

// A worker that calls its card a30 and knows no figures of it failed at `train`, after the whole sweep.
TEST(Profile, ACardThatAWorkerOnlyNamesCanBeTrainedFor) {
    const TemporaryFolder folder;
    profiled("alexnet resnet18 --set batch=1,8 --device cuda:0 --db " + folder.file("a.db") +
             with_worker("--card a30 --gpu 1440"));
    const Dataset dataset(folder.file("a.db"));
    EXPECT_EQ(dataset.devices().at(0).memory_bytes, find_device("a30").memory_bytes);
    {
        // And a database of before, which holds the bare name.
        Dataset bare(folder.file("bare.db"));
        Device card;
        card.id = "a30";
        card.kind = Device::Kind::gpu;
        bare.insert(card);
        for (const OperationRow& row : dataset.operations()) bare.insert(row.measurement, row.provenance);
    }
    for (const std::string name : {"a.db", "bare.db"}) {
        const Ran trained =
            run_joulecast("train --learner decision_tree --db " + folder.file(name) + " -o " + folder.file("a30.jcp"));
        EXPECT_EQ(trained.status, 0) << name << ": " << trained.err;
    }
}

TEST(Profile, KeepsTheNameOfTheCardWithItsRows) {
    const TemporaryFolder folder;
    profiled("alexnet --set batch=1 --card node7/GPU-1 --db " + folder.file("a.db") + with_worker());
    const Dataset dataset(folder.path() / "a.db", Dataset::Access::read_only);
    for (const OperationRow& row : dataset.operations())
        EXPECT_THAT(row.provenance.machine, EndsWith("; card node7/GPU-1"));
    const Ran refused = run_joulecast("profile alexnet --card 'a b' --db " + folder.file("b.db") + with_worker());
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("'a b' is no name of a card"));
    EXPECT_FALSE(std::filesystem::exists(folder.file("b.db")));
}

TEST(Profile, WritesTheCountsBeforeItMeasuresAndAtTheEnd) {
    const TemporaryFolder folder;
    const std::string counts = folder.file("counts.json");
    const std::string asked = "alexnet --set batch=1 --counts " + counts + " --db " + folder.file("a.db");
    // The worker is lost at its first measurement, three times: the sweep fails, but what it was about is known.
    EXPECT_EQ(run_joulecast("profile " + asked + with_worker("--die-at-random 1")).status, 1);
    const auto before = nlohmann::json::parse(read_file(counts));
    EXPECT_EQ(before.at("state"), "measuring");
    EXPECT_GT(before.at("wanted"), 10);
    const auto result = profiled(asked + with_worker());
    const auto after = nlohmann::json::parse(read_file(counts));
    EXPECT_EQ(after.at("state"), "ended");
    EXPECT_EQ(after.at("wanted"), before.at("wanted"));
    EXPECT_EQ(after.at("measured"), result.at("measured"));
    EXPECT_EQ(after.at("left"), 0);
}

TEST(Profile, GoesOnAfterWorkersDie) {
    const TemporaryFolder folder;
    const auto ran = profiled("alexnet --set batch=8 --db " + folder.file("a.db") + with_worker("--crash-on conv2d"));
    EXPECT_EQ(ran.at("failed"), 5);  // AlexNet has five convolutions, all different
    EXPECT_GT(ran.at("measured"), 5);
    EXPECT_THAT(run_joulecast("info " + folder.file("a.db")).out, HasSubstr("crashed"));
}

TEST(Profile, EndsWithStatus130WhenInterruptedAndKeepsEverything) {
    const TemporaryFolder folder;
    const std::string arguments = "profile alexnet --set batch=8 --db " + folder.file("a.db");
    const Ran ran = run_joulecast(arguments + with_worker("--signal-parent-on max_pool"));
    EXPECT_EQ(ran.status, 130) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("All results so far are in "));
    EXPECT_EQ(run_joulecast(arguments + with_worker()).status, 0);
}

TEST(Profile, DryRunPrintsThePlanAndMakesNothing) {
    const TemporaryFolder folder;
    const auto plan = profiled("alexnet --dry-run --networks --db " + folder.file("a.db"));
    EXPECT_EQ(plan.at("plan").size(), plan.at("planned").get<std::size_t>());
    EXPECT_EQ(plan.at("plan").back().at("kind"), "network");
    EXPECT_FALSE(std::filesystem::exists(folder.file("a.db")));
}

TEST(Profile, ReadsPlanFilesAndTheCommandLineOverridesThem) {
    const TemporaryFolder folder;
    write_file(folder.file("a.plan"), "models = alexnet\nset = batch=1,2,4\n");
    const std::string db = " --dry-run --db " + folder.file("a.db");
    const auto all = profiled(folder.file("a.plan") + db);
    const auto one = profiled(folder.file("a.plan") + " --set batch=4" + db);
    EXPECT_EQ(all.at("wanted").get<int>(), 3 * one.at("wanted").get<int>());  // AlexNet's calls all carry the batch
    write_file(folder.file("b.plan"), "models = alexnet\nbudjet = 3\n");
    const Ran wrong = run_joulecast("profile " + folder.file("b.plan") + db);
    EXPECT_EQ(wrong.status, 1);
    EXPECT_THAT(wrong.err, HasSubstr("b.plan:2: unknown setting 'budjet'"));
}

// A plan's budget once beat that of the command line: nothing more was measured, whatever was asked.
TEST(Profile, ABudgetOfTheCommandLineReplacesThatOfThePlan) {
    const TemporaryFolder folder;
    write_file(folder.file("a.plan"), "models = alexnet\nset = batch=8\nbudget = 3s\n");
    const std::string start = folder.file("a.plan") + " --db " + folder.file("a.db");
    const auto first = profiled(start + " --dry-run");
    EXPECT_GT(first.at("beyond_budget"), 0);
    EXPECT_LT(first.at("estimated_s"), 3.01);
    EXPECT_EQ(profiled(start + " --dry-run --budget 5m").at("beyond_budget"), 0);
    const auto few = profiled(start + with_worker());
    const auto rest = profiled(start + " --budget 5m" + with_worker());
    EXPECT_GT(rest.at("measured"), 0);
    EXPECT_EQ(rest.at("already_measured"), few.at("measured"));
    EXPECT_EQ(rest.at("left"), 0);
}

TEST(Profile, TheShippedPlanDoesNotHoldTheNetworksThatQuickstartForecasts) {
    const TemporaryFolder folder;
    const std::string arguments = "profile plans/quick.plan --dry-run --db " + folder.file("a.db");
    const Ran ran = run_joulecast(arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(ran.out.find("resnet18"), std::string::npos);
    EXPECT_EQ(ran.out.find("mobilenet_v2"), std::string::npos);
}

TEST(Profile, PlansAugmentationAndProbeBesideTheNetworks) {
    const TemporaryFolder folder;
    const auto kinds = [&](const std::string& arguments) {
        std::map<std::string, int> found;
        const auto plan = profiled(arguments + " --dry-run --db " + folder.file("a.db"));
        for (const auto& one : plan.at("plan")) ++found[one.at("kind").get<std::string>()];
        return found;
    };
    auto found = kinds("alexnet --augment 25 --probe");
    EXPECT_EQ(found["augmentation"], 25);
    EXPECT_EQ(found["probe"], 32);
    EXPECT_GT(found["operation"], 10);
    EXPECT_EQ(kinds("--probe"), (std::map<std::string, int>{{"probe", 32}}));
    write_file(folder.file("s.plan"), "models = alexnet\naugment = 10\noperations = no\nprobe = yes\n");
    EXPECT_EQ(kinds(folder.file("s.plan")), (std::map<std::string, int>{{"augmentation", 10}, {"probe", 32}}));
    EXPECT_EQ(kinds(folder.file("s.plan") + " alexnet --augment 3 --no-operations")["augmentation"], 3);
    EXPECT_EQ(run_joulecast("profile --dry-run --db none.db").status, 2);
    EXPECT_EQ(run_joulecast("profile alexnet --augment few --dry-run --db none.db").status, 2);
}

TEST(Profile, RefusesWhatTheWorkerCannotDo) {
    const TemporaryFolder folder;
    const std::string start = "profile alexnet --db " + folder.file("a.db") + with_worker();
    const Ran energy = run_joulecast(start + " --require-energy");
    EXPECT_EQ(energy.status, 1);
    EXPECT_THAT(energy.err, HasSubstr("cannot measure energy: fakes have no meter"));
    EXPECT_THAT(run_joulecast(start + " --precision fp16").err, HasSubstr("does not measure fp16"));
    EXPECT_THAT(run_joulecast(start + " --host python").err, HasSubstr("the worker has no host python"));
    EXPECT_THAT(run_joulecast(start + " --device cuda:0").err, HasSubstr("has no device 'cuda:0'. It has: cpu"));
}

TEST(Profile, SaysHowFarRepeatsLieApart) {
    const TemporaryFolder folder;
    const std::string db = " --db " + folder.file("a.db");
    const auto ran = profiled("alexnet --set batch=8" + db + with_worker());
    EXPECT_GE(ran.at("references"), 4);
    EXPECT_EQ(ran.at("sigma_between"), 0);  // the fake answers the same each time
    EXPECT_EQ(ran.at("repeated"), 0);
    const Ran info = run_joulecast("info " + folder.file("a.db"));
    EXPECT_THAT(info.out, HasSubstr(" repeats in 1 session"));
    EXPECT_THAT(info.out, HasSubstr("(95 %, median; sigma between included)"));
}

TEST(Profile, MeasuresAtEveryClockAndLimitOrSaysWhyNot) {
    const TemporaryFolder folder;
    const std::string start = "alexnet --set batch=8 --db " + folder.file("a.db");
    const auto one = profiled(start + " --dry-run" + with_worker("--clocks 1"));
    const auto ran = profiled(start + " --clocks 900,1200 --power-limits 150" + with_worker("--clocks 1"));
    EXPECT_EQ(ran.at("wanted"), 2 * one.at("wanted").get<int>());
    EXPECT_EQ(ran.at("measured"), ran.at("wanted"));
    const Ran csv = run_joulecast("export --db " + folder.file("a.db"));
    EXPECT_THAT(csv.out, HasSubstr(",1200,"));
    const Ran refused = run_joulecast("profile " + start + " --clocks 900" + with_worker());
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err,
                HasSubstr("cannot lock clocks on cpu-fake: fakes have no clocks. Run as root, or measure"));
}

TEST(Profile, MeasuresAtTheClocksOfAPlanAndSaysSoBefore) {
    const TemporaryFolder folder;
    write_file(folder.file("c.plan"), "models = alexnet\nset = batch=8\nclocks = 900,1200\npower-limits = 150\n");
    const std::string start = "profile " + folder.file("c.plan") + " --db " + folder.file("a.db");
    const Ran ran = run_joulecast(start + with_worker("--clocks 1"));
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("the plan sets clock and power limit of cpu-fake: 2 settings"));
    EXPECT_THAT(run_joulecast("export --db " + folder.file("a.db")).out, HasSubstr(",1200,"));
    // The command line replaces it.
    const Ran current = run_joulecast(start + " --clocks current --power-limits current --dry-run" + with_worker());
    EXPECT_EQ(current.status, 0) << current.err;
    EXPECT_EQ(current.err.find("the plan sets"), std::string::npos);
    EXPECT_EQ(run_joulecast(start + with_worker()).status, 1);  // a worker that sets none
}

TEST(Profile, PlansForAGpuWithoutAskingAnyWorker) {
    const TemporaryFolder folder;
    const std::string start =
        "alexnet --set batch=8 --networks --dry-run --clocks 900,1200 --db " + folder.file("a.db");
    const auto known = profiled(start + " --device h100");
    EXPECT_THAT(known.at("device").get<std::string>(), HasSubstr("h100"));
    const auto unknown = profiled(start + " --device cuda:0");
    EXPECT_EQ(unknown.at("planned"), known.at("planned"));
    EXPECT_EQ(unknown.at("plan").at(0).at("sm_clock_mhz"), 900);
}

TEST(Profile, TakesMethodOptimizerAndMeterAlong) {
    const TemporaryFolder folder;
    const std::string start = "alexnet --set batch=8 --networks --mode training --db " + folder.file("a.db");
    const auto first = profiled(start + " --optimizer adam" + with_worker());
    EXPECT_EQ(first.at("measured"), first.at("wanted"));
    EXPECT_EQ(profiled(start + " --optimizer sgd" + with_worker()).at("measured"), 1);  // the network alone
    const auto thesis = profiled(start + " --method thesis --meter none" + with_worker());
    EXPECT_EQ(thesis.at("measured"), thesis.at("wanted"));
    const std::string csv = run_joulecast("export --db " + folder.file("a.db")).out;
    EXPECT_THAT(csv, HasSubstr("\"\"meter\"\":\"\"none\"\""));
    EXPECT_THAT(csv, HasSubstr(",adam,"));
    EXPECT_THAT(csv, HasSubstr(",thesis,"));
}

TEST(Profile, LogsPowerBesideTheSweepWithTheTimeStampsOfTheRows) {
    const TemporaryFolder folder;
    const std::string start = "profile alexnet --set batch=8 --db " + folder.file("a.db") + " --power-log " +
                              folder.file("power.csv") + with_worker();
    const Ran ran = run_joulecast(start);
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::ifstream log(folder.file("power.csv"));
    std::string header, first, last;
    std::getline(log, header);
    std::getline(log, first);
    last = first;
    for (std::string line; std::getline(log, line);) last = line;
    EXPECT_THAT(header, ::testing::StartsWith("time_utc,time_s,power_w"));
    // Every row lies between the log's first and last line.
    const auto csv = run_joulecast("export --db " + folder.file("a.db")).out;
    const std::size_t row = csv.find(",operation,");
    const std::size_t stamp = csv.find("Z,20", row);  // started_at,ended_at
    ASSERT_NE(stamp, std::string::npos);
    const std::string started_at = csv.substr(stamp - 23, 24);
    EXPECT_LE(first.substr(0, 24), started_at);
    EXPECT_GE(last.substr(0, 24), started_at);
    const Ran remote = run_joulecast("profile alexnet --db " + folder.file("b.db") + " --power-log " +
                                     folder.file("power.csv") + with_worker("--elsewhere 1"));
    EXPECT_EQ(remote.status, 1);
    EXPECT_THAT(remote.err, HasSubstr("the worker runs on another machine"));
}

TEST(Profile, TellsWrongUsage) {
    for (const char* wrong : {"--shard 3/2", "--shard x", "--budget soon", "--mode dreaming", "--set batch",
                              "--threads 0", "--no-operations", "--host abacus", "--clocks fast", "--power-limits all",
                              "--meter sundial", "--method guess", "--optimizer lion"})
        EXPECT_EQ(run_joulecast("profile alexnet --dry-run --db none.db " + std::string(wrong)).status, 2) << wrong;
}

}  // namespace
}  // namespace joulecast
