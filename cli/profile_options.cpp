// What profile can be asked for on the command line.
#include "cli/profile_options.h"

#include "joulecast/device/precision.h"

namespace joulecast::cli {
namespace {

/// An option whose value is one of some words.
template <class Value, class Parse>
void add_word(CLI::App& command, const std::string& flag, std::optional<Value>& to, Parse parse,
              const std::string& description, const std::vector<std::string>& words) {
    command
        .add_option_function<std::string>(
            flag, [&to, parse](const std::string& word) { to = parse(word); }, description)
        ->check(CLI::IsMember(words));
}

}  // namespace

void declare_what_to_measure(CLI::App& command, ProfileOptions& options) {
    command.option_defaults()->group("What to measure");
    command.add_option("--set", options.set, "sizes of the networks, such as batch=1,8,32; once for each symbol")
        ->type_name("SYMBOL=N,...")
        ->allow_extra_args(false);
    command.add_option("--mode", options.mode, "inference, training or inference,training (default: inference)")
        ->type_name("MODE,...");
    command.add_option("--precision", options.precision, "one or several of " + precision_words() + " (default: fp32)")
        ->type_name("NAME,...");
    command.add_flag("--networks", options.networks, "also measure the networks as a whole");
    command.add_flag("--no-operations", options.no_operations, "with --networks: measure networks only");
    add_word(command, "--optimizer", options.how.optimizer, parse_optimizer,
             "update of networks in training (default: none)", {"none", "sgd", "momentum", "adam", "adamw"});
    command.add_option("--augment", options.augment, "also measure N variants of the operations")->type_name("N");
    command.add_flag("--probe", options.probe, "also measure the standard set of operations that describes a device");
}

void declare_on_what(CLI::App& command, ProfileOptions& options) {
    command.option_defaults()->group("Device");
    command.add_option("--device", options.device, "device of the worker: cpu, cuda:0")
        ->type_name("ID")
        ->capture_default_str();
    command
        .add_option("--worker", options.worker,
                    "command that starts the worker (default: joulecast-torch; with --host python: joulecast-python)")
        ->type_name("CMD");
    command.add_option("--patience", options.patience, "wait so much longer for each of its answers: 10m")
        ->type_name("TIME");
    add_word(command, "--host", options.how.host, parse_host,
             "what issues the calls: Python, C++ or a CUDA graph (default: as the worker does)",
             {"python", "cpp", "graph"});
    command.add_option("--threads", options.threads, "threads to compute with (default: one for each core)")
        ->check(CLI::Range(1, 4096));
    command
        .add_option("--clocks", options.how.clocks,
                    "core clocks to set: current, all, 900,1200 or 600:1440:120 (default: the plan's, or current)")
        ->type_name("MHZ,...");
    command
        .add_option("--memory-clocks", options.how.memory_clocks,
                    "memory clocks to set: current or 440,880 (default: the plan's, or current)")
        ->type_name("MHZ,...");
    command
        .add_option("--power-limits", options.how.power_limits,
                    "power limits to set: current or 150,165 (default: the plan's, or current)")
        ->type_name("W,...");
}

void declare_how_to_measure(CLI::App& command, ProfileOptions& options) {
    command.option_defaults()->group("Method");
    command.add_option("--budget", options.budget, "time of this run: 150s, 10m, 2h; what matters most comes first")
        ->type_name("TIME");
    add_word(command, "--method", options.how.method, parse_method,
             "protocol: joulecast's or a paper's (default: joulecast)", {"joulecast", "thesis", "sponner"});
    command.add_option("--meter", options.how.meter, "meter of energy: none, auto or a name (default: auto)")
        ->type_name("METER");
    command.add_flag("--require-energy", options.require_energy, "fail if energy cannot be measured");
    command.add_flag("--no-hot", options.no_hot, "skip the second timing with a warm cache: a third faster");
    command.add_option("--seed", options.seed, "seed of the order and of random inputs")->capture_default_str();
}

}  // namespace joulecast::cli
