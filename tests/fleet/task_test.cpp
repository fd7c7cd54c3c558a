// The task of an array (joulecast/fleet/task.sh), run by hand: squeue and scontrol say what a test wants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "joulecast/dataset/card.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/fleet/fleet_status.h"
#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace joulecast::testing;
namespace fs = std::filesystem;

/// One start of a task.
struct Task {
    int shard = 1;
    std::string job = "12";
    std::string node = "n1";
    int restart = 0;
};

class TaskTest : public ::testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(folder.path() / "bin");
        fs::create_directories(folder.path() / "jobs");
        fs::create_directories(folder.path() / "disk");
        write_tool("squeue",
                   "for word in \"$@\"; do case $word in --jobs=*) job=${word#--jobs=} ;; esac; done\n"
                   "cat '" +
                       folder.file("jobs") +
                       "'/\"$job\" 2>/dev/null && exit\n"
                       "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1\n");
        write_tool("scontrol", "case $1 in requeue) echo \"$2\" >>'" + folder.file("requeued") +
                                   "' ;;\n"
                                   "*) cat '" +
                                   folder.file("facts") + "' ;; esac\n");
        write_file(folder.file("facts"), "JobId=12 OverSubscribe=NO TresPerNode=x\n");
        // After its twelfth answer the worker does what the file `event` says, once.
        write_tool("worker", "'" PRETEND
                             "' --seed 1 | { n=0; while IFS= read -r line; do\n"
                             "printf '%s\\n' \"$line\"; n=$((n+1))\n"
                             "if [ $n -eq 12 ] && [ -e '" +
                                 folder.file("event") +
                                 "' ]; then\n"
                                 "mv '" +
                                 folder.file("event") + "' '" + folder.file("event.done") + "'; bash '" +
                                 folder.file("event.done") + "'; fi; done; }\n");
    }

    void write_tool(const std::string& name, const std::string& text) {
        write_file(folder.path() / "bin" / name, "#!/bin/sh\n" + text);
        fs::permissions(folder.path() / "bin" / name, fs::perms::owner_all);
    }

    /// alexnet and resnet18 on pretend-a, in so many tasks.
    FleetFolder planned(int tasks, const std::string& options = "--no-compare",
                        const std::string& device = "pretend-a") {
        const Ran ran = run_joulecast("fleet plan alexnet resnet18 --slurm --array " + std::to_string(tasks) +
                                      " --device " + device + " --worker " + folder.file("bin/worker") + " --folder " +
                                      folder.file("fleet") + " " + options);
        EXPECT_EQ(ran.status, 0) << ran.err;
        return open_fleet_folder(folder.file("fleet"));
    }

    Ran run(const Task& task) {
        return run_shell("export PATH='" + folder.file("bin") + "':$PATH TMPDIR='" + folder.file("disk") +
                         "' SLURM_ARRAY_TASK_ID=" + std::to_string(task.shard) + " SLURM_ARRAY_JOB_ID=" + task.job +
                         " SLURM_JOB_ID=99 SLURMD_NODENAME=" + task.node +
                         " SLURM_RESTART_COUNT=" + std::to_string(task.restart) + "; setsid --wait sh -c 'echo $$ >" +
                         folder.file("pid") + "; exec bash " + folder.file("fleet/fleet.sbatch") + "'");
    }

    void on_twelfth_answer(const std::string& command) { write_file(folder.file("event"), command); }
    std::string task_pid() const { return "$(cat '" + folder.file("pid") + "')"; }

    ShardStatus status(const FleetFolder& fleet, int shard = 1) const {
        return fleet_status(fleet, std::map<std::string, std::string>()).shards.at(static_cast<std::size_t>(shard - 1));
    }
    std::string journal(const std::string& name = "shard-00001") const {
        return read_file(folder.path() / "fleet/shards" / (name + ".journal"));
    }
    std::vector<OperationRow> rows(const FleetFolder& fleet, const std::string& name = "shard-00001") const {
        const ShardCopy copy(fleet.shard_file(name, ".db"));
        return copy.dataset().operations();
    }
    static std::set<std::string> operations(const std::vector<OperationRow>& rows) {
        std::set<std::string> texts;
        for (const OperationRow& row : rows) texts.insert(signature(row.measurement.operation));
        EXPECT_EQ(texts.size(), rows.size()) << "measured twice";
        return texts;
    }

    TemporaryFolder folder;
};

