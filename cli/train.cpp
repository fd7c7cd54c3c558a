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

#include "cli/json_tree.h"
#include "cli/measured_rows.h"
#include "cli/settings.h"
#include "cli/start_option.h"
#include "cli/train_method.h"
#include "cli/trained_models.h"
#include "cli/training_output.h"
#include "cli/verb.h"
#include "cli/what_next.h"
#include "joulecast/answer/clock_calibration.h"
#include "joulecast/device/threads_text.h"
#include "joulecast/error.h"
#include "joulecast/forecast/published/method.h"
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
        auto json = training_to_json(result.predictor, options.predictor, result.bytes);
        json["outliers"] = rows_json(fill(dropped_columns(), result.dropped));
        if (result.next) json["what_next"] = to_json(*result.next, wanted);
        return printed(json);
    }
    if (options.output.format == "csv")
        return result.next ? to_csv(*result.next) : joulecast::to_csv(trained_models(result.predictor));
    std::string text = training_to_text(result.predictor, options.predictor, result.bytes);
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
