#include "cli/logged_run.h"

#include "cli/settings.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"

namespace joulecast::cli {

void LoggedRunOptions::declare(CLI::App& command) {
    const auto add = [this, &command](const char* name, auto& value, const char* what) {
        CLI::Option* option = command.add_option(name, value, what);
        option->group("smi-log: what ran while nvidia-smi wrote the log");
        options_.push_back(option);
        return option;
    };
    add("--device", run_.device, "id of the GPU")->type_name("ID");
    add("--model", run_.model, "name of what ran")->type_name("NAME");
    add("--calls", run_.calls, "how often it ran in the log")->check(CLI::PositiveNumber);
    add("--gpu", gpu_, "index of the GPU, in a log of several")->check(CLI::NonNegativeNumber);
    add("--set", set_, "its size, such as batch=8")->type_name("SYMBOL=N")->allow_extra_args(false);
    add("--mode", mode_, "inference or training")->type_name("MODE");
    add("--precision", run_.precision, "fp32, tf32, bf16, ...")->type_name("NAME");
    add("--host", host_, "python, cpp or graph")->type_name("HOST");
    add("--sm-mhz", run_.sm_clock_mhz, "core clock that was asked for")->check(CLI::PositiveNumber);
    add("--mem-mhz", run_.memory_clock_mhz, "memory clock that was asked for")->check(CLI::PositiveNumber);
    add("--power-limit", run_.power_limit_w, "power limit that was asked for, in W")->check(CLI::PositiveNumber);
}

LoggedRun LoggedRunOptions::run() const {
    if (run_.device.empty() || run_.model.empty() || run_.calls == 0)
        throw UsageError(
            "the log does not say what ran. import smi-log needs "
            "--device, --model and --calls");
    LoggedRun run = run_;
    const auto mode = parse_mode(mode_);
    if (!mode) throw UsageError("--mode is inference or training, not '" + mode_ + "'");
    run.mode = *mode;
    const auto host = parse_host(host_);
    if (!host) throw UsageError("--host is python, cpp or graph, not '" + host_ + "'");
    run.host = *host;
    run.precision = name(measured_precision_named(run_.precision));
    const auto settings = parse_settings(set_);
    if (settings.size() != 1) throw UsageError("a log has one run: give each symbol one value with --set");
    run.symbols = settings.front();
    if (gpu_ >= 0) run.gpu = gpu_;
    return run;
}

void LoggedRunOptions::refuse_all(const std::string& source) const {
    for (const CLI::Option* option : options_)
        if (option->count() > 0)
            throw UsageError(option->get_name() + " is for import smi-log; a table of " + source + " has it already");
}

}  // namespace joulecast::cli