TEST_F(TaskTest, AllOfThemMeasureThePlanOnceAndEachCardTheProbe) {
    const FleetFolder fleet = planned(3, "");
    for (int shard = 1; shard <= 3; ++shard) {
        const Ran ran = run({.shard = shard, .node = shard == 2 ? "n2" : "n1"});
        EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
        EXPECT_EQ(status(fleet, shard).state, ShardState::finished);
    }
    EXPECT_EQ(rows(fleet, "card-n1").size(), 32u);
    EXPECT_EQ(rows(fleet, "card-n2").size(), 32u);
    std::set<std::string> all;
    for (int shard = 1; shard <= 3; ++shard) {
        for (const OperationRow& row : rows(fleet, shard_name(shard))) {
            EXPECT_EQ(card_of(row.provenance), shard == 2 ? "n2" : "n1");
            EXPECT_TRUE(all.insert(signature(row.measurement.operation)).second);
        }
    }
    const Ran whole = run_joulecast("profile alexnet resnet18 --device pretend-a --worker '" PRETEND "' --db " +
                                    folder.file("whole.db"));
    ASSERT_EQ(whole.status, 0) << whole.err;
    EXPECT_EQ(all, operations(Dataset(folder.file("whole.db")).operations()));
    EXPECT_TRUE(fs::is_empty(folder.path() / "disk" / fs::directory_iterator(folder.path() / "disk")->path()));
}

TEST_F(TaskTest, MeasuresNothingAgain) {
    const FleetFolder fleet = planned(1);
    run({});
    const auto before = rows(fleet);
    EXPECT_EQ(run({.job = "20", .node = "n2"}).status, 0);
    EXPECT_EQ(operations(rows(fleet)).size(), before.size());
    EXPECT_EQ(status(fleet).state, ShardState::finished);
    EXPECT_EQ(status(fleet).node, "n2");
}

TEST_F(TaskTest, StopsWhenSlurmWarnsAndGoesOnElsewhere) {
    const FleetFolder fleet = planned(1);
    on_twelfth_answer("kill -TERM " + task_pid());
    write_file(folder.file("jobs/12_1"), "RUNNING\n");
    EXPECT_EQ(run({}).status, 1);
    EXPECT_EQ(status(fleet).state, ShardState::stopped);
    EXPECT_EQ(read_file(folder.file("requeued")), "12_1\n");
    const auto first = rows(fleet);
    EXPECT_GT(first.size(), 3u);
    EXPECT_GT(status(fleet).missing(), 3);
    EXPECT_EQ(run({.node = "n2", .restart = 1}).status, 0);
    EXPECT_EQ(status(fleet).state, ShardState::finished);
    const auto all = rows(fleet);
    EXPECT_GT(operations(all).size(), first.size());
    for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(all[i].provenance.session, first[i].provenance.session);
}

TEST_F(TaskTest, DoesNotStartAgainByItselfForEver) {
    planned(1, "--no-compare --restarts 2");
    on_twelfth_answer("kill -TERM " + task_pid());
    write_file(folder.file("jobs/12_1"), "RUNNING\n");
    EXPECT_EQ(run({.restart = 2}).status, 1);
    EXPECT_FALSE(fs::exists(folder.file("requeued")));
    EXPECT_THAT(journal(), HasSubstr("started 2 times again and still not done"));
}

TEST_F(TaskTest, GoesOnFromTheDiskOfItsNodeAfterAKill) {
    const FleetFolder fleet = planned(1);
    on_twelfth_answer("kill -KILL -- -" + task_pid());
    EXPECT_NE(run({}).status, 0);
    EXPECT_EQ(status(fleet).state, ShardState::lost);
    EXPECT_FALSE(fs::exists(fleet.shard_file("shard-00001", ".db")));
    EXPECT_TRUE(fs::is_symlink(fleet.shard_file("shard-00001", ".lock")));
    EXPECT_EQ(run({.job = "20"}).status, 0);
    EXPECT_EQ(status(fleet).state, ShardState::finished);
    std::set<std::string> sessions;
    for (const OperationRow& row : rows(fleet)) sessions.insert(row.provenance.session);
    EXPECT_EQ(sessions.size(), 2u);
    operations(rows(fleet));
}

// What a node measured before it died is old by the time another has measured the same.
TEST_F(TaskTest, LeavesWhatIsOnADiskWhenAnotherNodeHasGoneOn) {
    const FleetFolder fleet = planned(1);
    on_twelfth_answer("kill -KILL -- -" + task_pid());
    run({});
    EXPECT_EQ(run({.node = "n2", .restart = 1}).status, 0);
    const auto all = operations(rows(fleet));
    EXPECT_EQ(run({.job = "20"}).status, 0);
    EXPECT_EQ(operations(rows(fleet)), all);
    for (const OperationRow& row : rows(fleet)) EXPECT_EQ(card_of(row.provenance), "n2");
}

