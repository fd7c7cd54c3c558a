#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace joulecast {

/// What Slurm is told of an array. Empty: not said, so that the cluster's own default holds.
struct SlurmWish {
    std::string partition;
    std::string time;                     ///< of a task, as sbatch takes it: "2:00:00"
    std::string gres;                     ///< of a task: "gpu:1"
    bool exclusive = false;               ///< no other job on the node
    int at_once = 0;                      ///< tasks that run together at most; 0: as many as there are nodes
    int grace_s = 120;                    ///< from the warning to the end of the time
    std::vector<std::string> directives;  ///< further options of sbatch: "--account=ai"
};

/// An array of tasks, each of which measures one shard.
struct FleetPlan {
    std::filesystem::path folder;       ///< of the fleet, on a disk that all nodes see; absolute
    std::filesystem::path work_folder;  ///< that the arguments' files are relative to; absolute
    std::string joulecast;              ///< the program on the nodes
    std::string device = "cpu";         ///< of the worker
    std::vector<std::string> what;      ///< arguments of profile: what to measure
    std::vector<std::string> how;  ///< arguments of profile: on what and how; those of the comparison of cards, too
    int shards = 1;
    bool compare_cards = true;  ///< every card measures the probe besides
    bool mark_shared = false;   ///< where energy is not the job's, measure without; otherwise do not measure at all
    int copy_every_s = 300;
    int most_restarts = 20;  ///< of one task, after which it stays stopped
    SlurmWish slurm;
};

/// The body of the script, the same for all fleets.
extern const char* const task_script;

/// What sbatch takes. Throws UsageError for what cannot stand in its lines: a folder with spaces or %, a line feed.
std::string sbatch_script(const FleetPlan& plan);

/// Throws UsageError where an array of that many tasks is more than `max_array_size` (Slurm's MaxArraySize) allows.
void check_array(int shards, int max_array_size);

}  // namespace joulecast
