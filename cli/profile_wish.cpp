#include "cli/profile_wish.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <utility>

#include "joulecast/answer/shipped.h"
#include "joulecast/device/device_table.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/profile/probe.h"
#include "joulecast/profile/sweep.h"

namespace joulecast::cli {
namespace {

/// What the command line says replaces what a plan file says.
ProfileRequest with_options(ProfileRequest request, const ProfileOptions& options) {
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
    std::ifstream input(plan_file(name));
    if (!input) throw Error("cannot read the plan file '" + name + "'. Check its permissions.");
    return read_plan(input, name);
}

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

void parse_shard(const std::string& text, PlanSettings& settings) {
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, settings.shard);
    const bool slash = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
    const auto second = slash ? std::from_chars(first.ptr + 1, end, settings.shards)
                              : std::from_chars_result{end, std::errc::invalid_argument};
    if (second.ec != std::errc() || second.ptr != end || settings.shard < 1 || settings.shard > settings.shards)
        throw UsageError("--shard takes i/n with i from 1 to n, as in 2/4, not '" + text + "'");
}

}  // namespace

std::filesystem::path plan_file(const std::string& name) {
    for (const auto& path :
         {std::filesystem::path(name), shipped_folder("plans") / std::filesystem::path(name).filename()}) {
        std::error_code ignored;
        if (std::filesystem::is_regular_file(path, ignored)) return path;
    }
    throw Error("there is no plan file '" + name + "', neither here nor among the shipped ones.");
}

/// The models of the command line are one request, each plan file is another.
ProfileWish profile_wish(const ProfileOptions& options) {
    std::vector<ProfileRequest> requests;
    ProfileRequest named;
    for (const std::string& argument : options.models) {
        if (argument.ends_with(".plan"))
            requests.push_back(with_options(read_plan_file(argument), options));
        else
            named.models.push_back(argument);
    }
    if (!named.models.empty()) requests.push_back(with_options(named, options));
    ProfileWish wish;
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

protocol::Capabilities assumed_worker(const ProfileOptions& options, const ProfileWish& wish) {
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

PlanSettings plan_settings(const ProfileOptions& options, const ProfileWish& wish,
                           const protocol::Capabilities& worker) {
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
    settings.energy_wanted = wish.may_measure_energy(worker);
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

}  // namespace joulecast::cli
