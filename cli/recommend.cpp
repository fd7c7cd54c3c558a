#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/asked_numbers.h"
#include "cli/named_devices.h"
#include "cli/price_options.h"
#include "cli/recommendation_text.h"
#include "cli/recommending.h"
#include "cli/setting_options.h"
#include "cli/verb.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

struct RecommendOptions {
    std::vector<std::string> models;
    std::vector<std::string> devices;
    std::string predictor;
    std::string database;
    SettingOptions settings;
    std::string host = "python";
    std::string host_cpu;
    std::string clocks;
    std::string power_limits;
    std::string objective = "energy";
    Limits limits;
    std::optional<double> hours;
    PriceOptions prices;
    std::string samples;
    double epochs = 1;
    std::string max_memory;
    std::string max_slowdown;
    std::string max_energy;
    std::string weights;
    std::string clock_for;
    bool strict = false;
    Output output;
};

/// "3,1": samples of each network in the mix.
std::vector<double> parse_weights(const std::string& text) {
    std::vector<double> weights;
    for (std::size_t start = 0; start <= text.size() && !text.empty();) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        weights.push_back(number_or_nan(text.substr(start, comma - start)));
        if (!(weights.back() > 0))
            throw UsageError("--weights takes a number above zero for each network, as in 3,1, not '" + text + "'");
        start = comma + 1;
    }
    return weights;
}

/// What is written with a unit, and the job.
void put_limits_in(Choice& choice, const RecommendOptions& options) {
    Goal& goal = choice.goal;
    if (!options.max_memory.empty()) goal.limits.memory_bytes = asked_bytes("--max-memory", options.max_memory);
    choice.keeps_usual_slowdown = options.max_slowdown.empty();
    if (!options.max_slowdown.empty() && options.max_slowdown != "none")
        goal.limits.time_ratio = 1 + asked_share("--max-slowdown", options.max_slowdown);
    if (!options.max_energy.empty()) goal.limits.energy_ratio = 1 + asked_share("--max-energy", options.max_energy);
    if (!options.samples.empty()) goal.job = Job{options.epochs * asked_count("--samples", options.samples)};
    if (options.epochs != 1 && !goal.job) throw UsageError("--epochs needs --samples N: how many samples an epoch has");
}

/// One setting for all networks, each with its weight; without, each network has its own.
std::vector<double> weights_of(const RecommendOptions& options) {
    const bool for_all = options.clock_for == "all" || (options.clock_for.empty() && !options.weights.empty());
    if (!for_all && !options.weights.empty())
        throw UsageError("--weights is for --clock-for all: leave out one of them");
    if (for_all && options.models.size() < 2) throw UsageError("--clock-for all needs several networks");
    if (for_all && options.weights.empty()) return std::vector<double>(options.models.size(), 1);
    return parse_weights(options.weights);
}

Choice choice_of(const RecommendOptions& options) {
    Choice choice;
    options.settings.put_in(choice.question);
    choice.question.models = options.models;
    choice.question.hosts = {parse_host(options.host).value()};
    choice.question.host_cpu = options.host_cpu;
    for (const std::string& named : options.devices) choice.question.devices.push_back(device_at_clock(named));
    choice.grid = grid(options.clocks, options.power_limits);
    choice.goal.objective = parse_objective(options.objective).value();
    choice.goal.limits = options.limits;
    choice.goal.prices = options.prices.prices;
    put_limits_in(choice, options);
    if (options.hours) choice.goal.limits.job_s = *options.hours * seconds_per_hour;
    choice.device_prices = options.prices.of_devices();
    choice.weights = weights_of(options);
    return choice;
}

int run_recommend(const RecommendOptions& options) {
    if (options.models.empty()) throw UsageError("recommend needs a MODEL: a file, or a name of joulecast networks");
    const std::vector<Answered> phases =
        recommendations(choice_of(options), for_one_question(options.predictor, options.database), tell);
    if (options.output.verbose) {
        for (const std::string& note : phases.front().notes) tell(note);
    }
    if (options.output.format == "json") {
        options.output.write(printed(recommendations_json(phases)));
    } else if (options.output.format == "csv") {
        options.output.write(recommendations_to_csv(phases));
    } else {
        options.output.write(recommendations_to_text(phases, {terminal(options.output), options.output.verbose}));
    }
    int status = done;
    for (const Answered& phase : phases) {
        const std::string unknown = unknown_note(phase);
        tell(unknown);
        if (!unknown.empty()) status = std::max(status, static_cast<int>(options.strict ? failed : parts_unknown));
    }
    for (const Answered& phase : phases) {
        if (!phase.recommendation.empty()) continue;
        tell(why_nothing(phase));
        status = failed;
    }
    return status;
}

