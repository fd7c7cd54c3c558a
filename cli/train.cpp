#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cli/host_text.h"
#include "cli/json_tree.h"
#include "cli/measured_rows.h"
#include "cli/settings.h"
#include "cli/start_option.h"
#include "cli/train_method.h"
#include "cli/trained_models.h"
#include "cli/verb.h"
#include "cli/what_next.h"
#include "joulecast/answer/clock_calibration.h"
#include "joulecast/device/engine.h"
#include "joulecast/device/threads_text.h"
#include "joulecast/error.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/forecast/published/method.h"
#include "joulecast/graph/family.h"
#include "joulecast/model/jcp.h"
#include "joulecast/profile/request.h"
#include "joulecast/train/calibrate_networks.h"
#include "joulecast/train/fit_models.h"
#include "joulecast/train/fit_over_clocks.h"
#include "joulecast/train/outliers.h"
#include "joulecast/train/physical_samples.h"
#include "joulecast/train/pooled.h"
#include "joulecast/units/time_stamp.h"

namespace joulecast::cli {
namespace {

nlohmann::ordered_json to_json(const PhysicalPower& power) {
    return {{"devices", power.devices}, {"rows", power.rows},     {"still", power.still},
            {"flop", power.flop},       {"byte", power.byte},     {"matrix", power.matrix},
            {"other", power.other},     {"tensor", power.tensor}, {"half_width", power.half_width}};
}

nlohmann::ordered_json to_json(const Predictor& predictor, const std::string& path, std::uintmax_t bytes) {
    nlohmann::ordered_json answer{{"schema", "joulecast.training/1"}, {"predictor", path}, {"bytes", bytes}};
    answer["models"] = rows_json(trained_models(predictor));
    answer["predictor_method"] = method_name(predictor);
    if (!predictor.devices.empty()) answer["physical_power"] = to_json(predictor.devices.front().physical_power);
    answer["devices"] = nlohmann::ordered_json::array();
    for (const DeviceModel& device : predictor.devices) {
        nlohmann::ordered_json entry{{"device", device.device.id},      {"math", name(device.point.math)},
                                     {"threads", device.point.threads}, {"laws", device.laws.size()},
                                     {"networks", device.networks},     {"sigma_network", device.sigma_network}};
        entry["network_factors"] = nlohmann::ordered_json::object();
        for (const NetworkCorrection& correction : device.corrections) {
            entry["network_factors"][correction.key] = correction.factor;
            entry["network_host_factors"][correction.key] = correction.host_factor;
            entry["network_energy_factors"][correction.key] = correction.energy_factor;
        }
        entry["engine"] = device.point.engine;
        entry["trained_clocks"] = nlohmann::ordered_json::array();
        if (device.over_clocks) {
            for (const TrainedClock& clock : device.over_clocks->trained)
                entry["trained_clocks"].push_back({{"sm_clock_mhz", clock.sm_clock_mhz},
                                                   {"memory_clock_mhz", clock.memory_clock_mhz},
                                                   {"rows", clock.rows}});
        }
        entry["host"] = name(device.point.host);
        entry["hosts"] = nlohmann::ordered_json::array();
        for (const HostExtra& extra : device.hosts)
            entry["hosts"].push_back({{"host", name(extra.host)},
                                      {"mode", name(extra.mode)},
                                      {"seconds_per_call", extra.seconds_per_call},
                                      {"sigma", extra.sigma},
                                      {"networks", extra.networks}});
        if (device.power.known()) entry["idle_power_w"] = device.power.idle_w;
        answer["devices"].push_back(entry);
    }
    answer["kept"] = nlohmann::ordered_json::array();
    for (const KeptDevice& kept : predictor.kept) {
        answer["kept"].push_back({{"device", kept.device.id},
                                  {"math", name(kept.point.math)},
                                  {"operations", kept.operations.size()},
                                  {"telling", kept.telling.size()},
                                  {"error", kept.left_out.from_others},
                                  {"error_of_own", kept.left_out.of_own}});
        if (!kept.left_out_by_work) continue;
        answer["kept"].back()["error_by_work"] = kept.left_out_by_work->from_others;
        answer["kept"].back()["error_of_own_by_work"] = kept.left_out_by_work->of_own;
    }
    answer["over_devices"] = nlohmann::ordered_json::array();
    for (const PooledModel& pooled : predictor.pooled) {
        answer["over_devices"].push_back({{"math", name(pooled.point.math)},
                                          {"devices", pooled.devices},
                                          {"rows", pooled.rows},
                                          {"watts_per_tflop", pooled.sustained.watts_per_tflop},
                                          {"bandwidth_by_memory", pooled.sustained.by_memory},
                                          {"latency_by_clock", pooled.sustained.by_clock},
                                          {"sigma_common", pooled.prior.common},
                                          {"sigma_compute", pooled.prior.compute},
                                          {"sigma_memory", pooled.prior.memory},
                                          {"sigma_family", pooled.prior.of_family}});
    }
    return answer;
}

/// Share of the networks' different calls that no row stands for.
double unmeasured_share(const MeasuredRows& rows) {
    std::set<std::string> measured;
    for (const TrainingRow& row : rows.operations) measured.insert(row.group);
    std::int64_t calls = 0, missing = 0;
    for (const TrainingNetwork& network : rows.networks) {
        for (const CountedOperation& counted : count_operations(network.graph)) {
            if (costs_nothing(family(counted.operation))) continue;
            calls += counted.count;
            if (!measured.contains(operation_group(counted.operation))) missing += counted.count;
        }
    }
    return calls > 0 ? static_cast<double>(missing) / static_cast<double>(calls) : 0;
}

/// A large correction is a finding, with its likely cause.
void tell_corrections(const DeviceModel& device, const MeasuredRows& rows) {
    for (const NetworkCorrection& correction : device.corrections) {
        if (plausible(correction)) continue;
        const double missing = unmeasured_share(rows);
        std::cerr << "joulecast: networks on " << device.device.id << " (" << correction.key << ") take "
                  << show(correction.factor, Show::number)
                  << " times the sum of their operations; forecasts are scaled by "
                  << "this factor. ";
        if (missing > 0.05)
            std::cerr
                << "Cause: " << show(missing, Show::percent)
                << " of their calls were never measured. Measure them: joulecast profile, with a larger --budget\n";
        else
            std::cerr << "Nearly all calls were measured, so the machine was faster or slower, or networks run "
                         "differently from their operations. Measure again while nothing else runs\n";
    }
}

/// What a machine that drifted says of its networks, and is not believed.
void tell_refused(const DeviceModel& device, const MeasuredRows& rows) {
    std::set<std::string> refused;
    for (const TrainingNetwork& network : rows.networks) {
        const NetworkMeasurement& m = network.measurement;
        const std::string key = correction_key(m.mode, m.precision);
        const bool is_known = std::ranges::any_of(device.corrections, [&key](const auto& c) { return c.key == key; });
        if (m.real.host == device.point.host && is_timed(m.outcome) && !is_known) refused.insert(key);
    }
    if (refused.empty()) return;
    std::cerr << "joulecast: no factor is taken from the networks on " << device.device.id << " ("
              << joined(std::vector(refused.begin(), refused.end())) << "): the machine's pace ranged over "
              << show(rows.pace_range - 1, Show::percent)
              << " while they and their operations were measured. They count as never measured. Measure again while "
                 "nothing else runs: joulecast doctor\n";
}

/// "core clocks 510 to 1410 MHz; "
std::string clocks_text(const DeviceModel& device) {
    if (!device.over_clocks) return "";
    const auto& trained = device.over_clocks->trained;
    const auto [low, high] = std::ranges::minmax(trained, {}, &TrainedClock::sm_clock_mhz);
    return "measured at core clocks from " + show(low.sm_clock_mhz, Show::number) + " to " +
           show(high.sm_clock_mhz, Show::number) + " MHz; ";
}

/// "; fusion of fp32 by the kernels of 17 networks (onnxruntime 1.32.0)".
std::string fusion_text(const FusionModel& fusion) {
    return "; fusion of " + fusion.precision + " by the kernels of " + std::to_string(fusion.networks) +
           (fusion.networks == 1 ? " network (" : " networks (") + fusion.framework + ")";
}

std::string no_networks_text(const DeviceModel& device) {
    return device.published ? "no measured networks, so the error of sums of operations is unknown"
                            : "no measured networks, so network times are not corrected";
}

/// "h200 (tf32): 84 operations are kept. Operations left out are 14 % off by a model over other devices adjusted to the
/// rest, 31 % by models of its own".
std::string kept_text(const KeptDevice& kept) {
    std::string text =
        kept.device.id + " (" + std::string(name(kept.point.math)) + "): " + std::to_string(kept.operations.size()) +
        " operations are kept. Operations left out are " + show(kept.left_out.from_others, Show::percent) +
        " off by a model over other devices adjusted to the rest, " + show(kept.left_out.of_own, Show::percent) +
        " by models of its own";
    if (kept.left_out_by_work)
        text += "; smaller or larger ones than the rest " + show(kept.left_out_by_work->from_others, Show::percent) +
                " and " + show(kept.left_out_by_work->of_own, Show::percent);
    return text;
}

std::string to_text(const Predictor& predictor, const std::string& path, std::uintmax_t bytes) {
    std::string text = path + ": " + show(static_cast<double>(bytes), Show::bytes) + ", from " +
                       std::to_string(predictor.origin.rows) + " rows\n";
    const Table models = trained_models(predictor);
    if (!models.rows.empty()) text += "\n" + joulecast::to_text(models);
    if (method_name(predictor) != "joulecast")
        text += "\nmethod " + description(predictor.devices.front().published->method) +
                ": a network is the sum of its operations, without corrections\n";
    for (const DeviceModel& device : predictor.devices) {
        text += "\n" + device.device.id + " (" + std::string(name(device.point.math)) + ", " +
                threads_text(device.point.threads) + (is_torch(device.point.engine) ? "" : ", " + device.point.engine) +
                "): ";
        text += clocks_text(device);
        text +=
            device.networks == 0 ? no_networks_text(device) : std::to_string(device.networks) + " measured networks";
        for (const NetworkCorrection& correction : device.corrections) {
            text += "; " + correction.key + " x " + show(correction.factor, Show::number);
        }
        for (const FusionModel& fusion : device.fusions) text += fusion_text(fusion);
        for (const HostExtra& extra : device.hosts) text += "; " + host_text(extra);
        text += '\n';
    }
    for (const KeptDevice& kept : predictor.kept) text += "\n" + kept_text(kept) + "\n";
    for (const PooledModel& pooled : predictor.pooled) {
        text += "\nover devices (" + std::string(name(pooled.point.math)) +
                "), for others of their kind: " + joined(pooled.devices) + "\n";
    }
    return text;
}

/// What was metered on a device, in operations and networks.
void append_power_samples(const DeviceModel& device, const MeasuredRows& rows,
                          std::vector<KernelPowerSample>& samples) {
    const auto of_rows = power_samples(device, rows.operations);
    samples.insert(samples.end(), of_rows.begin(), of_rows.end());
    for (const TrainingNetwork& network : rows.networks) {
        if (const auto sample = power_sample(device, all_columns(), network)) samples.push_back(*sample);
    }
}

struct TrainOptions {
    std::string database;
    std::string predictor;
    std::vector<std::string> devices;
    std::string method = "joulecast";
    std::string learner = "auto";
    bool pooled_only = false;
    std::string outliers = "keep";
    StartOption start;
    std::string what_next;
    WhatNextWish wish;
    Output output;
};

/// A row that was left out of the training.
struct Dropped {
    std::string device;
    std::string math;
    std::string operation;
    double time_s = 0;
    double score = 0;
};

const std::vector<Column<Dropped>>& dropped_columns() {
    static const std::vector<Column<Dropped>> list = {
        {"device", "device", Show::text, [](const Dropped& d) { return d.device; }},
        {"math", "math", Show::text, [](const Dropped& d) { return d.math; }},
        {"operation", "operation", Show::text, [](const Dropped& d) { return d.operation; }},
        {"time_s", "time", Show::seconds, [](const Dropped& d) { return d.time_s; }},
        {"score", "score", Show::number, [](const Dropped& d) { return d.score; }},
    };
    return list;
}

void drop_outliers(MeasuredRows& rows, std::vector<Dropped>& dropped) {
    const auto outliers = find_outliers(frame_of(rows.device, rows.setting), rows.operations, {});
    std::cerr << "left out " << outliers.size() << " of " << rows.operations.size() << " operations as outliers\n";
    for (const Outlier& outlier : outliers) {
        const TrainingRow& row = rows.operations[outlier.row];
        dropped.push_back(
            {rows.device.id, std::string(name(rows.setting.math)), row.operation.signature, row.time_s, outlier.score});
    }
    rows.operations = without(rows.operations, outliers);
}

/// The one device and setting that a plan can be made for.
const MeasuredRows& planned_rows(const std::vector<MeasuredRows>& measured) {
    for (const MeasuredRows& rows : measured) {
        if (rows.device.id != measured.front().device.id)
            throw UsageError("--what-next plans for one device: name it with --device");
    }
    if (measured.size() > 1)
        std::cerr << "--what-next plans for " << name(measured.front().setting.math) << " math, host "
                  << name(measured.front().setting.host) << ", " << threads_text(measured.front().setting.threads)
                  << ": the setting with most rows\n";
    return measured.front();
}

/// "p.jcp" -> "p.plan"
std::string plan_beside(const std::string& predictor) {
    return predictor.substr(0, predictor.size() - std::string(".jcp").size()) + ".plan";
}

/// A published method has its own learners and knows no other devices.
void check_method(const TrainOptions& options) {
    if (options.method == "joulecast") return;
    const auto refuse = [&](const std::string& option) {
        throw UsageError("--method " + options.method + " has no " + option + ". Leave it out");
    };
    if (options.learner != "auto") refuse("--learner: the method has its own");
    if (options.pooled_only) refuse("--pooled-only: it has no model for other devices");
    if (!options.what_next.empty()) refuse("--what-next, which plans for joulecast's own models");
}

WhatNextWish wish(const TrainOptions& options) {
    WhatNextWish wish = options.wish;
    if (options.what_next.empty()) {
        if (!wish.plan.empty() || !wish.models.empty() || !wish.set.empty())
            throw UsageError("--plan, --for and --set need --what-next");
        return wish;
    }
    wish.budget_s = parse_duration(options.what_next);
    if (wish.plan.empty()) wish.plan = plan_beside(options.predictor);
    if (!wish.plan.ends_with(".plan")) throw UsageError("the name of a plan ends with .plan: --plan NAME.plan");
    return wish;
}

/// One model over devices for each kind and math of which at least two devices were measured.
void train_over_devices(const std::vector<DeviceRows>& devices, const TrainSettings& settings, Predictor& predictor) {
    using Kind = std::pair<Device::Kind, Math>;
    std::map<Kind, std::vector<const DeviceRows*>> kinds;
    std::map<Kind, std::set<std::string>> ids, engines;
    for (const DeviceRows& rows : devices) {
        const Kind kind(rows.device.kind, rows.setting.math);
        kinds[kind].push_back(&rows);
        ids[kind].insert(rows.device.id);
        engines[kind].insert(rows.setting.engine);
    }
    for (const auto& [kind, parts] : kinds) {
        const auto is_of_kind = [&](const KeptDevice& kept) { return kept.device.kind == kind.first; };
        // Devices that start from models over others bring these along.
        if (ids[kind].size() < 2 || std::ranges::any_of(predictor.kept, is_of_kind)) continue;
        std::cerr << "training a model over " << ids[kind].size() << " devices (" << name(kind.second);
        if (engines[kind].size() > 1)
            std::cerr << ", kernels of " << joined(std::vector(engines[kind].begin(), engines[kind].end()))
                      << " together";
        std::cerr << ")\n";
        predictor.pooled.push_back(train_pooled(parts, settings));
    }
}

/// Without operations a device's calls are forecast by its data sheet, and moved to other clocks by what its workloads
/// tell.
void add_swept(const std::vector<SweptDevice>& swept, Predictor& predictor, std::vector<OperationRow>& sources) {
    for (const SweptDevice& sweep : swept) {
        std::cerr << "joulecast: " << sweep.device.id
                  << " has no measured operations: its calls are forecast from its data sheet, other clocks from "
                  << sweep.clocks.workloads << " workloads measured at several clocks\n";
        DeviceModel& device = predictor.devices.emplace_back(frame_of(sweep.device, sweep.setting));
        device.clocks = sweep.clocks;
        sources.insert(sources.end(), sweep.sources.begin(), sweep.sources.end());
    }
}

Predictor trained(const Dataset& dataset, std::vector<MeasuredRows> measured, const std::vector<SweptDevice>& swept,
                  TrainOptions& options, const TrainSettings& settings) {
    const bool pooled_only = options.pooled_only;
    Predictor predictor = empty_predictor();
    if (!pooled_only) predictor.kept = options.start.kept_devices(measured, settings);
    const auto is_kept = [&](const MeasuredRows& rows) {
        return std::ranges::find(predictor.kept, rows.device.id, [](const KeptDevice& k) { return k.device.id; }) !=
               predictor.kept.end();
    };
    std::vector<OperationRow> sources;
    std::vector<KernelPowerSample> samples;
    std::vector<DeviceRows> of_devices;
    for (MeasuredRows& rows : measured) {
        if (!pooled_only && !is_kept(rows)) {
            std::cerr << "training for " << rows.device.id << " (" << name(rows.setting.math)
                      << "): " << rows.operations.size() << " operations, " << rows.networks.size() << " networks\n";
            tell_samples(rows, candidates(settings));
            TrainSettings of_rows = settings;
            of_rows.drifted = rows.drifted();
            DeviceModel& device = predictor.devices.emplace_back(
                train_device(rows.device, rows.setting, rows.operations, rows.networks, of_rows));
            device.pace_reference = rows.pace_reference;
            if (const std::string left = rows_left_out(device, rows.operations); !left.empty())
                std::cerr << "joulecast: " << left << '\n';
            tell_corrections(device, rows);
            if (of_rows.drifted) tell_refused(device, rows);
            if (!device.over_clocks) device.clocks = measured_clocks(dataset, rows.device);
            append_power_samples(device, rows, samples);
        }
        std::move(rows.rows.begin(), rows.rows.end(), std::back_inserter(sources));
        of_devices.push_back({rows.device, rows.setting, std::move(rows.operations)});
    }
    if (!pooled_only) add_swept(swept, predictor, sources);
    const PhysicalPower power = physical_power_from(samples);
    for (DeviceModel& device : predictor.devices) device.physical_power = power;
    train_over_devices(of_devices, settings, predictor);
    if (predictor.devices.empty() && predictor.pooled.empty() && predictor.kept.empty())
        throw Error("a model for other devices needs operations of two or more devices of one kind and math.");
    predictor.origin = origin_of(sources, "joulecast " JOULECAST_VERSION, utc_second_stamp(utc_now_s()));
    predictor.origin.seed = settings.seed;
    if (!predictor.kept.empty()) options.start.add_to(predictor);
    return predictor;
}

/// What the training answers with.
struct Trained {
    Predictor predictor;
    std::uintmax_t bytes = 0;  ///< of its file
    std::vector<Dropped> dropped;
    std::optional<NextPlan> next;
};

std::string answer(const Trained& result, const TrainOptions& options, const WhatNextWish& wanted) {
    if (options.output.format == "json") {
        auto json = to_json(result.predictor, options.predictor, result.bytes);
        json["outliers"] = rows_json(fill(dropped_columns(), result.dropped));
        if (result.next) json["what_next"] = to_json(*result.next, wanted);
        return printed(json);
    }
    if (options.output.format == "csv")
        return result.next ? to_csv(*result.next) : joulecast::to_csv(trained_models(result.predictor));
    std::string text = to_text(result.predictor, options.predictor, result.bytes);
    if (!result.dropped.empty())
        text += "\nleft out as outliers:\n\n" + joulecast::to_text(fill(dropped_columns(), result.dropped));
    if (result.next) text += to_text(*result.next, wanted);
    return text;
}

int run_train(TrainOptions& options) {
    if (!options.predictor.ends_with(".jcp")) throw UsageError("the name of a predictor ends with .jcp: -o NAME.jcp");
    check_method(options);
    const WhatNextWish wanted = wish(options);
    const Dataset dataset(options.database, Dataset::Access::read_only);
    TrainSettings settings;
    settings.learner = parse_learner(options.learner);
    Trained result;
    std::vector<std::string> devices = options.devices;
    const std::vector<SweptDevice> swept = swept_devices(dataset, devices);
    const bool has_rows = swept.empty() || (options.devices.empty() ? dataset.has_operations() : !devices.empty());
    std::vector<MeasuredRows> measured;
    if (has_rows) measured = measured_rows(dataset, devices);
    if (!has_rows && !options.what_next.empty())
        throw UsageError(
            "--what-next plans operations, and the database has none: measure some with joulecast profile");
    if (!has_rows && parse_published_method(options.method))
        throw UsageError("--method " + options.method +
                         " learns from operations, and the database has none: measure some with joulecast profile");
    for (MeasuredRows& rows : measured) {
        if (options.outliers == "drop") drop_outliers(rows, result.dropped);
    }
    std::optional<MeasuredRows> planned;  // the training keeps no rows
    if (!options.what_next.empty()) planned = planned_rows(measured);
    if (const auto method = parse_published_method(options.method)) {
        result.predictor = train_method(*method, measured, settings);
    } else {
        result.predictor = trained(dataset, std::move(measured), swept, options, settings);
    }
    write_jcp(result.predictor, options.predictor);
    result.bytes = std::filesystem::file_size(options.predictor);
    if (planned) {
        result.next = next_plan(*planned, wanted);
        write_plan(*result.next, *planned, wanted.plan);
    }
    options.output.write(answer(result, options, wanted));
    return done;
}

}  // namespace

Run declare_train(CLI::App& command) {
    const auto options = std::make_shared<TrainOptions>();
    command.option_defaults()->group("Input and output");
    command.add_option("--db", options->database, "database of measurements")->type_name("FILE.db")->required();
    command.add_option("-o,--predictor", options->predictor, "predictor to write")->type_name("FILE.jcp")->required();
    command.add_option("--device", options->devices, "ids of devices (default: every device of the database)")
        ->type_name("ID...");
    command.add_option("--format", options->output.format, "form of the summary")
        ->check(CLI::IsMember({"table", "json", "csv"}))
        ->capture_default_str();
    command.option_defaults()->group("Model");
    command.add_option("--method", options->method, "joulecast's method or that of a paper")
        ->check(CLI::IsMember({"joulecast", "thesis", "sponner"}))
        ->capture_default_str();
    command.add_option("--learner", options->learner, "auto compares learners by grouped cross-validation, per family")
        ->check(CLI::IsMember(learner_words()))
        ->capture_default_str();
    options->start.declare(command);
    command.add_flag("--pooled-only", options->pooled_only,
                     "train only the model for devices that were never measured");
    command.add_option("--outliers", options->outliers, "drop leaves out what an isolation forest finds odd")
        ->check(CLI::IsMember({"keep", "drop"}))
        ->capture_default_str();
    command.option_defaults()->group("What to measure next");
    command.add_option("--what-next", options->what_next, "plan what to measure next within this time: 150s, 10m, 2h")
        ->type_name("TIME");
    command.add_option("--plan", options->wish.plan, "plan to write (default: NAME.plan)")->type_name("FILE.plan");
    command.add_option("--for", options->wish.models, "networks that matter (default: the zoo)")->type_name("MODEL...");
    command.add_option("--set", options->wish.set, "sizes of these networks, such as batch=1,8 (default: as measured)")
        ->type_name("SYMBOL=N,...")
        ->allow_extra_args(false);
    return [options] { return run_train(*options); };
}

}  // namespace joulecast::cli
