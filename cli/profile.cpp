#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/printable_errors.h"
#include "cli/profile_output.h"
#include "cli/sweep_log.h"
#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/dataset/measuring_lock.h"
#include "joulecast/device/device_table.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/meter/open_meter.h"
#include "joulecast/profile/augment.h"
#include "joulecast/profile/clock_settings.h"
#include "joulecast/profile/found_clocks.h"
#include "joulecast/profile/plan.h"
#include "joulecast/profile/probe.h"
#include "joulecast/profile/progress.h"
#include "joulecast/profile/reference_watch.h"
#include "joulecast/profile/sweep.h"
#include "joulecast/worker/supervision/supervisor.h"

namespace joulecast::cli {
namespace {

volatile std::sig_atomic_t stop_asked = 0;

/// Ctrl-C and SIGTERM end the sweep after the measurement in progress; a second one ends the program at once.
void ask_to_stop(int) {
    stop_asked = 1;
}

void listen_for_stop() {
    struct sigaction action{};
    action.sa_handler = ask_to_stop;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    ::sigaction(SIGINT, &action, nullptr);
    ::sigaction(SIGTERM, &action, nullptr);
}

bool stopped() {
    return stop_asked != 0;
}

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Options {
    std::vector<std::string> models;
    std::string database;
    std::string device = "cpu";
    std::string worker;
    std::optional<std::string> mode, precision, budget, augment;
    std::vector<std::string> set;
    HowToMeasure how;
    std::string power_log;
    std::string shard = "1/1";
    bool networks = false;
    bool no_hot = false;
    bool no_operations = false;
    bool probe = false;
    bool require_energy = false;
    bool dry_run = false;
    std::uint64_t seed = 1;
    int threads = 0;
    Output output;
};

/// What the command line says replaces what a plan file says.
ProfileRequest with_options(ProfileRequest request, const Options& options) {
    if (options.mode) request.modes = parse_modes(*options.mode);
    if (options.precision) request.precisions = parse_precisions(*options.precision);
    if (!options.set.empty()) request.set.clear();
    for (const std::string& setting : options.set) add_setting(request.set, setting);
    if (options.networks) request.networks = true;
    if (options.no_operations) request.operations = false;
    const bool samples =
        options.probe || options.augment || request.probe || request.augment > 0 || !request.named.empty();
    if (!request.operations && !request.networks && !samples)
        throw UsageError("--no-operations leaves nothing to measure. Add --networks");
    return request;
}

ProfileRequest read_plan_file(const std::string& name) {
    std::filesystem::path path = name;
    if (!std::filesystem::exists(path)) path = std::filesystem::path(shipped_folder("plans")) / path.filename();
    std::ifstream input(path);
    if (!input) throw Error("there is no plan file '" + name + "', neither here nor among the shipped ones.");
    return read_plan(input, name);
}

struct Wish {
    std::vector<Variation> variations;
    std::vector<Sample> named;             ///< operations that plan files name
    std::optional<double> budget_s;        ///< of the command line: for this run
    std::optional<double> whole_budget_s;  ///< of plan files: for all that they name
    std::int64_t augment = 0;              ///< variants in all
    std::set<Mode> probe;                  ///< modes that the probe is measured in
    HowToMeasure how;

