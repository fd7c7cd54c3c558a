// An array of tasks under a real Slurm on this machine: pretended cards on four nodes, tasks that are killed, a node
// that is drained, a node that dies.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/dataset/dataset.h"
#include "joulecast/fleet/fleet_folder.h"
#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using namespace joulecast::testing;
using Json = nlohmann::json;

constexpr const char* networks = "resnet50 mobilenet_v2 efficientnet_b0 densenet121 --set batch=1,8";
constexpr double slower = 1.05;

std::int64_t number_of(const char* variable, std::int64_t otherwise) {
    const char* value = std::getenv(variable);
    return value == nullptr ? otherwise : std::atoll(value);
}

/// Session and operation: a row that was copied back must be there for ever.
using Rows = std::set<std::pair<std::string, std::string>>;

class SlurmArray : public ::testing::Test {
  protected:
    void SetUp() override {
        if (run_shell("PATH=$PATH:/usr/sbin; command -v slurmctld slurmd munged sbatch").status != 0)
            GTEST_SKIP() << "Slurm is not installed: apt-get install slurm-wlm munge";
        const Ran started = run_shell(cluster("start") + " n1 n2 n3 n4");
        ASSERT_EQ(started.status, 0) << started.err;
        write_cards();
    }
    void TearDown() override { run_shell(cluster("stop")); }

    std::string cluster(const std::string& word) const {
        return "'" JOULECAST_SOURCE_DIR "/tests/fleet/slurm_cluster.sh' " + word + " " + folder.file("slurm");
    }
    Ran slurm(const std::string& command) const {
        return run_shell("export PATH=$PATH:/usr/sbin TMPDIR=" + folder.file("disk") +
                         " SLURM_CONF=" + folder.file("slurm/slurm.conf") + "; " + command);
    }

    /// The same card on each node; that of n4 takes 5 % longer for everything.
    void write_cards() const {
        std::filesystem::create_directories(folder.path() / "disk");
        Json laws = Json::parse(run_shell("'" PRETEND "' --print-laws").out);
        for (const char* node : {"n1", "n2", "n3"}) write_file(folder.file(std::string(node) + ".json"), laws.dump());
        for (Json& card : laws.at("cards")) {
            for (const char* rate : {"matrix_share", "convolution_share", "attention_share", "vector_share",
                                     "bandwidth_share", "cache_bytes_per_cycle", "memory_bytes_per_cycle"})
                card.at(rate) = card.at(rate).get<double>() / slower;
            for (const char* time : {"launch_s", "cpp_call_s"}) card.at(time) = card.at(time).get<double>() * slower;
        }
        write_file(folder.file("n4.json"), laws.dump());
        // Slow enough to be met in the middle. The shell puts the node's name in.
        write_file(
            folder.file("worker"),
            "'" PRETEND "' --drift 0 --laws \"" + folder.path().string() +
                "/$SLURMD_NODENAME.json\" | while IFS= read -r line; do printf '%s\\n' \"$line\"; sleep 0.03; done\n");
    }

    /// "12_7" and its node.
    std::vector<std::pair<std::string, std::string>> running() const {
        std::vector<std::pair<std::string, std::string>> tasks;
        std::istringstream lines(slurm("squeue --noheader --array --states=RUNNING --format='%i %N'").out);
        for (std::string id, node; lines >> id >> node;) tasks.emplace_back(id, node);
        return tasks;
    }

    Json status() const {
        const Ran ran = slurm("\"$JOULECAST\" fleet status " + folder.file("fleet") + " --format json");
        EXPECT_TRUE(ran.status == 0 || ran.status == 3) << ran.err;
        return Json::parse(ran.out);
    }

    static Rows rows_of(const std::filesystem::path& file) {
        Rows rows;
        const ShardCopy copy(file);
        for (const OperationRow& row : copy.dataset().operations())
            rows.emplace(row.provenance.session, signature(row.measurement.operation));
        return rows;
    }
    Rows rows_of_shards() const {
        Rows all;
        const FleetFolder fleet = open_fleet_folder(folder.file("fleet"));
        for (const std::string& name : stored_names(fleet)) all.merge(rows_of(fleet.shard_file(name, ".db")));
        return all;
    }

