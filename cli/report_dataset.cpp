#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <utility>

#include "cli/measured_rows.h"
#include "cli/report_pages.h"
#include "cli/settings.h"
#include "cli/start_option.h"
#include "joulecast/error.h"
#include "joulecast/evaluate/cross_validate.h"
#include "joulecast/evaluate/network_curves.h"
#include "joulecast/evaluate/published_baselines.h"
#include "joulecast/graph/graph.h"
#include "joulecast/learn/learner.h"
#include "joulecast/model/jcp.h"
#include "joulecast/report/dataset_chapters.h"

namespace joulecast::cli {
namespace {

// A page shows how good forecasts are to two digits, and trains for each part: intervals from three folds, not five,
// and forests of half the trees change the errors less than another choice of folds does, in a third of the time.
constexpr std::size_t folds_of_intervals = 3;
constexpr std::size_t trees_of_forests = 20;

ValidationSettings validation_settings(const ReportOptions& options, const MeasuredRows& rows, bool baselines,
                                       const std::string& what) {
    ValidationSettings settings;
    settings.training.drifted = rows.drifted();
    settings.folds = options.folds;
    if (const auto learner = parse_learner(options.learner)) settings.training.learner = learner;
    // As `train` does, unless a learner is named.
    if (options.learner == ReportOptions().learner) settings.training.others = StartOption().models_for(rows);
    // Those of the thesis, beside ours in its tables; joulecast-lab validate --baselines has all.
    settings.training.folds = folds_of_intervals;
    settings.training.trees = trees_of_forests;
    if (baselines) settings.baselines = {&thesis_forest, &thesis_xgboost};
    settings.progress = [what](std::size_t finished, std::size_t folds) {
        std::cerr << "validated " << finished << " of " << folds << " parts of " << what << '\n';
    };
    return settings;
}

bool asks_for(const ReportOptions& options, const std::string& split) {
    for (const std::string& asked : options.splits) {
        if (asked == split) return true;
    }
    return false;
}

template <class T>
void append(std::vector<T>& to, std::vector<T> from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
}

/// How often the networks on the command line call each operation, at their sizes, in every mode asked for.
std::map<std::string, std::int64_t> calls_of_models(const ReportOptions& options) {
    std::map<std::string, std::int64_t> calls;
    for (const std::string& model : options.models) {
        visit_graphs(model, options.settings.sizes(), options.settings.modes, [&](Graph graph, Mode mode) {
            for (const CountedOperation& counted : count_operations(in_mode(std::move(graph), mode)))
                calls[signature(counted.operation)] += counted.count;
        });
    }
    return calls;
}

/// Holds operations out, and finds those that are slow.
ReportedSetting reported(const ReportOptions& options, MeasuredRows rows, bool baselines, const SlowSettings& slow,
                         ReportedDataset& dataset) {
    const std::string what = rows.device.id + ", " + std::string(name(rows.setting.math));
    auto held_out = validate_operations(rows.device, rows.setting, rows.operations,
                                        validation_settings(options, rows, baselines, what));
    ReportedSetting setting{rows.device, rows.setting, std::move(rows.operations), std::move(rows.networks), {}, {}};
    setting.sums = summed_networks(setting.networks, rows.measured);
    setting.slow = slow_operations(held_out, setting.operations, setting.device, setting.setting.math, slow);
    append(dataset.held_out, std::move(held_out));
    return setting;
}

/// Leaves each network out; a setting without networks, or whose networks call all that was measured, is named.
void leave_networks_out(const ReportOptions& options, const MeasuredRows& rows, ReportedDataset& dataset) {
    if (rows.networks.empty()) {
        dataset.left_out_reason += "No network whose calls are known was measured on " + rows.device.id + ". ";
        return;
    }
    const std::string what = rows.device.id + ", networks";
    try {
        NetworkValidation validation =
            validate_networks(rows.device, rows.setting, rows.operations, rows.networks, rows.measured,
                              validation_settings(options, rows, false, what));
        append(dataset.networks, std::move(validation.networks));
        if (options.predictor.empty()) append(dataset.curves, std::move(validation.curves));
    } catch (const Error& error) {
        dataset.left_out_reason += "Networks of " + rows.device.id + " were not left out: " + error.what() + " ";
    }
}

ReportedDataset dataset_of(const ReportOptions& options, const Dataset& database) {
    ReportedDataset reported;
    reported.file = std::filesystem::path(options.database).filename().string();
    reported.folds = options.folds;
    reported.groups = database.row_groups();
    if (reported.groups.empty())
        throw Error(options.database +
                    " holds no measurements, so there is nothing to report. Measure some (joulecast "
                    "profile) or import some (joulecast import)");
    return reported;
}

/// Devices asked for, or all, that the predictor covers and the database has networks of.
std::vector<std::string> devices_of(const ReportOptions& options, const Dataset& database, const Predictor& predictor) {
    std::vector<std::string> devices;
    for (const Device& device : database.devices()) {
        const bool is_asked =
            options.devices.empty() || std::ranges::find(options.devices, device.id) != options.devices.end();
        if (is_asked && !settings_of(predictor, device.id).empty() && !database.networks(device.id).empty())
            devices.push_back(device.id);
    }
    if (devices.empty())
        throw Error(options.predictor + " covers no device whose networks " + options.database +
                    " has: leave --predictor out, or name the one that was trained for the device");
    return devices;
}

/// The predictor's curves of the database's networks, whatever it was trained on.
void add_curves_of_predictor(const ReportOptions& options, const Dataset& database, ReportedDataset& dataset) {
    const Predictor predictor = read_jcp(options.predictor);
    const auto features = columns(predictor);
    const auto known_settings = [&](const std::string& device) { return settings_of(predictor, device); };
    for (const MeasuredRows& rows : measured_rows(database, devices_of(options, database, predictor), known_settings)) {
        const DeviceModel& model = device_model(predictor, rows.device.id, rows.setting);
        const MeasuredOperations none;
        ForecastCache known(model, features, none);
        append(dataset.curves, network_curves(known, rows.networks));
    }
}

/// Holds operations and networks of each device out.
void hold_out(const ReportOptions& options, const Dataset& database, ReportedDataset& dataset) {
    for (MeasuredRows& rows : measured_rows(database, options.devices)) {
        if (asks_for(options, "network")) leave_networks_out(options, rows, dataset);
        if (asks_for(options, "operation"))
            dataset.settings.push_back(reported(options, std::move(rows), options.published, {}, dataset));
    }
}

}  // namespace

Page report_dataset(const ReportOptions& options) {
    const Dataset database(options.database, Dataset::Access::read_only);
    ReportedDataset dataset = dataset_of(options, database);
    dataset.network_rows = database.networks();
    dataset.curves_are = options.predictor.empty()
                             ? "Each network is forecast without its operations and without its own measurements."
                             : "Forecast by " + std::filesystem::path(options.predictor).filename().string() +
                                   " as it is: it may have been trained on these networks.";
    if (!options.predictor.empty()) add_curves_of_predictor(options, database, dataset);
    const bool has_operations = database.has_operations();
    // Of networks alone there is nothing to train on; a predictor draws them all the same.
    if (has_operations || options.predictor.empty()) hold_out(options, database, dataset);
    if (!has_operations) dataset.left_out_reason = "Networks were not left out: the database has no operations.";
    if (!asks_for(options, "network")) dataset.left_out_reason = "Networks were not left out: --split asks for none.";
    return dataset_page(dataset);
}

OutlierReport report_outliers(const ReportOptions& options) {
    const Dataset database(options.database, Dataset::Access::read_only);
    ReportedDataset dataset = dataset_of(options, database);
    SlowSettings slow;
    slow.calls = calls_of_models(options);
    for (MeasuredRows& rows : measured_rows(database, options.devices))
        dataset.settings.push_back(reported(options, std::move(rows), false, slow, dataset));
    OutlierReport report;
    std::vector<SlowOperation> operations;
    for (const ReportedSetting& setting : dataset.settings)
        operations.insert(operations.end(), setting.slow.begin(), setting.slow.end());
    std::ranges::stable_sort(operations,
                             [](const SlowOperation& a, const SlowOperation& b) { return a.lost_s() > b.lost_s(); });
    report.table = fill(slow_operation_columns(), operations);
    report.page = outliers_page(dataset);
    return report;
}

}  // namespace joulecast::cli
