#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/profile_options.h"
#include "joulecast/fleet/fleet_script.h"

namespace joulecast::cli {

/// `joulecast fleet plan`.
struct FleetPlanOptions {
    ProfileOptions measured;
    FleetPlan plan;
    std::string folder = "fleet";
    bool is_for_slurm = false;
    bool no_compare = false;
    std::string on_shared = "refuse";
    std::optional<int> max_array_size;
    const CLI::App* command = nullptr;  ///< whose options are handed on
};

/// Adds its options. The FleetPlanOptions must outlive the parse.
void declare_fleet_plan(CLI::App& command, FleetPlanOptions& options);
/// Writes the folder with its script, and says what comes next.
int run_fleet_plan(const FleetPlanOptions& options);

}  // namespace joulecast::cli
