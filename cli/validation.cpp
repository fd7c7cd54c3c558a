#include "cli/validation.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <optional>
#include <utility>

#include "cli/measured_rows.h"
#include "cli/validate_clocks.h"
#include "cli/validation_output.h"
#include "joulecast/answer/choose_predictor.h"
#include "joulecast/error.h"
#include "joulecast/evaluate/device_choice.h"
#include "joulecast/evaluate/leave_device_out.h"
#include "joulecast/model/jcp.h"
#include "joulecast/train/rows_over_clocks.h"

namespace joulecast::cli {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T> from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
}

/// Scores a predictor file as it is, on everything measured on its devices.
void score(const Predictor& predictor, const MeasuredRows& rows, Validated& v) {
    const auto features = columns(predictor);
    const DeviceModel& model = device_model(predictor, rows.device.id, rows.setting);
    append(v.rows, score_predictor(model, features, rows.operations));
    auto scored = score_networks(model, features, rows.networks, rows.measured);
    append(v.networks, std::move(scored.networks));
    append(v.compositions, std::move(scored.compositions));
    append(v.ratios, std::move(scored.ratios));
    v.pace_range = std::fmax(v.pace_range, rows.pace_range);
}

void cross_validate(ValidationOptions& options, const MeasuredRows& rows, Validated& v) {
    ValidationSettings settings = options.settings;
    settings.folds = options.folds;
    settings.training.drifted = rows.drifted();
    settings.training.others = options.start.models_for(rows);
    settings.grouped = options.split != "random";
    std::vector<Learner> named;
    for (const auto& learner : settings.learners) {
        if (learner) named.push_back(*learner);
    }
    tell_samples(rows, named);
    settings.progress = [](std::size_t done, std::size_t folds) {
        std::cerr << "validated " << done << " of " << folds << " parts\n";
    };
    settings.dropped = [&v](std::size_t dropped, std::size_t training_rows) {
        std::cerr << "dropped " << dropped << " of " << training_rows << " training rows as outliers\n";
        v.dropped += dropped;
        v.training_rows += training_rows;
    };
    if (options.split != "network") {
        v.network_methods = settings.network_baselines;
        append(v.rows, validate_operations(rows.device, rows.setting, rows.operations, settings));
        return;
    }
    if (rows.networks.empty()) {
        throw Error("the database has no measured networks of " + rows.device.id +
                    ". Measure some with: joulecast profile MODEL... --networks");
    }
    auto validation =
        validate_networks(rows.device, rows.setting, rows.operations, rows.networks, rows.measured, settings);
    append(v.rows, std::move(validation.operations));
    append(v.networks, std::move(validation.networks));
    append(v.baselines, std::move(validation.baselines));
    append(v.compositions, std::move(validation.compositions));
    append(v.ratios, std::move(validation.ratios));
}

void leave_devices_out(const ValidationOptions& options, std::vector<MeasuredRows> measured, Validated& v) {
    ValidationSettings settings = options.settings;
    for (const auto& learner : settings.learners) settings.training.learner = learner;
    v.network_methods = settings.network_baselines;
    settings.progress = [](std::size_t done, std::size_t folds) {
        std::cerr << "validated " << done << " of " << folds << " devices\n";
    };
    std::vector<MeasuredDevice> devices;
    for (MeasuredRows& rows : measured) {
        devices.push_back({{rows.device, rows.setting, std::move(rows.operations)},
                           std::move(rows.networks),
                           std::move(rows.measured)});
        rows.rows = {};
    }
    auto validation = validate_devices(devices, settings, options.probes);
    append(v.rows, std::move(validation.operations));
    append(v.networks, std::move(validation.networks));
    append(v.baselines, std::move(validation.baselines));
    append(v.compositions, std::move(validation.compositions));
    std::vector<Device> sheets;
    for (const MeasuredDevice& device : devices) sheets.push_back(device.rows.device);
    v.device_regrets = device_regrets(v.networks, sheets);
}