void declare_goal(CLI::App& command, RecommendOptions& options) {
    std::vector<std::string> words;
    for (const ObjectiveRule& objective : objectives()) words.emplace_back(objective.name);
    command.option_defaults()->group("Objective and limits");
    command.add_option("--minimise,--minimize", options.objective, "what to minimise, per sample")
        ->check(CLI::IsMember(words))
        ->capture_default_str();
    command.add_option("--max-time", options.limits.time_s, "longest time of a run (one batch)")
        ->type_name("S")
        ->check(above_zero);
    command.add_option("--max-power", options.limits.power_w, "highest mean power of a run")
        ->type_name("W")
        ->check(above_zero);
    command.add_option("--max-memory", options.max_memory, "most memory of a run on the device: 40GB, 40GiB")
        ->type_name("BYTES");
    command
        .add_option("--max-slowdown", options.max_slowdown,
                    "most time over that at default settings: 5%; none: any (default: 10% for energy and carbon)")
        ->type_name("SHARE");
    command
        .add_option("--max-energy", options.max_energy,
                    "most energy over that at default settings: +2%, or -10% to save")
        ->type_name("SHARE");
    command
        .add_option("--max-price", options.limits.price, "highest price of the job; without --samples, of one sample")
        ->check(above_zero);
    command.add_option("--max-hours", options.hours, "longest time of the job of --samples, in hours")
        ->check(above_zero);
    command.add_option("--samples", options.samples, "samples of the whole job: 1281167, 1,281,167 or 1.28e6")
        ->type_name("N");
    command.add_option("--epochs", options.epochs, "times that the job goes through its samples")
        ->check(above_zero)
        ->capture_default_str();
    options.prices.declare(command);
}

}  // namespace

Run declare_recommend(CLI::App& command) {
    const auto options = std::make_shared<RecommendOptions>();
    command.add_option("MODEL", options->models, ".pt2, .onnx or .graph.json file, or a zoo name such as resnet50");
    declare_goal(command, *options);
    command.option_defaults()->group("Several networks");
    command
        .add_option("--clock-for", options->clock_for, "each: a setting for each network (default); all: one for all")
        ->check(CLI::IsMember({"each", "all"}));
    command
        .add_option("--weights", options->weights,
                    "samples of each network in the mix, as in 3,1 (all: --clock-for all)")
        ->type_name("N,...");
    command.option_defaults()->group("Device");
    command.add_option("--device", options->devices, "devices to choose from; cpu is this machine")
        ->type_name("ID...")
        ->delimiter(',')
        ->required();
    command
        .add_option("--clocks", options->clocks, "core clocks to choose from: 900,1200 or 600:1440:120 (default: all)")
        ->type_name("MHZ,...");
    command.add_option("--power-limits", options->power_limits, "power limits to choose from: 150,200 or 150:300:25")
        ->type_name("W,...");
    options->settings.declare(command);
    options->settings.declare_training(command);
    command.option_defaults()->group("Device");
    command.add_option("--host", options->host, "what issues the calls: Python, C++ or a CUDA graph")
        ->check(CLI::IsMember({"python", "cpp", "graph"}))
        ->capture_default_str();
    declare_engines(command, options->settings.engines);
    declare_host_cpu(command, options->host_cpu);
    declare_sources(command, options->predictor, options->database);
    command.option_defaults()->group("Output");
    command.add_flag("--strict", options->strict, "fail if an operation is unknown");
    options->output.declare(command);
    options->output.declare_verbose(command);
    return [options] {
        take_networks(options->devices, options->models);
        return run_recommend(*options);
    };
}

}  // namespace joulecast::cli
