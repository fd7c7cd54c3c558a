#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/recommendation_text.h"
#include "cli/recommending.h"
#include "cli/setting_options.h"
#include "cli/verb.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

struct Options {
    std::string model;
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
    Prices prices;
    std::vector<std::string> device_prices;
    std::optional<double> samples;
    bool strict = false;
    Output output;
};

/// NaN for what is none.
double number_or_nan(const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc() && read.ptr == end && std::isfinite(value) ? value : Candidate::unknown;
}

double price_of(const std::string& text, const std::string& whole) {
    const double value = number_or_nan(text);
    if (!(value >= 0))
        throw UsageError(
            "--device-price takes a price per hour for all devices or one for each, as in 2.5 or "
            "h100=2.5,a30=0.8, not '" +
            whole + "'");
    return value;
}

DevicePrices parse_device_prices(const std::vector<std::string>& texts) {
    DevicePrices prices;
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        const std::string device = equals == std::string::npos ? "" : text.substr(0, equals);
        const double price = price_of(equals == std::string::npos ? text : text.substr(equals + 1), text);
        if (!prices.emplace(device, price).second)
            throw UsageError("--device-price names " + (device.empty() ? std::string("all devices") : device) +
                             " twice");
    }
    return prices;
}

Choice choice_of(const Options& options) {
    Choice choice;
    options.settings.put_in(choice.question);
    choice.question.models = {options.model};
    choice.question.hosts = {parse_host(options.host).value()};
    choice.question.host_cpu = options.host_cpu;
    for (const std::string& named : options.devices) choice.question.devices.push_back(device_at_clock(named));
    choice.grid = grid(options.clocks, options.power_limits);
    choice.goal.objective = parse_objective(options.objective).value();
    choice.goal.limits = options.limits;
    choice.goal.prices = options.prices;
    if (options.samples) choice.goal.job = Job{*options.samples};
    if (options.hours) choice.goal.limits.job_s = *options.hours * seconds_per_hour;
    choice.device_prices = parse_device_prices(options.device_prices);
    return choice;
}

int run(const Options& options) {
    const std::vector<Answered> phases =
        recommendations(choice_of(options), for_one_question(options.predictor, options.database), tell);
    if (options.output.format == "json") {
        options.output.write(printed(recommendations_json(phases)));
    } else if (options.output.format == "csv") {
        options.output.write(recommendations_to_csv(phases));
    } else {
        options.output.write(recommendations_to_text(phases, terminal(options.output)));
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

/// CLI11's own checks tell the greatest double there is.
std::string above_zero(const std::string& text) {
    return number_or_nan(text) > 0 ? "" : "'" + text + "' is not a number above zero";
}
std::string not_negative(const std::string& text) {
    return number_or_nan(text) >= 0 ? "" : "'" + text + "' is not zero or a number above";
}

void declare_goal(CLI::App& command, Options& options) {
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
    command.add_option("--max-memory", options.limits.memory_bytes, "most memory of a run on the device")
        ->type_name("BYTES")
        ->check(above_zero);
    command
        .add_option("--max-price", options.limits.price, "highest price of the job; without --samples, of one sample")
        ->check(above_zero);
    command.add_option("--max-hours", options.hours, "longest time of the job of --samples, in hours")
        ->check(above_zero);
    command.add_option("--samples", options.samples, "samples of the whole job")->check(above_zero);
    command.option_defaults()->group("Prices");
    command.add_option("--electricity-price", options.prices.electricity_per_kwh, "price of a kWh")
        ->check(not_negative);
    command
        .add_option("--device-price", options.device_prices, "price of a device for an hour: 2.5, or h100=2.5,a30=0.8")
        ->type_name("PRICE")
        ->delimiter(',');
    command.add_option("--carbon", options.prices.carbon_g_per_kwh, "grams of CO2 for a kWh")->check(not_negative);
}

}  // namespace

Run declare_recommend(CLI::App& command) {
    const auto options = std::make_shared<Options>();
    command.add_option("MODEL", options->model, ".pt2, .onnx or .graph.json file, or a zoo name such as resnet50")
        ->required();
    declare_goal(command, *options);
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
    declare_host_cpu(command, options->host_cpu);
    declare_sources(command, options->predictor, options->database);
    command.option_defaults()->group("Output");
    command.add_flag("--strict", options->strict, "fail if an operation is unknown");
    options->output.declare(command);
    return [options] { return run(*options); };
}

}  // namespace joulecast::cli