bool is_asked(const ValidationOptions& options, const std::string& id) {
    return options.devices.empty() || std::ranges::find(options.devices, id) != options.devices.end();
}

/// The file has no model of the device, but one over other devices of its kind.
bool is_unseen(const Predictor& predictor, const Device& device) {
    const bool is_kind = std::ranges::find(predictor.pooled, device.kind, &PooledModel::kind) != predictor.pooled.end();
    return is_kind && settings_of(predictor, device.id).empty();
}

/// Those asked for, or all, that the file has a model of.
std::vector<std::string> devices_of_its_own(const ValidationOptions& options, const Dataset& dataset,
                                            const Predictor& predictor) {
    std::vector<std::string> own;
    if (options.devices.empty()) {
        for (const Device& device : dataset.devices()) {
            const bool is_measured = dataset.has_operations(device.id) || !dataset.networks(device.id).empty();
            if (is_measured && !settings_of(predictor, device.id).empty()) own.push_back(device.id);
        }
        return own;
    }
    for (const std::string& id : options.devices) {
        const bool is_left = std::ranges::any_of(
            dataset.devices(), [&](const Device& device) { return device.id == id && is_unseen(predictor, device); });
        if (!is_left) own.push_back(id);
    }
    return own;
}

/// Math, engine, host and threads that whole networks were measured with.
std::vector<OperatingPoint> settings_of_networks(const Dataset& dataset, const std::string& device) {
    std::vector<OperatingPoint> settings;
    for (const NetworkRow& row : dataset.networks(device)) {
        const OperatingPoint& real = row.measurement.real;
        const auto is_like = [&](const OperatingPoint& known) { return same_setting(known, real); };
        if (std::ranges::none_of(settings, is_like)) settings.push_back(real);
    }
    return settings;
}

/// A GPU that the file has no model of is scored as `predict` forecasts it: by its model over other devices.
void score_unseen(const ValidationOptions& options, const Dataset& dataset, const Predictor& predictor, Validated& v) {
    const std::vector<Device> stored = dataset.devices();
    for (const Device& device : stored) {
        if (!is_asked(options, device.id) || !is_unseen(predictor, device)) continue;
        const bool has_operations = dataset.has_operations(device.id);
        if (!has_operations && dataset.networks(device.id).empty()) continue;
        const ChosenPredictor chosen = choose_predictor(device.id, {options.predictor, nullptr}, stored);
        tell(device.id + " has no model of its own in " + options.predictor +
             ": scored with the model for other devices");
        const SettingsOf of_networks = [&](const std::string& id) { return settings_of_networks(dataset, id); };
        for (const MeasuredRows& rows : measured_rows(dataset, {device.id}, has_operations ? nullptr : of_networks)) {
            // A model over devices is of no engine by itself.
            const DeviceModel* model =
                chosen.model_with(rows.setting.math, rows.setting.host, chosen.engines().front());
            if (!model) continue;
            const auto features = columns(chosen.predictor);
            append(v.rows, score_predictor(*model, features, rows.operations));
            append(v.networks, score_networks(*model, features, rows.networks, rows.measured).networks);
        }
    }
}

/// By the trainer that `train` uses, on devices whose operations were measured at several clocks; returns these.
std::vector<std::string> leave_clocks_out(const ValidationOptions& options, const Dataset& dataset, Validated& v) {
    std::vector<std::string> done;
    if (!dataset.has_operations()) return done;
    ValidationSettings settings;
    settings.progress = [](std::size_t at, std::size_t folds) {
        std::cerr << "left out " << at << " of " << folds << " clocks\n";
    };
    for (const MeasuredRows& rows : measured_rows(dataset, options.devices)) {
        if (!differ_in_clocks(rows.device, rows.operations)) continue;
        auto validation = joulecast::leave_clocks_out(rows.device, rows.setting, rows.operations, rows.networks,
                                                      rows.measured, settings);
        append(v.rows, std::move(validation.operations));
        append(v.networks, std::move(validation.networks));
        done.push_back(rows.device.id);
    }
    return done;
}

}  // namespace

