// joulecast fleet plan|status|merge: the same measurements by many nodes of a cluster.
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/fleet_next.h"
#include "cli/fleet_output.h"
#include "cli/fleet_plan.h"
#include "cli/verb.h"
#include "joulecast/error.h"
#include "joulecast/fleet/fleet_merge.h"
#include "joulecast/fleet/fleet_status.h"
#include "joulecast/fleet/slurm.h"

namespace joulecast::cli {
namespace {

struct StatusOptions {
    std::string folder;
    Output output;
};

struct MergeOptions {
    std::vector<std::string> folders;
    std::string database;
    Output output;
};

int show_status(const StatusOptions& options) {
    const FleetFolder fleet = open_fleet_folder(options.folder);
    const FleetStatus status = fleet_status(fleet, tasks_of_slurm());
    return print_fleet_status(options.output, fleet, status);
}

/// Into a new file that gets its name when it is complete.
int merge(const MergeOptions& options) {
    std::error_code ignored;
    if (std::filesystem::exists(options.database, ignored))
        throw Error("'" + options.database +
                    "' is there already. Choose another name, or delete it: the folder has all of it");
    std::vector<FleetFolder> fleets;
    for (const std::string& folder : options.folders) fleets.push_back(open_fleet_folder(folder));
    const std::string part = options.database + ".part";
    const auto remove_part = [&] {
        for (const char* ending : {"", "-wal", "-shm"}) std::filesystem::remove(part + ending, ignored);
    };
    remove_part();
    FleetMerge merged;
    try {
        Dataset into(part);
        merged = merge_fleets(fleets, into);
        if (merged.databases == 0)
            throw Error("no task has copied anything back that can be read. See: joulecast fleet status " +
                        options.folders.front());
    } catch (...) {
        remove_part();
        throw;
    }
    std::filesystem::rename(part, options.database);
    std::size_t unfinished = 0;
    for (const FleetFolder& fleet : fleets) {
        for (const ShardStatus& shard : fleet_status(fleet, tasks_of_slurm()).shards)
            unfinished += shard.state == ShardState::finished ? 0 : 1;
    }
    return print_fleet_merge(options.output, options.database, merged, unfinished);
}

}  // namespace

Run declare_fleet(CLI::App& command) {
    const auto plan = std::make_shared<FleetPlanOptions>();
    const auto status = std::make_shared<StatusOptions>();
    const auto merged = std::make_shared<MergeOptions>();
    CLI::App* const planning =
        command.add_subcommand("plan", "write a script that measures a plan by an array of tasks");
    declare_fleet_plan(*planning, *plan);
    CLI::App* const looking = command.add_subcommand("status", "what is measured, missing, failed and where");
    looking->add_option("FOLDER", status->folder, "folder of the fleet")->required();
    status->output.declare(*looking);
    status->output.declare_verbose(*looking);
    CLI::App* const merging =
        command.add_subcommand("merge", "all that was measured as one database, and how cards compare");
    merging->add_option("FOLDER", merged->folders, "folders of fleets")->required();
    merging->add_option("-o,--output", merged->database, "database to make")->type_name("FILE.db")->required();
    merging->add_option("--format", merged->output.format, "format of what is printed")
        ->check(CLI::IsMember({"table", "json", "csv"}))
        ->capture_default_str();
    const auto next = std::make_shared<FleetNextOptions>();
    CLI::App* const asking =
        command.add_subcommand("what-next", "what to measure on which device within some node-hours");
    declare_fleet_next(*asking, *next);
    command.require_subcommand(1);
    return [=] {
        if (asking->parsed()) return run_fleet_next(*next);
        if (planning->parsed()) return run_fleet_plan(*plan);
        return looking->parsed() ? show_status(*status) : merge(*merged);
    };
}

}  // namespace joulecast::cli