    /// What tasks that were ended have brought back so far: they must go on from there.
    void look_at_ended() {
        for (const std::string& name : ended_shards) {
            const auto file = folder.path() / "fleet/shards" / (name + ".db");
            if (std::filesystem::exists(file)) seen.merge(rows_of(file));
        }
    }

    void wait_for_the_end() const {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(10);
        while (!slurm("squeue --noheader").out.empty()) {
            ASSERT_LT(std::chrono::steady_clock::now(), deadline) << slurm("squeue").out;
            std::this_thread::sleep_for(std::chrono::milliseconds(300));
        }
    }

    /// All at once, as when memory runs out: nothing of the task has a chance to say or store anything. How many.
    int kill_processes_of(const std::string& task) const {
        const std::string array = task.substr(0, task.find('_')), index = task.substr(task.find('_') + 1);
        return std::atoi(run_shell("pids=; for file in $(grep -lsz '^SLURM_CONF=" + folder.file("slurm/slurm.conf") +
                                   "$' /proc/[0-9]*/environ); do if grep -qsz '^SLURM_ARRAY_JOB_ID=" + array +
                                   "$' $file && grep -qsz '^SLURM_ARRAY_TASK_ID=" + index +
                                   "$' $file; then pids=\"$pids $(basename $(dirname $file))\"; fi; done; [ -n "
                                   "\"$pids\" ] && kill -KILL $pids; "
                                   "echo $pids | wc -w")
                             .out.c_str());
    }

    /// One running task, by one of the ways in which Slurm or a user ends it; where none runs, none.
    void kill_one(std::mt19937& random) {
        static const std::pair<const char*, const char*> ways[] = {
            {"cancelled", "timeout 2 scancel "},
            {"warned", "timeout 2 scancel --batch --signal=TERM "},
            {"requeued", "scontrol requeue "},
        };
        const auto tasks = running();
        if (tasks.empty()) return;
        const std::string task = tasks[random() % tasks.size()].first;
        ended_shards.insert(shard_name(std::atoi(task.c_str() + task.find('_') + 1)));
        if (random() % 2 == 0) {
            kills["killed"] += kill_processes_of(task) > 0 ? 1 : 0;
            return;
        }
        const auto& [name, command] = ways[random() % std::size(ways)];
        // scancel asks again and again while the task, which has got its signal, is being ended: 124 is timeout's.
        const int status = slurm(command + task).status;
        if (status != 0 && status != 124) return;  // the task had ended
        ++kills[name];
    }

    /// The node's card has measured what all cards measure.
    bool is_compared(const std::string& node) const {
        return std::filesystem::exists(folder.path() / "fleet/shards" / ("card-" + node + ".done"));
    }

    void let_node_die(const std::string& node) const {
        slurm("kill -KILL $(cat " + folder.file("slurm/" + node + ".pid") + "); scontrol update nodename=" + node +
              " state=down reason=died");
    }

    /// Ends so many tasks at random moments. On the way n2 is drained, and n3 dies.
    void end_at_random(std::mt19937& random, std::int64_t wanted) {
        bool is_drained = false, has_died = false;
        while (ended() < wanted || !is_drained || !has_died) {
            std::this_thread::sleep_for(std::chrono::milliseconds(random() % 400));
            look_at_ended();
            if (ended() < wanted) kill_one(random);
            if (slurm("squeue --noheader").out.empty()) break;
            if (ended() >= wanted / 3 && !is_drained && is_compared("n2")) {
                is_drained = slurm("scontrol update nodename=n2 state=drain reason=test").status == 0;
                seen.merge(rows_of_shards());
            }
            if (ended() >= 2 * wanted / 3 && !has_died && is_compared("n3")) {
                let_node_die("n3");
                has_died = true;
                seen.merge(rows_of_shards());
            }
        }
        EXPECT_TRUE(is_drained && has_died) << "the array was over too soon";
        wait_for_the_end();
        seen.merge(rows_of_shards());
    }

    /// What is missing, by the line that status prints, submitted twice as people do. How often that was needed.
    int measure_the_rest() {
        int rounds = 0;
        for (Json now = status(); now.at("finished") != now.at("tasks") && rounds < 5; now = status(), ++rounds) {
            const std::string line =
                "sbatch --array=" + now.at("array").get<std::string>() + " " + folder.file("fleet/fleet.sbatch");
            EXPECT_EQ(slurm(line + " && " + line).status, 0);
            wait_for_the_end();
        }
        return rounds;
    }

