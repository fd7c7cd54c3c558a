#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace joulecast {

/// How Slurm's tools answer, where they are installed and answer at all; each is asked for 20 s at most.

/// The cluster's MaxArraySize.
std::optional<int> max_array_size();

/// This user's tasks that wait or run, "12_7" with its state: "PENDING", "RUNNING".
std::optional<std::map<std::string, std::string>> tasks_of_slurm();

/// What these read: for tests.
std::optional<int> parse_max_array_size(std::string_view of_show_config);
std::map<std::string, std::string> parse_tasks(std::string_view of_squeue);

}  // namespace joulecast
