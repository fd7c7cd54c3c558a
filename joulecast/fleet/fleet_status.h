#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/fleet/fleet_folder.h"

namespace joulecast {

enum class ShardState {
    finished,    ///< all of it is measured, or failed as a result
    running,     ///< Slurm says so
    waiting,     ///< Slurm will start it
    left,        ///< its budget was used up before all was measured
    stopped,     ///< by a signal: cancelled, preempted, out of time
    failed,      ///< says why
    refused,     ///< on a shared node
    lost,        ///< it has started and Slurm knows it no more: killed, or its node died
    unknown,     ///< it has started, and Slurm does not answer here
    missing,     ///< no task has started
    unreadable,  ///< its database
};

std::string_view name(ShardState state);
/// Another task has to measure it.
bool lacks_something(ShardState state);

struct ShardStatus {
    int shard = 0;
    ShardState state = ShardState::missing;
    std::string node, card, job;         ///< of its last task
    std::int64_t starts = 0;             ///< of tasks
    std::optional<std::int64_t> wanted;  ///< operations and networks; absent: no task has come so far
    std::int64_t measured = 0;
    std::int64_t failed = 0;  ///< trials that are rows with another outcome
    std::string device;
    std::string message;

    /// Where it is known what is wanted.
    std::optional<std::int64_t> missing() const;
};

/// A trial that failed, and where.
struct FailedTrial {
    std::string what;  ///< signature, or the network
    std::string outcome;
    std::string message;
    int shard = 0;
    std::string card;
};

struct FleetStatus {
    std::vector<ShardStatus> shards;  ///< one for each, in order
    std::vector<FailedTrial> failures;
    std::vector<std::string> remarks;  ///< sentences about the folder as a whole
};

/// Reads what the tasks have copied back, and changes nothing. `tasks`: those that Slurm knows, "12_7" with its state;
/// absent where it does not answer.
FleetStatus fleet_status(const FleetFolder& fleet, const std::optional<std::map<std::string, std::string>>& tasks);

/// As --array takes them: "3,7,12-19". Ascending numbers.
std::string array_of(const std::vector<int>& shards);

}  // namespace joulecast
