#include <memory>
#include <string>
#include <vector>

#include "cli/asked_numbers.h"
#include "cli/device_comparison.h"
#include "cli/forecast_words.h"
#include "cli/named_devices.h"
#include "cli/price_options.h"
#include "cli/setting_options.h"
#include "cli/verb.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

struct CompareOptions {
    std::vector<std::string> models;
    std::vector<std::string> devices;
    SettingOptions settings;
    std::string host_cpu;
    std::string predictor;
    std::string database;
    PriceOptions prices;
    std::string currency;
    std::string samples;
    double epochs = 1;
    Output output;
};

Comparing comparing_of(const CompareOptions& options) {
    Comparing comparing;
    comparing.question.models = options.models;
    options.settings.put_in(comparing.question);
    for (const std::string& named : options.devices) comparing.question.devices.push_back(device_at_clock(named));
    comparing.question.host_cpu = options.host_cpu;
    if (!options.samples.empty()) comparing.samples = options.epochs * asked_count("--samples", options.samples);
    if (options.epochs != 1 && options.samples.empty())
        throw UsageError("--epochs needs --samples N: how many samples an epoch has");
    comparing.prices = options.prices.prices;
    comparing.device_prices = options.prices.of_devices();
    comparing.currency = options.currency;
    return comparing;
}

int run_compare(const CompareOptions& options) {
    const Comparison comparison =
        compare_devices(comparing_of(options), for_one_question(options.predictor, options.database), tell);
    const std::string& format = options.output.format;
    options.output.write(format == "json"  ? comparison_to_json(comparison)
                         : format == "csv" ? comparison_to_csv(comparison)
                                           : comparison_to_text(comparison, {terminal(options.output)}));
    std::vector<Forecast> forecasts;
    for (const DeviceJob& job : comparison.jobs) forecasts.push_back(job.forecast);
    const Shortfalls missing = shortfalls(forecasts);
    for (const std::string& note : missing.notes) tell(note);
    return missing.unknown.empty() ? done : parts_unknown;
}

}  // namespace

Run declare_compare(CLI::App& command) {
    const auto options = std::make_shared<CompareOptions>();
    command.add_option("MODEL", options->models, ".pt2, .onnx or .graph.json file, or a zoo name such as resnet50");
    command.option_defaults()->group("Device");
    command.add_option("--device", options->devices, "two devices or more, each ID or ID@SM_MHZ; cpu is this machine")
        ->type_name("ID...")
        ->delimiter(',')
        ->required();
    options->settings.declare(command);
    options->settings.declare_hosts(command);
    declare_host_cpu(command, options->host_cpu);
    options->settings.declare_training(command);
    command.option_defaults()->group("Job");
    command.add_option("--samples", options->samples, "samples of the whole job, as in 1,281,167 (default: one run)")
        ->type_name("N");
    command.add_option("--epochs", options->epochs, "times that the job goes through its samples")
        ->check(above_zero)
        ->capture_default_str();
    options->prices.declare(command);
    command.add_option("--currency", options->currency, "of the prices, as it is printed: EUR")->type_name("NAME");
    declare_sources(command, options->predictor, options->database);
    options->output.declare(command);
    return [options] {
        take_networks(options->devices, options->models);
        return run_compare(*options);
    };
}

}  // namespace joulecast::cli
