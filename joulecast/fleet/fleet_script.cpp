#include "joulecast/fleet/fleet_script.h"

#include <string_view>

#include "joulecast/error.h"
#include "joulecast/process/shell_word.h"
#include "joulecast/units/printable.h"

namespace joulecast {
namespace {

/// sbatch reads its lines as a shell would, with patterns of its own in names of files.
std::string directive(const std::string& text, const char* what) {
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < ' ' || byte == 127)
            throw UsageError(std::string(what) + " '" + printable(text) +
                             "' has a character that no line of sbatch has");
    }
    return text;
}

std::string word(const std::string& text, const char* what) {
    if (directive(text, what).find_first_of(" \"'\\#") != std::string::npos)
        throw UsageError(std::string(what) + " '" + printable(text) +
                         "' has a space or a quote, which sbatch may read otherwise");
    return text;
}

void add(std::string& script, const std::string& option) {
    script += "#SBATCH " + option + '\n';
}

std::string directives(const FleetPlan& plan) {
    const SlurmWish& slurm = plan.slurm;
    const std::string folder = word(plan.folder.string(), "the folder");
    if (folder.find('%') != std::string::npos)
        throw UsageError("the folder '" + printable(folder) +
                         "' has a %, which Slurm replaces. Choose another --folder");
    std::string script;
    add(script, "--job-name=joulecast-" + word(plan.folder.filename().string(), "the folder"));
    add(script, "--array=1-" + std::to_string(plan.shards) +
                    (slurm.at_once > 0 ? "%" + std::to_string(slurm.at_once) : std::string()));
    add(script, "--output=" + folder + "/logs/%a.log");
    add(script, "--open-mode=append");
    add(script, "--nodes=1");
    add(script, "--ntasks=1");
    add(script, "--requeue");
    add(script, "--signal=B:TERM@" + std::to_string(slurm.grace_s));
    if (slurm.exclusive) add(script, "--exclusive");
    if (!slurm.partition.empty()) add(script, "--partition=" + word(slurm.partition, "--partition"));
    if (!slurm.time.empty()) add(script, "--time=" + word(slurm.time, "--time"));
    if (!slurm.gres.empty()) add(script, "--gres=" + word(slurm.gres, "--gres"));
    for (const std::string& option : slurm.directives) {
        if (!option.starts_with("--"))
            throw UsageError("--sbatch takes an option of sbatch, such as --sbatch=--account=ai, not '" +
                             printable(option) + "'");
        add(script, directive(option, "--sbatch"));
    }
    return script;
}

std::string list(const std::vector<std::string>& words) {
    std::string text = "(";
    for (const std::string& one : words) text += (text.size() > 1 ? " " : "") + shell_word(one);
    return text + ")";
}

std::string variables(const FleetPlan& plan) {
    return "fleet=" + shell_word(plan.folder.string()) + "\nshards=" + std::to_string(plan.shards) +
           "\njoulecast=" + shell_word(plan.joulecast) + "\nwork_folder=" + shell_word(plan.work_folder.string()) +
           "\ndevice=" + shell_word(plan.device) + "\nwhat=" + list(plan.what) + "  # what to measure, by shards" +
           "\nhow=" + list(plan.how) + "  # on what, and how" +
           "\non_shared=" + (plan.mark_shared ? "mark" : "refuse") +
           "  # where energy is not this job's alone: mark (measure none) or refuse" +
           "\ncompare=" + (plan.compare_cards ? "yes" : "no") + "  # the probe once on every card" +
           "\ncopy_every_s=" + std::to_string(plan.copy_every_s) +
           "\nmost_restarts=" + std::to_string(plan.most_restarts) + '\n';
}

}  // namespace

std::string sbatch_script(const FleetPlan& plan) {
    const std::string folder = plan.folder.string();
    return "#!/bin/bash\n# Written by joulecast fleet plan: each task of this array measures one shard on its node.\n"
           "#   sbatch " +
           folder +
           "/fleet.sbatch    measures; once more: what is missing\n"
           "#   joulecast fleet status " +
           folder + "    says what is measured, missing, failed and where\n" + directives(plan) + '\n' +
           variables(plan) + '\n' + task_script;
}

void check_array(int shards, int max_array_size) {
    if (shards < 1) throw UsageError("--array takes a number of tasks, 1 or more");
    if (shards >= max_array_size)
        throw UsageError("an array of " + std::to_string(shards) +
                         " tasks is more than this cluster allows: its MaxArraySize is " +
                         std::to_string(max_array_size) + ", so --array " + std::to_string(max_array_size - 1) +
                         " is the most. Fewer tasks measure the same, each more of it");
}

}  // namespace joulecast