TEST_F(TaskTest, LetsAShardBeThatAnotherTaskMeasures) {
    const FleetFolder fleet = planned(1);
    fs::create_symlink("12_1.0", fleet.shard_file("shard-00001", ".lock"));
    write_file(folder.file("jobs/12_1"), "RUNNING\n");
    EXPECT_EQ(run({.job = "20"}).status, 0);
    EXPECT_THAT(journal(), HasSubstr(" skipped "));
    EXPECT_FALSE(fs::exists(fleet.shard_file("shard-00001", ".db")));
    write_file(folder.file("jobs/12_1"), "FAILED\n");
    EXPECT_EQ(run({.job = "20"}).status, 0);
    EXPECT_EQ(status(fleet).state, ShardState::finished);
}

// A node that Slurm has given up may go on measuring while the task runs elsewhere.
TEST_F(TaskTest, CopiesNothingBackOverATaskThatTookItsPlace) {
    const FleetFolder fleet = planned(1);
    const std::string lock = fleet.shard_file("shard-00001", ".lock").string();
    on_twelfth_answer("ln -sfn 12_1.1 " + lock);
    EXPECT_EQ(run({}).status, 1);
    EXPECT_THAT(journal(), HasSubstr("cannot copy back"));
    EXPECT_FALSE(fs::exists(fleet.shard_file("shard-00001", ".db")));
    EXPECT_EQ(fs::read_symlink(lock), "12_1.1");
}

TEST_F(TaskTest, NeverTakesACopyThatWasCutOff) {
    const FleetFolder fleet = planned(1);
    run({});
    const auto file = fleet.shard_file("shard-00001", ".db");
    const std::string whole = read_file(file), half = whole.substr(0, whole.size() / 2);
    fs::rename(file, file.string() + ".part-12_1.0.77");
    EXPECT_EQ(run({.job = "20"}).status, 0);
    EXPECT_FALSE(fs::exists(file.string() + ".part-12_1.0.77"));
    // A disk that lost half of it: somebody has to decide, and nothing is overwritten.
    write_file(file, half);
    EXPECT_EQ(run({.job = "21"}).status, 1);
    EXPECT_EQ(read_file(file), half);
    EXPECT_EQ(status(fleet).state, ShardState::unreadable);
    EXPECT_THAT(journal(), HasSubstr("Move it away to measure this shard anew"));
}

TEST_F(TaskTest, RefusesANodeThatOthersUse) {
    const FleetFolder fleet = planned(1);
    for (const char* facts : {"OverSubscribe=OK", "OverSubscribe=YES", "OverSubscribe=NO TresPerNode=gres:shard:2"}) {
        write_file(folder.file("facts"), facts);
        EXPECT_EQ(run({}).status, 1) << facts;
        EXPECT_EQ(status(fleet).state, ShardState::refused) << facts;
    }
    EXPECT_FALSE(fs::exists(fleet.shard_file("shard-00001", ".db")));
}

TEST_F(TaskTest, RefusesASliceOfACard) {
    const FleetFolder fleet = planned(1, "--no-compare", "cuda:0");
    ::setenv("CUDA_VISIBLE_DEVICES", "MIG-0f3a", 1);
    const Ran ran = run({});
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    EXPECT_EQ(ran.status, 1);
    EXPECT_EQ(status(fleet).state, ShardState::refused);
    EXPECT_EQ(status(fleet).card, "n1/MIG-0f3a");
    EXPECT_THAT(status(fleet).message, HasSubstr("a MIG slice"));
}

TEST_F(TaskTest, MeasuresNoEnergyThatIsNotItsOwn) {
    const FleetFolder fleet = planned(1, "--no-compare --on-shared mark");
    write_file(folder.file("facts"), "OverSubscribe=OK");
    EXPECT_EQ(run({}).status, 0);
    EXPECT_EQ(status(fleet).state, ShardState::finished);
    EXPECT_THAT(status(fleet).message, HasSubstr("no energy: other jobs may be on this node"));
    EXPECT_THAT(rows(fleet), Not(IsEmpty()));
    for (const OperationRow& row : rows(fleet)) EXPECT_FALSE(row.measurement.energy.has_value());
}

}  // namespace
}  // namespace joulecast