    /// Of the shards; a second one fails.
    std::set<std::string> measured_operations() const {
        std::set<std::string> once;
        const FleetFolder fleet = open_fleet_folder(folder.file("fleet"));
        for (const std::string& name : stored_names(fleet)) {
            if (!shard_number(name)) continue;
            const ShardCopy copy(fleet.shard_file(name, ".db"));
            for (const OperationRow& row : copy.dataset().operations())
                EXPECT_TRUE(once.insert(signature(row.measurement.operation)).second) << "twice: " << name;
        }
        return once;
    }

    /// What one sweep on one card measures.
    std::set<std::string> wanted_operations() const {
        const Ran whole = run_joulecast("profile " + std::string(networks) +
                                        " --device pretend-a --worker '" PRETEND "' --db " + folder.file("whole.db"));
        EXPECT_EQ(whole.status, 0) << whole.err;
        std::set<std::string> wanted;
        for (const OperationRow& row : Dataset(folder.file("whole.db")).operations())
            wanted.insert(signature(row.measurement.operation));
        return wanted;
    }

    int ended() const {
        int all = 0;
        for (const auto& [way, count] : kills) all += count;
        return all;
    }

    std::map<std::string, int> kills;    ///< tasks that were ended, by how
    std::set<std::string> ended_shards;  ///< of these
    Rows seen;                           ///< all that was ever copied back
    TemporaryFolder folder;
};

TEST_F(SlurmArray, LosesNothingAndMeasuresNothingTwice) {
    const auto start = std::chrono::steady_clock::now();
    const auto tasks = number_of("JOULECAST_FLEET_TASKS", 40);
    const auto seed = number_of("JOULECAST_KILL_SEED", std::random_device{}());
    SCOPED_TRACE("again with JOULECAST_KILL_SEED=" + std::to_string(seed));
    const Ran planned =
        slurm("\"$JOULECAST\" fleet plan " + std::string(networks) + " --slurm --array " + std::to_string(tasks) +
              " --device pretend-a --worker 'sh " + folder.file("worker") + "' --folder " + folder.file("fleet"));
    ASSERT_EQ(planned.status, 0) << planned.err;
    ASSERT_EQ(slurm("sbatch " + folder.file("fleet/fleet.sbatch")).status, 0);

    std::mt19937 random(static_cast<std::uint32_t>(seed));
    end_at_random(random, number_of("JOULECAST_FLEET_KILLS", 8));
    const Json before = status();
    const int rounds = measure_the_rest();
    const Json end = status();
    EXPECT_EQ(end.at("finished"), tasks) << slurm("\"$JOULECAST\" fleet status " + folder.file("fleet")).out;
    EXPECT_EQ(end.at("missing"), 0);
    const Rows last = rows_of_shards();
    for (const auto& row : seen) EXPECT_TRUE(last.contains(row)) << "lost: " << row.second << " of " << row.first;
    const auto operations = measured_operations();
    EXPECT_EQ(operations, wanted_operations());

    const Ran merged =
        slurm("\"$JOULECAST\" fleet merge " + folder.file("fleet") + " -o " + folder.file("all.db") + " --format json");
    ASSERT_EQ(merged.status, 0) << merged.err;
    const Json merge = Json::parse(merged.out);
    EXPECT_EQ(merge.at("left_out"), 0);
    const Json& by_time = merge.at("comparisons").at(0);
    ASSERT_EQ(by_time.at("cards"), 4);
    EXPECT_THAT(by_time.at("outliers"), ::testing::ElementsAre("n4"));
    std::cout << tasks << " tasks, " << ended() << " ended at random:";
    for (const auto& [way, count] : kills) std::cout << " " << count << " " << way;
    std::cout << "; n2 drained, n3 died; " << before.at("finished") << " finished before " << rounds
              << " further submissions, each twice; " << operations.size() << " operations, none twice; " << seen.size()
              << " rows looked for again; 4 cards, widest " << by_time.at("widest") << "; "
              << std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start).count()
              << " s; seed " << seed << "\n";
}

}  // namespace
}  // namespace joulecast
