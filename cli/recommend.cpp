#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/count_model.h"
#include "cli/device_survey.h"
#include "cli/forecast_words.h"
#include "cli/recommendation_text.h"
#include "cli/setting_options.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/answer/session.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/learn/parallel.h"
#include "joulecast/profile/clock_settings.h"
#include "joulecast/recommend/recommend.h"

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

Grid parse_grid(const Options& options) {
    const ClockWish wish = parse_clock_wish(options.clocks, options.power_limits);
    Grid grid;
    grid.all_clocks = wish.all || (options.clocks.empty() && options.power_limits.empty());
    grid.clocks_mhz = wish.sm_clocks_mhz;
    grid.power_limits_w = wish.power_limits_w;
    return grid;
}

/// A phase of a network over sequences, or the network itself.
struct Phase {
    std::string name;
    std::string model;
    std::vector<SymbolValues> sizes;
    std::vector<std::string> modes;
    bool is_named = true;  ///< by the user; else it goes with what was
};

/// The sizes of the graph that takes one further token: what was the sequence lies behind it.
SymbolValues decode_sizes(SymbolValues sizes, std::int64_t sequence) {
    const auto given = sizes.find("sequence");
    if (given != sizes.end()) sequence = given->second;
    sizes.erase("sequence");
    sizes.try_emplace("past", sequence);
    return sizes;
}

/// The zoo's graph of one decoding step of that network, where it has one.
std::optional<std::string> decode_of(const std::string& model) {
    std::string name = model + "-decode";
    const auto names = zoo_names(shipped_folder("zoo"));
    if (std::ranges::find(names, name) == names.end()) return std::nullopt;
    return name;
}

/// The network, and for a language model of the zoo the decoding step, too.
std::vector<Phase> phases_of(const Options& options) {
    const auto asked = parse_settings(options.settings.set);
    const bool infers = std::ranges::find(options.settings.modes, "inference") != options.settings.modes.end();
    const auto decode = decode_of(options.model);
    std::vector<SymbolValues> own = asked;
    if (decode) {
        for (SymbolValues& sizes : own) sizes.erase("past");  // that of the decoding step
        std::ranges::sort(own);
        own.erase(std::unique(own.begin(), own.end()), own.end());
    }
    const Graph graph = open_model(options.model, shipped_folder("zoo"), own.front(),
                                   parse_mode(options.settings.modes.front()).value());
    tell_notes(graph);
    std::vector<Phase> phases{{"", options.model, own, options.settings.modes}};
    if (graph.symbols.contains("past")) phases.front().name = "decode";
    if (!graph.symbols.contains("sequence") || !infers) return phases;
    phases.front().name = "prefill";
    if (!decode) return phases;
    Phase& step = phases.emplace_back(Phase{"decode", *decode, {}, {"inference"}, false});
    for (const SymbolValues& sizes : asked)
        step.sizes.push_back(decode_sizes(sizes, graph.symbols.at("sequence").value));
    return phases;
}

Goal goal_of(const Options& options, const Phase& phase) {
    Goal goal;
    goal.objective = parse_objective(options.objective).value();
    goal.limits = options.limits;
    goal.prices = options.prices;
    if (phase.is_named) {
        if (options.samples) goal.job = Job{*options.samples};
        if (options.hours) goal.limits.job_s = *options.hours * seconds_per_hour;
    } else {
        // A job counts runs of the model that was named; nobody said how many tokens follow.
        goal.limits.job_s.reset();
        if (options.samples) goal.limits.price.reset();
    }
    return goal;
}

void check(const Options& options) {
    const Objective objective = parse_objective(options.objective).value();
    const bool device_prices = !parse_device_prices(options.device_prices).empty();
    if (const auto missing = missing_prices(objective, options.prices, device_prices))
        throw UsageError("--minimise " + options.objective + ": " + *missing);
    if (options.limits.price) {
        if (const auto missing = missing_prices(Objective::price, options.prices, device_prices))
            throw UsageError("--max-price: " + *missing);
    }
    if (options.hours && !options.samples) throw UsageError("--max-hours needs --samples N");
}

