#include <memory>
#include <set>
#include <utility>

#include "cli/forecast_text.h"
#include "cli/forecast_words.h"
#include "cli/language_request.h"
#include "cli/named_devices.h"
#include "cli/operation_output.h"
#include "cli/predict_stdin.h"
#include "cli/setting_options.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/answer/asked_operation.h"
#include "joulecast/answer/session.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

struct PredictOptions {
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
    LanguageRequest request;  ///< nothing of 0 tokens
    bool per_operation = false;
    bool strict = false;
    bool from_stdin = false;
    Output output;
};

/// What the options ask, of the networks or the calls.
Question question_of(const PredictOptions& options) {
    Question question;
    question.models = options.models;
    for (const std::string& text : options.operations) question.operations.push_back(asked_operation(text));
    options.settings.put_in(question);
    for (const std::string& named : options.devices) question.devices.push_back(device_at_clock(named));
    question.clocks = parse_clock_wish(options.clocks, options.power_limits, options.memory_clocks);
    question.host_cpu = options.host_cpu;
    question.at_pace_of_now = options.pace == "now";
    question.worker = options.worker;
    question.lists_operations = options.per_operation || options.output.format == "json";
    return question;
}

std::vector<Forecast> forecasts_asked(const PredictOptions& options) {
    Session session(for_one_question(options.predictor, options.database));
    Answer answer = session.answer(question_of(options), tell);
    if (options.output.verbose) {
        for (const AnsweringDevice& device : answer.devices) tell(device.note);
    }
    return std::move(answer.forecasts);
}

RequestSource requests_of(const PredictOptions& options) {
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

int run_requests(const PredictOptions& options) {
    if (!options.operations.empty() || options.per_operation)
        throw UsageError("--prompt and --tokens are for networks as a whole: leave out --operation, --per-operation");
    const std::vector<RequestForecast> forecasts = forecast_requests(
        question_of(options), options.request, for_one_question(options.predictor, options.database), tell);
    const std::string& format = options.output.format;
    options.output.write(format == "json"  ? requests_to_json(forecasts, options.request)
                         : format == "csv" ? requests_to_csv(forecasts, options.request)
                                           : requests_to_text(forecasts, options.request,
                                                              {terminal(options.output), options.output.verbose}));
    bool fits = true;
    for (const RequestForecast& forecast : forecasts) {
        fits = fits && forecast.overflow.empty();
        if (!forecast.overflow.empty())
            tell(forecast.prefill.network.model + " on " + forecast.prefill.network.device +
                 ", batch=" + std::to_string(forecast.batch) + ": does not fit: " + forecast.overflow);
    }
    return options.strict && !fits ? failed : done;
}

int run_operations(const PredictOptions& options) {
    if (!options.models.empty()) throw UsageError("predict takes a MODEL or --operation, not both. Run it twice");
    const std::vector<Forecast> forecasts = forecasts_asked(options);
    const std::string& format = options.output.format;
    options.output.write(format == "json"  ? operations_to_json(forecasts)
                         : format == "csv" ? operations_to_csv(forecasts)
                                           : operations_to_text(forecasts));
    return done;
}

int run_predict(const PredictOptions& options) {
    if (options.from_stdin) return answer_requests(requests_of(options));
    if (options.models.empty() && options.operations.empty())
        throw UsageError("predict needs a MODEL, --operation or --stdin");
    if (options.devices.empty()) throw UsageError("predict needs --device");
    if (options.request.prompt > 0 || options.request.tokens > 0) return run_requests(options);
    if (!options.operations.empty()) return run_operations(options);
    const std::vector<Forecast> forecasts = forecasts_asked(options);
    if (options.output.format == "json") {
        options.output.write(forecasts_to_json(forecasts));
    } else if (options.output.format == "csv") {
        options.output.write(forecasts_to_csv(forecasts, options.per_operation));
    } else {
        options.output.write(
            forecasts_to_text(forecasts, options.per_operation, {terminal(options.output), options.output.verbose}));
    }
    const Shortfalls missing = shortfalls(forecasts);
    for (const std::string& note : missing.notes) tell(note);
    if (options.strict && missing.any()) return failed;
    return missing.unknown.empty() ? done : parts_unknown;
}

}  // namespace

Run declare_predict(CLI::App& command) {
    const auto options = std::make_shared<PredictOptions>();
    command.add_option("MODEL", options->models, ".pt2, .onnx or .graph.json file, or a zoo name such as resnet50");
    command.option_defaults()->group("Device");
    command.add_option("--device", options->devices, "ID, ID@SM_MHZ or ID@SM_MHZ/MEMORY_MHZ; cpu is this machine")
        ->type_name("ID...")
        ->delimiter(',');
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
    command.option_defaults()->group("Request to a language model");
    command.add_option("--prompt", options->request.prompt, "tokens that it reads")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
    command.add_option("--tokens", options->request.tokens, "tokens that it writes then")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
    options->settings.declare_hosts(command);
    declare_host_cpu(command, options->host_cpu);
    options->settings.declare_training(command);
    declare_sources(command, options->predictor, options->database);
    command.option_defaults()->group("Output");
    command.add_flag("--per-operation", options->per_operation, "show the time of each operation");
    command.add_flag("--strict", options->strict, "fail if an operation is unknown or the memory is too small");
    auto* from_stdin =
        command.add_flag("--stdin", options->from_stdin, "answer requests from standard input, one JSON object a line");
    options->output.declare(command);
    options->output.declare_verbose(command);
    exclude_what_requests_have(*from_stdin, command);
    return [options] {
        take_networks(options->devices, options->models);
        return run_predict(*options);
    };
}

}  // namespace joulecast::cli
