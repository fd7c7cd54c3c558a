#include "cli/fleet_plan.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/json_tree.h"
#include "cli/profile_wish.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"
#include "joulecast/fleet/fleet_folder.h"
#include "joulecast/fleet/slurm.h"
#include "joulecast/profile/plan.h"
#include "joulecast/profile/progress.h"
#include "joulecast/units/replaced_file.h"

namespace joulecast::cli {
namespace {

namespace fs = std::filesystem;

/// Slurm's own default (slurm.conf(5)).
constexpr int default_max_array_size = 1001;

std::string content_of(const fs::path& file) {
    std::ifstream input(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(input), {}};
}

/// A copy, so that all tasks measure the same whatever becomes of the file. Throws Error where another plan of that
/// name is there.
fs::path kept_plan(const std::string& name, const fs::path& folder) {
    const fs::path from = plan_file(name), to = folder / "plans" / from.filename();
    const std::string text = content_of(from);
    std::error_code failure;
    if (fs::exists(to, failure) && content_of(to) != text)
        throw Error("'" + folder.string() + "' holds another plan named " + from.filename().string() +
                    ". Choose another --folder");
    fs::create_directories(to.parent_path(), failure);
    if (!failure) failure.assign(replace_file(to, text), std::generic_category());
    if (failure) throw Error("cannot write " + to.string() + ": " + failure.message() + ".");
    return to;
}

/// What stands on the command line of profile for these options.
void hand_on(const CLI::App& command, FleetPlan& plan) {
    for (const CLI::Option* option : command.get_options()) {
        const std::string& group = option->get_group();
        const bool is_what = group == "What to measure", is_how = group == "Device" || group == "Method";
        if (option->count() == 0 || option->get_positional() || (!is_what && !is_how)) continue;
        const std::string name = "--" + option->get_lnames().front();
        // A budget is for a shard, not for comparing cards.
        auto& to = is_what || name == "--budget" ? plan.what : plan.how;
        if (option->get_items_expected_max() == 0) {  // a flag
            to.push_back(name);
            continue;
        }
        for (const std::string& value : option->results()) {
            to.push_back(name);
            to.push_back(value);
        }
    }
}

/// Plans as copies, files by their whole path, names of the zoo as they are.
void put_models(const std::vector<std::string>& models, FleetPlan& plan) {
    std::error_code ignored;
    for (const std::string& model : models) {
        const bool is_file = fs::is_regular_file(model, ignored);
        plan.what.push_back(model.ends_with(".plan") ? kept_plan(model, plan.folder).string()
                            : is_file                ? fs::absolute(model).string()
                                                     : model);
    }
}

/// All that is wanted, at one setting of the clocks: which ones a device has, its worker says.
Plan whole_plan(const ProfileOptions& options) {
    ProfileWish wish = profile_wish(options);
    wish.clocks();  // throws for what are no clocks
    wish.how.clocks = wish.how.power_limits = wish.how.memory_clocks = "current";
    return make_plan(wish.variations, nullptr, plan_settings(options, wish, assumed_worker(options, wish)));
}

void check(const FleetPlanOptions& options) {
    if (!options.is_for_slurm) throw UsageError("fleet plan writes a script for Slurm: add --slurm");
    if (options.measured.models.empty() && !options.measured.probe)
        throw UsageError("fleet plan needs a PLAN, a MODEL or --probe");
    if (options.measured.require_energy && options.on_shared == "mark")
        throw UsageError(
            "--on-shared mark measures no energy on shared nodes, and --require-energy wants it: leave one out");
    if (options.plan.slurm.grace_s < 1) throw UsageError("--grace takes seconds, 1 or more");
    check_array(options.plan.shards,
                options.max_array_size.value_or(max_array_size().value_or(default_max_array_size)));
}

FleetPlan complete(const FleetPlanOptions& options) {
    FleetPlan plan = options.plan;
    plan.folder = fs::absolute(options.folder).lexically_normal();
    if (!plan.folder.has_filename()) plan.folder = plan.folder.parent_path();
    plan.work_folder = fs::current_path();
    plan.device = options.measured.device;
    plan.compare_cards = !options.no_compare;
    plan.mark_shared = options.on_shared == "mark";
    if (plan.joulecast.empty()) plan.joulecast = beside_this_program("joulecast");
    // On a GPU energy is that of the card, elsewhere that of the node.
    const bool is_gpu = plan.device.starts_with("cuda");
    if (plan.slurm.gres.empty() && is_gpu) plan.slurm.gres = "gpu:1";
    if (plan.slurm.gres == "none") plan.slurm.gres.clear();
    if (!is_gpu && !plan.mark_shared) plan.slurm.exclusive = true;
    return plan;
}

void print(const Output& output, const FleetFolder& fleet, const Plan& whole) {
    const auto shards = static_cast<double>(fleet.shards);
    if (output.format == "json") {
        const nlohmann::ordered_json answer{{"schema", "joulecast.fleet-plan/1"},
                                            {"folder", fleet.path.string()},
                                            {"script", fleet.script().string()},
                                            {"tasks", fleet.shards},
                                            {"wanted", whole.wanted},
                                            {"estimated_s", whole.cost_s},
                                            {"estimated_task_s", whole.cost_s / shards}};
        output.write(printed(answer));
        return;
    }
    output.write(fleet.script().string() + "\n" + std::to_string(fleet.shards) + " tasks measure " +
                 std::to_string(whole.wanted) + " operations and networks, about " + duration_text(whole.cost_s) +
                 " in all and " + duration_text(whole.cost_s / shards) + " each, at each setting of the clocks\n" +
                 "submit:  sbatch " + fleet.script().string() + "\nlook:    joulecast fleet status " +
                 fleet.path.string() + "\n");
}

void declare_slurm(CLI::App& command, FleetPlanOptions& options) {
    SlurmWish& slurm = options.plan.slurm;
    command.option_defaults()->group("Slurm");
    command.add_flag("--slurm", options.is_for_slurm, "write a script for sbatch; there is no other way yet");
    command.add_option("--array", options.plan.shards, "number of tasks, each of which measures a part")
        ->type_name("N")
        ->required();
    command.add_option("--at-once", slurm.at_once, "tasks that run together at most (default: as Slurm has room)")
        ->type_name("N");
    command.add_option("--partition", slurm.partition, "partition, as of sbatch")->type_name("NAME");
    command.add_option("--time", slurm.time, "time limit of a task, as of sbatch: 2:00:00")->type_name("TIME");
    command.add_option("--gres", slurm.gres, "what a task needs: gpu:a100:1, none (default with cuda: gpu:1)")
        ->type_name("GRES");
    command.add_flag("--exclusive", slurm.exclusive, "no other job on the node (always where energy is the node's)");
    command.add_option("--sbatch", slurm.directives, "further option of sbatch, such as --sbatch=--account=ai")
        ->type_name("OPTION")
        ->allow_extra_args(false);
    command.add_option("--grace", slurm.grace_s, "seconds between Slurm's warning and the end of the time")
        ->type_name("SECONDS")
        ->capture_default_str();
    command
        .add_option("--max-array-size", options.max_array_size,
                    "the cluster's MaxArraySize (default: asked of scontrol, or 1001)")
        ->type_name("N");
}

}  // namespace

void declare_fleet_plan(CLI::App& command, FleetPlanOptions& options) {
    options.command = &command;
    command.add_option("PLAN", options.measured.models, "plan file, model file or zoo name, as of profile");
    declare_slurm(command, options);
    command.option_defaults()->group("Tasks");
    command.add_option("--folder", options.folder, "folder of the fleet, on a disk that all nodes see")
        ->type_name("FOLDER")
        ->capture_default_str();
    command
        .add_option("--on-shared", options.on_shared,
                    "where other jobs share the card or the node: refuse, or mark (no energy)")
        ->check(CLI::IsMember({"refuse", "mark"}))
        ->capture_default_str();
    command.add_flag("--no-compare", options.no_compare, "do not measure the probe on each card to compare cards");
    command.add_option("--copy-every", options.plan.copy_every_s, "seconds between copies back into the folder")
        ->type_name("SECONDS")
        ->check(CLI::Range(1, 86400))
        ->capture_default_str();
    command.add_option("--restarts", options.plan.most_restarts, "how often a task starts again by itself at most")
        ->type_name("N")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str();
    command.add_option("--joulecast", options.plan.joulecast, "joulecast on the nodes (default: this program's path)")
        ->type_name("PROGRAM");
    declare_what_to_measure(command, options.measured);
    declare_on_what(command, options.measured);
    declare_how_to_measure(command, options.measured);
    command.option_defaults()->group("Output");
    options.measured.output.declare(command);
}

int run_fleet_plan(const FleetPlanOptions& options) {
    check(options);
    const Plan whole = whole_plan(options.measured);
    FleetPlan plan = complete(options);
    sbatch_script(plan);  // throws before anything is written
    put_models(options.measured.models, plan);
    hand_on(*options.command, plan);
    const FleetFolder fleet = make_fleet_folder(plan);
    print(options.measured.output, fleet, whole);
    return done;
}

}  // namespace joulecast::cli
