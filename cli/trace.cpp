#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "cli/count_model.h"
#include "cli/forecast_trace.h"
#include "cli/forecast_words.h"
#include "cli/setting_options.h"
#include "cli/settings.h"
#include "cli/training_options.h"
#include "cli/verb.h"
#include "joulecast/answer/session.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/forecast/device_power.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/forecast/timeline_at_point.h"
#include "joulecast/report/chrome_trace.h"

namespace joulecast::cli {
namespace {

struct TraceOptions {
    std::string model;
    std::string device;
    std::string predictor;
    std::string database;
    std::vector<std::string> set;
    std::string mode = "inference";
    std::string precision = "default";
    std::string memory_format = "contiguous";
    std::string host = "python";
    std::string host_cpu;
    std::string engine;
    TrainingOptions training;
    std::string file;
};

SymbolValues one_setting(const std::vector<std::string>& texts) {
    const auto combinations = parse_settings(texts);
    if (combinations.size() != 1) throw UsageError("a trace shows one network at one size: give each symbol one value");
    return combinations.front();
}

Execution execution_of(const TraceOptions& options) {
    Execution execution{parse_mode(options.mode).value(), options.precision, parse_host(options.host).value(),
                        options.training.setup()};
    if (!options.engine.empty() && !is_engine(options.engine))
        throw UsageError("--engine: '" + options.engine + "' is no name of an engine");
    execution.engine = options.engine;
    execution.memory_format = parse_memory_format(options.memory_format).value();
    if (options.training.is_given() && execution.mode == Mode::inference)
        throw UsageError("--optimizer, --accumulate and --checkpointing need --mode training");
    return execution;
}

/// `asked` without clocks: at those that the device was measured at.
TracedForecast traced_on(const LoadedDevice& device, const Graph& graph, const Execution& execution,
                         const OperatingPoint& asked) {
    const DeviceModel& model = device.model_for(execution);
    ForecastCache known(model, device.columns(), device.measured(model));
    TracedForecast traced;
    traced.graph = device.prepared(graph, execution);
    traced.timeline = forecast_timeline(traced.graph, execution.precision, known,
                                        LoadedDevice::host_for(model, execution), execution.training);
    traced.timeline.forecast.predictor = device.predictor_name();
    traced.timeline.forecast.memory_format = execution.memory_format;
    traced.device_name = model.device.display_name;
    traced.idle_w = power_facts_of(model).idle_w;
    if (!std::isnan(asked.sm_clock_mhz)) {
        traced.timeline = timeline_at_point(traced.timeline, model, asked);
        const NetworkForecast& there = traced.timeline.forecast;
        traced.idle_w = there.idle_energy_j / there.time.value.value();
    }
    traced.computes_where_it_issues = model.device.kind == Device::Kind::cpu;
    return traced;
}

int run_trace(const TraceOptions& options) {
    const Execution execution = execution_of(options);
    Session session(for_one_question(options.predictor, options.database));
    const auto graph = session.network(options.model, one_setting(options.set), execution.mode);
    for (const std::string& note : notes_of(*graph)) tell(note);
    const DeviceAtClock named = device_at_clock(options.device);
    const AnsweringDevice on = session.device(named.device, options.host_cpu, options.engine);
    const LoadedDevice& device = *on.loaded;
    const DeviceModel& model = device.model_for(execution);
    for (const std::string& note : {device.database_note(), on.note, device.issuer_note(), device.measured_note(model)})
        tell(note);
    const TracedForecast traced = traced_on(device, *graph, execution, named.asked);
    Output output;
    output.file = options.file;
    output.write(to_chrome_json(trace_of(traced)));
    const NetworkForecast& forecast = traced.timeline.forecast;
    if (forecast.unknown_nodes == 0) return done;
    tell(forecast.model + ": " + std::to_string(forecast.unknown_nodes) + " " +
         unknown_words(forecast.unknown_operations, forecast.method) + " its time is a lower bound");
    return parts_unknown;
}

}  // namespace

Run declare_trace(CLI::App& command) {
    const auto options = std::make_shared<TraceOptions>();
    command.add_option("MODEL", options->model, ".pt2, .onnx or .graph.json file, or a zoo name such as resnet50")
        ->required();
    command.option_defaults()->group("Network");
    command.add_option("--set", options->set, "size of the network, such as batch=8; once for each symbol")
        ->type_name("SYMBOL=N")
        ->allow_extra_args(false);
    command.add_option("--mode", options->mode, "what runs")
        ->check(CLI::IsMember({"inference", "training"}))
        ->capture_default_str();
    command.add_option("--precision", options->precision, "one of " + precision_words())
        ->type_name("NAME")
        ->capture_default_str();
    declare_memory_format(command, options->memory_format);
    command.option_defaults()->group("Device");
    command.add_option("--device", options->device, "ID, ID@SM_MHZ or ID@SM_MHZ/MEMORY_MHZ; cpu is this machine")
        ->type_name("ID")
        ->required();
    command.add_option("--host", options->host, "what issues the calls: Python, C++ or a CUDA graph")
        ->check(CLI::IsMember({"python", "cpp", "graph"}))
        ->capture_default_str();
    declare_host_cpu(command, options->host_cpu);
    command.add_option("--engine", options->engine, "whose kernels run, as measured: torch, onnxruntime, ...")
        ->type_name("ENGINE");
    options->training.declare(command);
    declare_sources(command, options->predictor, options->database);
    command.option_defaults()->group("Output");
    command.add_option("-o,--output", options->file, "write to this file (default: standard output)")
        ->type_name("FILE");
    return [options] { return run_trace(*options); };
}

}  // namespace joulecast::cli