void declare(CLI::App& command, ValidationOptions& options) {
    command.option_defaults()->group("Input");
    command.add_option("--db", options.database, "database of measurements")->type_name("FILE.db")->required();
    auto* predictor = command.add_option("--predictor", options.predictor, "score this predictor as it is");
    predictor->type_name("FILE.jcp");
    command
        .add_option("--pace-of", options.pace_of,
                    "with --predictor: scale times to the pace of the machine in this database")
        ->type_name("FILE.db")
        ->needs(predictor);
    command.add_option("--device", options.devices, "ids of devices (default: every device of the database)")
        ->type_name("ID...");
    command.option_defaults()->group("Held-out test");
    command.add_option("--split", options.split, "what is held out; random holds out rows and leaks")
        ->check(CLI::IsMember({"operation", "network", "device", "clock", "random"}))
        ->capture_default_str()
        ->excludes(predictor);
    options.folds_given = command.add_option("--folds", options.folds, "parts to split the operations into")
                              ->check(CLI::Range(2, 100))
                              ->capture_default_str()
                              ->excludes(predictor);
    command
        .add_option("--probes", options.probes,
                    "--split device: measured operations that the model may use of the held-out device")
        ->check(CLI::Range(0, 1000))
        ->excludes(predictor);
    options.start.declare(command);
    command.option_defaults()->group("Output");
    command.add_option("--predictions", options.predictions, "write every held-out forecast to this file")
        ->type_name("FILE.csv");
    options.output.declare(command);
}

int validate(ValidationOptions& options) {
    const Dataset dataset(options.database, Dataset::Access::read_only);
    Validated v;
    v.split = options.predictor.empty() ? options.split : "none";
    v.drops_outliers = options.settings.drop_outliers;
    if (options.split == "device" && options.folds_given->count() > 0)
        tell("--split device has no --folds: each device is left out in turn");
    if (options.probes > 0 && options.split != "device") throw UsageError("--probes needs --split device");
    if (options.predictor.empty() && options.split == "clock") {
        const std::vector<std::string> done = leave_clocks_out(options, dataset, v);
        std::vector<std::string> others;
        for (const Device& device : dataset.devices()) {
            const bool is_done = std::ranges::find(done, device.id) != done.end();
            if (is_asked(options, device.id) && !is_done && !dataset.networks(device.id).empty())
                others.push_back(device.id);
        }
        if (done.empty()) others = options.devices;
        if (done.empty() || !others.empty()) {
            v.clocks = clock_validation(dataset, others, options.folds);
            append(v.rows, out_of_fold_rows(v.clocks.networks));
        }
    } else if (options.predictor.empty() && options.split == "device") {
        leave_devices_out(options, measured_rows(dataset, options.devices), v);
    } else if (options.predictor.empty()) {
        for (const MeasuredRows& rows : measured_rows(dataset, options.devices)) cross_validate(options, rows, v);
    } else {
        const Predictor predictor = read_jcp(options.predictor);
        std::optional<Dataset> paced_by;
        if (!options.pace_of.empty()) paced_by.emplace(options.pace_of, Dataset::Access::read_only);
        const auto known_settings = [&](const std::string& device) { return settings_of(predictor, device); };
        score_unseen(options, dataset, predictor, v);
        const std::vector<std::string> own = devices_of_its_own(options, dataset, predictor);
        // Where all were scored, what is left has nothing to be scored by.
        if (!own.empty() || (v.rows.empty() && v.networks.empty())) {
            for (const MeasuredRows& rows : measured_rows(dataset, own.empty() ? options.devices : own, known_settings,
                                                          paced_by ? &*paced_by : nullptr))
                score(predictor, rows, v);
        }
    }
    if (!options.predictions.empty()) write_predictions(options.predictions, v.rows);
    if (options.output.format == "json") {
        options.output.write(to_json(v));
    } else if (options.output.format == "csv") {
        options.output.write(to_csv(v));
    } else {
        options.output.write(to_text(v));
    }
    return done;
}

}  // namespace joulecast::cli
