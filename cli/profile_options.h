#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "joulecast/profile/request.h"

namespace joulecast::cli {

/// What `profile` is asked; `fleet plan` takes the same and hands it on to each task of an array.
struct ProfileOptions {
    std::vector<std::string> models;
    std::string database;
    std::string device = "cpu";
    std::string worker;
    std::optional<std::string> mode, precision, budget, augment, patience;
    std::vector<std::string> set;
    HowToMeasure how;
    std::string power_log;
    std::string card;    ///< kept with the rows
    std::string counts;  ///< file that gets the counts when the sweep begins and when it ends
    std::string shard = "1/1";
    bool networks = false;
    bool no_hot = false;
    bool no_operations = false;
    bool probe = false;
    bool require_energy = false;
    bool dry_run = false;
    std::uint64_t seed = 1;
    int threads = 0;
    Output output;
};

/// Each adds its options to the command. The ProfileOptions must outlive the parse.
void declare_what_to_measure(CLI::App& command, ProfileOptions& options);
void declare_on_what(CLI::App& command, ProfileOptions& options);
void declare_how_to_measure(CLI::App& command, ProfileOptions& options);

}  // namespace joulecast::cli
