#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "cli/asked_operation.h"
#include "cli/clock_points.h"
#include "cli/device_forecasts.h"
#include "cli/forecast_text.h"
#include "cli/forecast_words.h"
#include "cli/loaded_device.h"
#include "cli/memory_output.h"
#include "cli/operation_output.h"
#include "cli/predict_stdin.h"
#include "cli/setting_options.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

struct Options {
    std::vector<std::string> models;
    std::vector<std::string> operations;
    std::vector<std::string> devices;
    std::string predictor;
    std::string database;
    SettingOptions settings;
    std::string host_cpu;
    std::string pace = "usual";
    std::string worker;
    std::string clocks;
    std::string power_limits;
    std::string memory_clocks;
    bool per_operation = false;
    bool strict = false;
    bool from_stdin = false;
    Output output;
};

/// A device with the points that are asked for on it.
struct AskedDevice {
    std::unique_ptr<SharedForecasts> forecasts;
    std::vector<OperatingPoint> points;  ///< none: the clock that it was measured at
};

/// Tells the user of it what forecasts rest on. Throws UsageError for a setting that it cannot be forecast in.
AskedDevice load(const DeviceAtClock& named, const Options& options) {
    auto loaded = std::make_shared<LoadedDevice>(named.device, options.predictor, options.database);
    tell(loaded->database_note());
    tell(loaded->note());
    loaded->issue_from(options.host_cpu);
    tell(loaded->issuer_note());
    if (options.pace == "now") loaded->follow_pace(options.worker);
    tell(loaded->pace_note());
    auto points = points_asked(
        named.asked, parse_clock_wish(options.clocks, options.power_limits, options.memory_clocks), loaded->device());
    if (!points.empty()) loaded->calibrate_clocks();
    std::set<const DeviceModel*> used;
    for (const ForecastSetting& setting : options.settings.settings(Mode::inference)) {
        const DeviceModel& model = loaded->model_for(setting.precision, setting.host);
        if (used.insert(&model).second) tell(loaded->measured_note(model));
    }
    return {std::make_unique<SharedForecasts>(std::move(loaded)), std::move(points)};
}

/// At every point that is asked for.
std::vector<Forecast> at_points(const AskedDevice& asked, Forecast one, const ForecastSetting& setting,
                                bool operations) {
    const LoadedDevice& device = asked.forecasts->device();
    if (!asked.points.empty()) {
        const ForecastOverClocks clocked(std::move(one), asked.forecasts->kept_device(),
                                         device.model_for(setting.precision, setting.host));
        std::vector<Forecast> all;
        for (const OperatingPoint& point : asked.points) all.push_back(clocked.at(point, operations));
        return all;
    }
    std::vector<Forecast> all;
    all.push_back(std::move(one));
    return all;
}

std::vector<Forecast> forecasts_on(const AskedDevice& asked, Graph graph, const ForecastSetting& setting,
                                   bool operations) {
    Forecast one = with_source(asked.forecasts->forecast(std::move(graph), setting), asked.forecasts->device());
    return at_points(asked, std::move(one), setting, operations);
}

/// Of one call, in the types of its signature. Throws Error where nothing is known of it.
std::vector<Forecast> forecasts_of_call(const AskedDevice& asked, const Operation& operation,
                                        const ForecastSetting& setting) {
    const LoadedDevice& device = asked.forecasts->device();
    Forecast one = with_source(device.forecast(graph_of(operation), setting), device);
    if (one.network.unknown_nodes > 0) throw Error(no_forecast_text(operation, one.network.method));
    return at_points(asked, std::move(one), setting, true);
}

/// By device, operation, precision, host and point, in this order.
std::vector<Forecast> forecast_operations(const Options& options) {
    std::vector<Operation> operations;
    Options in_their_types = options;
    std::vector<std::string>& precisions = in_their_types.settings.precisions;
    precisions.clear();
    for (const std::string& text : options.operations) {
        operations.push_back(asked_operation(text));
        std::ranges::copy(precisions_of(operations.back(), options.settings), std::back_inserter(precisions));
    }
    std::vector<Forecast> all;
    for (const std::string& named : options.devices) {
        const AskedDevice asked = load(device_at_clock(named), in_their_types);
        for (const Operation& operation : operations) {
            SettingOptions own = options.settings;
            own.precisions = precisions_of(operation, options.settings);
            for (ForecastSetting setting : own.settings(mode(operation))) {
                setting.training = {};
                std::ranges::move(forecasts_of_call(asked, operation, setting), std::back_inserter(all));
            }
        }
    }
    return all;
}

/// By device, model, symbols, mode, precision, host and point, in this order; networks side by side on all cores.
std::vector<Forecast> forecast_all(const Options& options) {
    std::vector<AskedDevice> devices;
    for (const std::string& device : options.devices) devices.push_back(load(device_at_clock(device), options));
    const std::size_t networks = options.models.size() * options.settings.count();
    std::vector<std::vector<Forecast>> made(devices.size() * networks);
    const bool operations = options.per_operation || options.output.format == "json";
    options.settings.visit_in_parallel(options.models, [&](SettingOptions::Visited at) {
        const auto settings = options.settings.settings(at.mode);
        for (std::size_t i = 0; i < devices.size() * settings.size(); ++i) {
            const bool is_last = i + 1 == devices.size() * settings.size();
            const std::size_t device = i / settings.size();
            const std::size_t place = device * networks + at.place + i % settings.size();
            made[place] = forecasts_on(devices[device], is_last ? std::move(at.graph) : at.graph,
                                       settings[i % settings.size()], operations);
        }
    });
    std::vector<Forecast> all;
    for (std::vector<Forecast>& part : made) std::ranges::move(part, std::back_inserter(all));
    return all;
}