/// Every line once.
void say(const std::string& line, std::set<std::string>& said) {
    if (said.insert(line).second) tell(line);
}

/// What is asked of a session: the phase's networks, on all devices as they come.
Question question_of(const Options& options, const Phase& phase) {
    Question question;
    options.settings.put_in(question);
    question.models = {phase.model};
    question.sizes = phase.sizes;
    question.modes.clear();
    for (const std::string& word : phase.modes) question.modes.push_back(parse_mode(word).value());
    question.hosts = {parse_host(options.host).value()};
    question.host_cpu = options.host_cpu;
    for (const std::string& named : options.devices) question.devices.push_back({named, {}});
    question.wants_other_clocks = true;
    question.leaves_out = true;
    return question;
}

/// All devices, their predictors and the database read once, side by side.
std::vector<AnsweringDevice> load_devices(Session& session, const Options& options) {
    std::vector<AnsweringDevice> devices(options.devices.size());
    in_parallel(devices.size(), 0, [&](std::size_t i) {
        Question question;
        question.devices = {{options.devices[i], {}}};
        question.host_cpu = options.host_cpu;
        question.wants_other_clocks = true;
        question.leaves_out = true;
        devices[i] = session.answer(question).devices.front();
    });
    return devices;
}

Answered answered(const Phase& phase, Session& session, const Options& options, std::set<std::string>& said) {
    const Answer answer = session.answer(question_of(options, phase));
    Survey survey = survey_devices(answer, parse_grid(options), parse_device_prices(options.device_prices));
    for (const std::string& note : survey.notes) say(note, said);
    for (const std::string& one : survey.left_out) say("left out: " + one, said);
    Answered answered;
    answered.phase = phase.name;
    answered.model = answer.forecasts.front().network.model;
    answered.left_out = std::move(survey.left_out);
    for (const AnsweringDevice& device : answer.devices) {
        for (const std::string& note : {device.note, device.loaded->issuer_note()}) {
            if (!note.empty()) answered.notes.push_back(note);
        }
    }
    answered.predictors = std::move(survey.predictors);
    answered.devices = std::move(survey.devices);
    answered.unknown_operations.assign(survey.unknown.begin(), survey.unknown.end());
    answered.method = survey.method;
    answered.recommendation = recommend(std::move(survey.candidates), goal_of(options, phase));
    return answered;
}

int run(const Options& options) {
    check(options);
    std::vector<Answered> phases;
    std::set<std::string> said;
    SessionSettings settings = for_one_question(options.predictor, options.database);
    settings.most_devices = options.devices.size();
    Session session(std::move(settings));
    for (const AnsweringDevice& device : load_devices(session, options)) {
        say(device.loaded->database_note(), said);
        say(device.note, said);
        say(device.loaded->issuer_note(), said);
    }
    for (const Phase& phase : phases_of(options)) phases.push_back(answered(phase, session, options, said));
    if (options.output.format == "json") {
        options.output.write(recommendations_to_json(phases));
    } else if (options.output.format == "csv") {
        options.output.write(recommendations_to_csv(phases));
    } else {
        options.output.write(recommendations_to_text(phases, terminal(options.output)));
    }
    int status = done;
    for (const Answered& one : phases) {
        if (!one.unknown_operations.empty()) {
            tell(one.model + ": " + unknown_words(one.unknown_operations, one.method) + " its times are lower bounds");
            status = std::max(status, static_cast<int>(options.strict ? failed : parts_unknown));
        }
    }
    for (const Answered& one : phases) {
        if (!one.recommendation.empty()) continue;
        tell(why_nothing(one));
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
    for (const ObjectiveRule& one : objectives()) words.emplace_back(one.name);
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
