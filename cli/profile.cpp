#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/printable_errors.h"
#include "cli/profile_options.h"
#include "cli/profile_output.h"
#include "cli/profile_wish.h"
#include "cli/sweep_log.h"
#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/dataset/card.h"
#include "joulecast/dataset/measuring_lock.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/meter/open_meter.h"
#include "joulecast/profile/found_clocks.h"
#include "joulecast/profile/plan.h"
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

template <class Item>
bool lacks(const std::vector<Item>& list, const Item& item) {
    return std::ranges::find(list, item) == list.end();
}

/// Throws when the worker cannot do what the wish needs: better now than after an hour.
void require(const protocol::Capabilities& worker, const ProfileWish& wish, const ProfileOptions& options) {
    std::string devices;
    for (const std::string& device : worker.device_names) devices += (devices.empty() ? "" : ", ") + device;
    if (lacks(worker.device_names, options.device))
        throw Error("the worker has no device '" + options.device + "'. It has: " + devices + ".");
    if (options.require_energy && !wish.may_measure_energy(worker))
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

SweepSettings sweep_settings(const ProfileOptions& options, const ProfileWish& wish, const PlanSettings& planned) {
    SweepSettings how;
    how.point = planned.point;
    how.measure.method = planned.method;
    how.measure.meter = wish.meter();
    how.measure.measure_energy = wish.meter() != "none";
    how.measure.threads = planned.point.threads;
    how.measure.measure_hot = !options.no_hot;
    how.measure.seed = how.order_seed = options.seed;
    how.require_energy = options.require_energy;
    how.card = options.card;
    if (options.patience) {
        const double more_s = parse_duration(*options.patience);
        how.patience = [more_s](const MeasureSettings& measure, double call_s, bool network) {
            return longer_patience(patience(measure, call_s, network), more_s);
        };
    }
    how.interrupted = stopped;
    how.now_s = now_s;
    return how;
}

/// Where the device's clocks are left as they are, what somebody else has set is part of the point.
void look_at_clocks(PlanSettings& settings, const SweepSettings& how, Supervisor& supervisor) {
    const FoundClocks found = find_clocks(supervisor, settings.point, how.measure);
    for (ClockSetting& clocks : settings.clocks) clocks.found = found;
}

/// What a plan file sets, the user may not have read.
void tell_clocks(const ProfileOptions& options, const ProfileWish& wish, const PlanSettings& settings) {
    const bool of_plan = (!options.how.clocks && wish.how.clocks) ||
                         (!options.how.power_limits && wish.how.power_limits) ||
                         (!options.how.memory_clocks && wish.how.memory_clocks);
    if (!of_plan || !wish.clocks().changes()) return;
    std::cerr << "the plan sets " << (wish.clocks().power_limits_w.empty() ? "the clock" : "clock and power limit")
              << " of " << settings.device.id << ": " << settings.clocks.size()
              << " settings, one after another; the device is restored at the end. To change nothing: --clocks current "
                 "--power-limits current --memory-clocks current\n";
}

int dry_run(const ProfileOptions& options, const ProfileWish& wish) {
    std::optional<Supervisor> supervisor;
    if (!options.worker.empty())
        supervisor.emplace(Supervisor::Options{.command = options.worker, .device = options.device});
    if (supervisor) require(supervisor->capabilities(), wish, options);
    const protocol::Capabilities worker = supervisor ? supervisor->capabilities() : assumed_worker(options, wish);
    const Device device = worker.device;
    std::optional<Dataset> dataset;
    if (std::filesystem::exists(options.database)) dataset.emplace(options.database, Dataset::Access::read_only);
    PlanSettings settings = plan_settings(options, wish, worker);
    if (supervisor && dataset) look_at_clocks(settings, sweep_settings(options, wish, settings), *supervisor);
    tell_clocks(options, wish, settings);
    return print_plan(options.output, make_plan(wish.variations, dataset ? &*dataset : nullptr, settings), device);
}

/// Before anything is opened.
void check(const ProfileOptions& options) {
    if (!options.card.empty()) with_card("", options.card);  // throws for what is no name
    if (options.how.meter) check_meter_name(*options.how.meter);
    if (options.models.empty() && !options.probe) throw UsageError("profile needs a MODEL, a PLAN or --probe");
}

int profile(const ProfileOptions& options) {
    check(options);
    const ProfileWish wanted = profile_wish(options);
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
    if (wanted.meter() != "none" && !wanted.may_measure_energy(worker))
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
    write_counts(options.counts, plan, worker.device, nullptr);
    how.budget_s = plan.limit_s;
    how.measure.longest_soak_s = longest_soak_s(settings);
    if (plan.limit_s || worker.device.kind == Device::Kind::cpu) how.pace_interval_s = pace_interval_s;
    SweepProgress progress(drawn_errors(), ::isatty(STDERR_FILENO) == 1, now_s);
    const auto log = options.power_log.empty()
                         ? nullptr
                         : start_power_log(options.power_log, wanted.meter(), options.device, worker);
    const SweepResult result = sweep(plan, supervisor, dataset, how, progress);
    if (log) log->stop();
    write_counts(options.counts, plan, worker.device, &result);
    if (log && !log->failure().empty()) std::cerr << log->failure() << '\n';
    return print_result(options.output, options.database, {plan, worker.device, result});
}

/// Which part of it, and where it goes.
void declare_files(CLI::App& command, ProfileOptions& options) {
    command.add_option("--shard", options.shard, "measure the i-th of n parts, such as 2/4")
        ->type_name("I/N")
        ->capture_default_str();
    command.option_defaults()->group("Output");
    command.add_option("--db", options.database, "database to write into; made if missing")
        ->type_name("FILE.db")
        ->required();
    command.add_option("--power-log", options.power_log, "append power, clocks and temperature over time to this file")
        ->type_name("FILE.csv");
    command.add_option("--card", options.card, "keep the card's name with its rows, such as node7/GPU-0f3a")
        ->type_name("NAME");
    command.add_option("--counts", options.counts, "write the counts to this file, at the start and at the end")
        ->type_name("FILE.json");
    command.add_flag("--dry-run", options.dry_run, "print the plan and its cost, measure nothing");
}

}  // namespace

Run declare_profile(CLI::App& command) {
    const auto options = std::make_shared<ProfileOptions>();
    command.add_option("MODEL", options->models,
                       ".pt2, .onnx or .graph.json file, a zoo name such as resnet50, or a .plan file");
    declare_what_to_measure(command, *options);
    declare_on_what(command, *options);
    declare_how_to_measure(command, *options);
    declare_files(command, *options);
    options->output.declare(command);
    return [options] { return profile(*options); };
}

}  // namespace joulecast::cli