/// Returns whether all of them fit.
bool tell_of_memory(const std::vector<Forecast>& forecasts) {
    std::set<std::string> without_blocks, overflows;  // at each clock the same
    for (const Forecast& forecast : forecasts) {
        without_blocks.insert(checkpointing_note(forecast.network));
        overflows.insert(overflow_note(forecast.network));
    }
    for (const std::string& note : without_blocks) tell(note);
    for (const std::string& note : overflows) tell(note);
    return std::ranges::all_of(overflows, &std::string::empty);
}

RequestSource requests_of(const Options& options) {
    if (!options.models.empty()) throw UsageError("--stdin takes no MODEL: each request names its own");
    if (options.devices.size() > 1)
        throw UsageError("--stdin takes one --device: the default for requests without one");
    return {options.devices.empty() ? "" : options.devices.front(), options.predictor, options.database,
            options.strict};
}

/// Each request has its own setting, and answers are JSON on standard output.
void exclude_what_requests_have(CLI::Option& from_stdin, CLI::App& command) {
    const std::set<std::string> shared{"MODEL", "--device", "--predictor", "--db", "--strict", "--stdin", "--help"};
    for (CLI::Option* other : command.get_options()) {
        if (!shared.contains(other->get_name())) from_stdin.excludes(other);
    }
}

int run_operations(const Options& options) {
    if (!options.models.empty()) throw UsageError("predict takes a MODEL or --operation, not both. Run it twice");
    const std::vector<Forecast> forecasts = forecast_operations(options);
    const std::string& format = options.output.format;
    options.output.write(format == "json"  ? operations_to_json(forecasts)
                         : format == "csv" ? operations_to_csv(forecasts)
                                           : operations_to_text(forecasts));
    return done;
}

int run(const Options& options) {
    if (options.from_stdin) return answer_requests(requests_of(options));
    if (options.models.empty() && options.operations.empty())
        throw UsageError("predict needs a MODEL, --operation or --stdin");
    if (options.devices.empty()) throw UsageError("predict needs --device");
    if (!options.operations.empty()) return run_operations(options);
    const std::vector<Forecast> forecasts = forecast_all(options);
    if (options.output.format == "json") {
        options.output.write(forecasts_to_json(forecasts));
    } else if (options.output.format == "csv") {
        options.output.write(forecasts_to_csv(forecasts, options.per_operation));
    } else {
        options.output.write(forecasts_to_text(forecasts, options.per_operation));
    }
    const bool fits = tell_of_memory(forecasts);
    bool unknown = false;
    for (const Forecast& forecast : forecasts) {
        if (forecast.network.unknown_nodes == 0) continue;
        unknown = true;
        tell(forecast.network.model + ": " + std::to_string(forecast.network.unknown_nodes) + " " +
             unknown_words(forecast.network.unknown_operations, forecast.network.method) +
             " its time is a lower bound");
    }
    if (!fits && options.strict) return failed;
    if (!unknown) return done;
    return options.strict ? failed : parts_unknown;
}

}  // namespace

Run declare_predict(CLI::App& command) {
    const auto options = std::make_shared<Options>();
    command.add_option("MODEL", options->models, ".pt2, .onnx or .graph.json file, or a zoo name such as resnet50");
    command.option_defaults()->group("Device");
    command.add_option("--device", options->devices, "ID, ID@SM_MHZ or ID@SM_MHZ/MEMORY_MHZ; cpu is this machine")
        ->type_name("ID...");
    command.add_option("--clocks", options->clocks, "core clocks: current, all, 900,1200 or 600:1440:120")
        ->type_name("MHZ,...");
    command.add_option("--memory-clocks", options->memory_clocks, "memory clocks: 440,880")->type_name("MHZ,...");
    command.add_option("--power-limits", options->power_limits, "power limits: 100,150 or 100:250:25")
        ->type_name("W,...");
    auto* pace =
        command.add_option("--pace", options->pace, "now: measure how fast this machine is at the moment (0.2 s)")
            ->check(CLI::IsMember({"usual", "now"}))
            ->capture_default_str();
    command.add_option("--worker", options->worker, "with --pace now: worker command (default: joulecast-torch)")
        ->type_name("CMD")
        ->needs(pace);
    options->settings.declare(command);
    command
        .add_option("--operation", options->operations,
                    "forecast a single call in place of a network: 'aten::relu(self=f32[32,64,56,56])'")
        ->type_name("CALL")
        ->allow_extra_args(false);
    options->settings.declare_hosts(command);
    declare_host_cpu(command, options->host_cpu);
    options->settings.declare_training(command);
    declare_sources(command, options->predictor, options->database);
    command.option_defaults()->group("Output");
    command.add_flag("--per-operation", options->per_operation, "show the time of each operation");
    command.add_flag("--strict", options->strict, "fail if an operation is unknown or memory does not suffice");
    auto* from_stdin =
        command.add_flag("--stdin", options->from_stdin, "answer requests from standard input, one JSON object a line");
    options->output.declare(command);
    exclude_what_requests_have(*from_stdin, command);
    return [options] { return run(*options); };
}

}  // namespace joulecast::cli