    Host host() const { return how.host.value_or(Host::cpp); }
    std::string meter() const { return how.meter.value_or("auto"); }
    ClockWish clocks() const {
        return parse_clock_wish(how.clocks.value_or("current"), how.power_limits.value_or("current"),
                                how.memory_clocks.value_or("current"));
    }
};

/// What the command line says replaces what plan files say.
HowToMeasure overridden(HowToMeasure how, const HowToMeasure& by) {
    const auto take = [](auto& to, const auto& from) {
        if (from) to = from;
    };
    take(how.host, by.host);
    take(how.method, by.method);
    take(how.optimizer, by.optimizer);
    take(how.meter, by.meter);
    take(how.clocks, by.clocks);
    take(how.power_limits, by.power_limits);
    take(how.memory_clocks, by.memory_clocks);
    return how;
}

/// The operations that the request names, once for each way in which its precisions multiply.
void add_named(const ProfileRequest& request, std::vector<Sample>& named) {
    std::vector<Math> maths;
    for (const std::string& precision : request.precisions) {
        const Math math = math_of(precision_named(precision));
        if (std::ranges::find(maths, math) != maths.end()) continue;
        maths.push_back(math);
        for (const Operation& operation : request.named) named.push_back({operation, math});
    }
}

/// The models of the command line are one request, each plan file is another.
Wish wish(const Options& options) {
    std::vector<ProfileRequest> requests;
    ProfileRequest named;
    for (const std::string& argument : options.models) {
        if (argument.ends_with(".plan"))
            requests.push_back(with_options(read_plan_file(argument), options));
        else
            named.models.push_back(argument);
    }
    if (!named.models.empty()) requests.push_back(with_options(named, options));
    Wish wish;
    if (options.probe) {
        for (const Mode mode : options.mode ? parse_modes(*options.mode) : std::vector{Mode::inference})
            wish.probe.insert(mode);
    }
    double budget_s = 0;
    bool limited = !requests.empty();
    // The worker's device names say it: "cpu", "cuda:0".
    const Device::Kind kind = options.device.starts_with("cpu") ? Device::Kind::cpu : Device::Kind::gpu;
    for (const ProfileRequest& request : requests) {
        for (Variation& variation : variations(request, shipped_folder("zoo"), kind))
            wish.variations.push_back(std::move(variation));
        add_named(request, wish.named);
        wish.augment += request.augment;
        if (request.probe) wish.probe.insert(request.modes.begin(), request.modes.end());
        limited = limited && request.budget_s.has_value();
        budget_s += request.budget_s.value_or(0);
        wish.how = together(wish.how, request.how);
    }
    wish.how = overridden(wish.how, options.how);
    if (options.augment) wish.augment = parse_augment(*options.augment);
    if (limited) wish.whole_budget_s = budget_s;
    if (options.budget) {
        wish.budget_s = parse_duration(*options.budget);
        wish.whole_budget_s.reset();  // what the command line says replaces what plans say
    }
    return wish;
}

void parse_shard(const std::string& text, PlanSettings& settings) {
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, settings.shard);
    const bool slash = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
    const auto second = slash ? std::from_chars(first.ptr + 1, end, settings.shards)
                              : std::from_chars_result{end, std::errc::invalid_argument};
    if (second.ec != std::errc() || second.ptr != end || settings.shard < 1 || settings.shard > settings.shards)
        throw UsageError("--shard takes i/n with i from 1 to n, as in 2/4, not '" + text + "'");
}

template <class Item>
bool lacks(const std::vector<Item>& list, const Item& item) {
    return std::ranges::find(list, item) == list.end();
}

/// Throws when the worker cannot do what the wish needs: better now than after an hour.
void require(const protocol::Capabilities& worker, const Wish& wish, const Options& options) {
    std::string devices;
    for (const std::string& device : worker.device_names) devices += (devices.empty() ? "" : ", ") + device;
    if (lacks(worker.device_names, options.device))
        throw Error("the worker has no device '" + options.device + "'. It has: " + devices + ".");
    if (options.require_energy && !worker.measures_energy)
        throw Error("the worker cannot measure energy: " + worker.energy_missing_reason +
                    ". Without --require-energy time and memory are measured.");
    const bool is_cpu = options.device == "cpu" || options.device == worker.device.id;
    if (is_cpu != (worker.device.kind == Device::Kind::cpu) && options.device == "cpu")
        throw Error("the worker measures " + worker.device.id +
                    ", not cpu. Install joulecast and the "
                    "worker from the same release.");
    if (wish.how.host && lacks(worker.hosts, *wish.how.host))
        throw Error("the worker has no host " + std::string(name(*wish.how.host)) +
                    ". Choose another --host or --worker.");
    for (const Variation& variation : wish.variations) {
        if (lacks(worker.modes, variation.mode))
            throw Error("the worker does not measure " + std::string(name(variation.mode)) +
                        ". Choose another --mode.");
        const auto needed = dtypes_of(precision_named(variation.precision));
        if (std::ranges::any_of(needed, [&](Dtype dtype) { return lacks(worker.dtypes, dtype); }))
            throw Error("the worker does not measure " + variation.precision + ". Choose another --precision.");
        if (variation.network && !worker.measures_graphs)
            throw Error("the worker measures no whole networks. Leave --networks out.");
    }
}

PlanSettings plan_settings(const Options& options, const Wish& wish, const protocol::Capabilities& worker) {
    PlanSettings settings;
    settings.device = with_known_figures(worker.device);
    settings.point.device = worker.device.id;
    if (!worker.engine.empty()) settings.point.engine = worker.engine;
    settings.point.host = wish.how.host.value_or(worker.hosts.empty() ? Host::cpp : worker.hosts.front());
    settings.point.threads = options.threads;
    // A GPU's host needs no more than one thread to issue: the worker chooses.
    if (options.threads == 0 && worker.device.kind == Device::Kind::cpu) settings.point.threads = worker.device.units;
    settings.clocks = clock_settings(wish.clocks(), worker);
    settings.method = wish.how.method.value_or(Method::joulecast);
    settings.optimizer = wish.how.optimizer.value_or(Optimizer::none);
    settings.budget_s = wish.budget_s;
    settings.whole_budget_s = wish.whole_budget_s;
    settings.seed = options.seed;
    settings.energy_wanted = worker.measures_energy && wish.meter() != "none";
    settings.energy_required = options.require_energy;
    settings.named = wish.named;
    for (const Mode mode : wish.probe) {
        for (Operation& operation : probe_operations(mode))
            settings.probe.push_back({std::move(operation), Math::ieee});
    }
    settings.augmentation = augment(wish.variations, {wish.augment, options.seed, settings.device.memory_bytes});
    parse_shard(options.shard, settings);
    settings.overhead_s = overhead_s(settings);
    return settings;
}

SweepSettings sweep_settings(const Options& options, const Wish& wish, const PlanSettings& planned) {
    SweepSettings how;
    how.point = planned.point;
    how.measure.method = planned.method;
    how.measure.meter = wish.meter();
    how.measure.measure_energy = wish.meter() != "none";
    how.measure.threads = planned.point.threads;
    how.measure.measure_hot = !options.no_hot;
    how.measure.seed = how.order_seed = options.seed;
    how.require_energy = options.require_energy;
    how.interrupted = stopped;
    how.now_s = now_s;
    return how;
}

/// Where the device's clocks are left as they are, what somebody else has set is part of the point.
void look_at_clocks(PlanSettings& settings, const SweepSettings& how, Supervisor& supervisor) {
    const FoundClocks found = find_clocks(supervisor, settings.point, how.measure);
    for (ClockSetting& clocks : settings.clocks) clocks.found = found;
}

/// Without a worker's word for it, cpu is this machine, a device that is known by name is as its data sheet says, and
/// any other a GPU of which nothing is known.
protocol::Capabilities assumed(const Options& options, const Wish& wish) {
    protocol::Capabilities worker;
    const DataSheet* const sheet = options.device == "cpu" ? nullptr : known_devices().find(options.device);
    if (options.device == "cpu") {
        worker.device = this_cpu();
    } else if (sheet != nullptr) {
        worker.device = sheet->device;
    } else {
        worker.device.id = options.device;
        worker.device.kind = Device::Kind::gpu;
    }
    if (wish.how.host) worker.hosts = {*wish.how.host};
    worker.locks_clocks = true;
    return worker;
}

/// What a plan file sets, the user may not have read.
void tell_clocks(const Options& options, const Wish& wish, const PlanSettings& settings) {
    const bool of_plan = (!options.how.clocks && wish.how.clocks) ||
                         (!options.how.power_limits && wish.how.power_limits) ||
                         (!options.how.memory_clocks && wish.how.memory_clocks);
    if (!of_plan || !wish.clocks().changes()) return;
    std::cerr << "the plan sets " << (wish.clocks().power_limits_w.empty() ? "the clock" : "clock and power limit")
              << " of " << settings.device.id << ": " << settings.clocks.size()
              << " settings, one after another; the device is restored at the end. To change nothing: --clocks current "
                 "--power-limits current --memory-clocks current\n";
}

int dry_run(const Options& options, const Wish& wish) {
    std::optional<Supervisor> supervisor;
    if (!options.worker.empty())
        supervisor.emplace(Supervisor::Options{.command = options.worker, .device = options.device});
    if (supervisor) require(supervisor->capabilities(), wish, options);
    const protocol::Capabilities worker = supervisor ? supervisor->capabilities() : assumed(options, wish);
    const Device device = worker.device;
    std::optional<Dataset> dataset;
    if (std::filesystem::exists(options.database)) dataset.emplace(options.database, Dataset::Access::read_only);
    PlanSettings settings = plan_settings(options, wish, worker);
    if (supervisor && dataset) look_at_clocks(settings, sweep_settings(options, wish, settings), *supervisor);
    tell_clocks(options, wish, settings);
    return print_plan(options.output, make_plan(wish.variations, dataset ? &*dataset : nullptr, settings), device);
}

int profile(const Options& options) {
    if (options.how.meter) check_meter_name(*options.how.meter);
    if (options.models.empty() && !options.probe) throw UsageError("profile needs a MODEL, a PLAN or --probe");
    const Wish wanted = wish(options);
    if (options.dry_run) return dry_run(options, wanted);
    listen_for_stop();
    Supervisor supervisor({.command = options.worker.empty() ? default_worker(wanted.host()) : options.worker,
                           // A job queue may let us wait for a node.
                           .hello_timeout = std::chrono::minutes(10),
                           .device = options.device});
    const protocol::Capabilities worker = supervisor.capabilities();
    require(worker, wanted, options);
    PlanSettings settings = plan_settings(options, wanted, worker);
    tell_clocks(options, wanted, settings);
    if (wanted.meter() != "none" && !worker.measures_energy)
        std::cerr << "energy is not measured: " << worker.energy_missing_reason << '\n';
    Dataset dataset(options.database);
    const MeasuringLock lock(
        options.database, worker.device.id,
        [&](const std::string& holder) {
            std::cerr << "waiting: process " << holder << " is measuring " << worker.device.id << " into "
                      << options.database << '\n';
        },
        stopped);
    if (!lock.held()) return interrupted;
    SweepSettings how = sweep_settings(options, wanted, settings);
    look_at_clocks(settings, how, supervisor);
    const Plan plan = make_plan(wanted.variations, &dataset, settings);
    announce(plan, worker.device);
    how.budget_s = plan.limit_s;
    if (plan.limit_s || worker.device.kind == Device::Kind::cpu) how.pace_interval_s = pace_interval_s;
    SweepProgress progress(drawn_errors(), ::isatty(STDERR_FILENO) == 1, now_s);
    const auto log = options.power_log.empty()
                         ? nullptr
                         : start_power_log(options.power_log, wanted.meter(), options.device, worker);
    const SweepResult result = sweep(plan, supervisor, dataset, how, progress);
    if (log) log->stop();
    if (log && !log->failure().empty()) std::cerr << log->failure() << '\n';
    return print_result(options.output, options.database, {plan, worker.device, result});
}

/// An option whose value is one of some words.
template <class Value, class Parse>
void add_word(CLI::App& command, const std::string& flag, std::optional<Value>& to, Parse parse,
              const std::string& description, const std::vector<std::string>& words) {
    command
        .add_option_function<std::string>(
            flag, [&to, parse](const std::string& word) { to = parse(word); }, description)
        ->check(CLI::IsMember(words));
}

void declare_what(CLI::App& command, Options& options) {
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
    command.add_option("--shard", options.shard, "measure the i-th of n parts, such as 2/4")
        ->type_name("I/N")
        ->capture_default_str();
}

void declare_device(CLI::App& command, Options& options) {
    command.option_defaults()->group("Device");
    command.add_option("--device", options.device, "device of the worker: cpu, cuda:0")
        ->type_name("ID")
        ->capture_default_str();
    command
        .add_option("--worker", options.worker,
                    "command that starts the worker (default: joulecast-torch; with --host python: joulecast-python)")
        ->type_name("CMD");
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

void declare_method(CLI::App& command, Options& options) {
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
    command.option_defaults()->group("Output");
    command.add_option("--db", options.database, "database to write into; made if missing")
        ->type_name("FILE.db")
        ->required();
    command.add_option("--power-log", options.power_log, "append power, clocks and temperature over time to this file")
        ->type_name("FILE.csv");
    command.add_flag("--dry-run", options.dry_run, "print the plan and its cost, measure nothing");
}

}  // namespace

Run declare_profile(CLI::App& command) {
    const auto options = std::make_shared<Options>();
    command.add_option("MODEL", options->models,
                       ".pt2, .onnx or .graph.json file, a zoo name such as resnet50, or a .plan file");
    declare_what(command, *options);
    declare_device(command, *options);
    declare_method(command, *options);
    options->output.declare(command);
    return [options] { return profile(*options); };
}

}  // namespace joulecast::cli
