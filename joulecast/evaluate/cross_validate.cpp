#include "joulecast/evaluate/cross_validate.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/evaluate/baseline_rows.h"
#include "joulecast/learn/folds.h"
#include "joulecast/predict/forecast_network.h"

namespace joulecast {
namespace {

struct Variant {
    std::string name;
    std::optional<Learner> learner;
};

std::vector<Variant> variants(const ValidationSettings& settings) {
    std::vector<Variant> all;
    for (const auto& learner : settings.learners)
        all.push_back({learner ? std::string(name(*learner)) : "joulecast", learner});
    if (all.empty()) all.push_back({"joulecast", std::nullopt});
    return all;
}

OutOfFoldRow blank(const TrainingRow& row, const std::string& device, std::string model, std::size_t fold) {
    OutOfFoldRow result;
    result.model = std::move(model);
    result.metric = name(Metric::time);
    result.family = name(row.operation.family());
    result.device = device;
    result.fold = fold;
    result.group = row.group;
    result.measured = row.time_s;
    return result;
}

/// Forecasts of one row: its time, and its memory where that was measured and learned.
void forecast_row(const DeviceModel& device, std::span<const Feature* const> columns, const TrainingRow& row,
                  const std::string& model, std::size_t fold, std::vector<OutOfFoldRow>& out) {
    const auto forecast = forecast_operation(device, columns, row.operation, {});
    OutOfFoldRow time = blank(row, device.device.id, model, fold);
    time.predicted = forecast.cost.device_time.value.value();
    time.low = forecast.cost.device_time.low.value();
    time.high = forecast.cost.device_time.high.value();
    out.push_back(time);
    if (!std::isfinite(row.peak_memory_bytes) || !forecast.cost.peak_memory.known()) return;
    OutOfFoldRow memory = blank(row, device.device.id, model, fold);
    memory.metric = name(Metric::peak_memory);
    memory.measured = row.peak_memory_bytes;
    memory.predicted = forecast.cost.peak_memory.value.value();
    memory.low = forecast.cost.peak_memory.low.value();
    memory.high = forecast.cost.peak_memory.high.value();
    out.push_back(memory);
}

struct Parts {
    std::vector<TrainingRow> training;
    std::vector<const TrainingRow*> test;
};

RowOnDevice on_device(const TrainingRow& row, const DeviceModel& frame) {
    return {&row, &frame.device, frame.point.sm_clock_mhz};
}

FittedBaselines fit_baselines(const DeviceModel& frame, const Parts& parts, const ValidationSettings& settings) {
    std::vector<RowOnDevice> training;
    for (const TrainingRow& row : parts.training) training.push_back(on_device(row, frame));
    return {settings.baselines, training, settings.training.seed, settings.training.threads};
}

/// The first variant's model, and the published methods.
struct Trained {
    DeviceModel model;
    FittedBaselines published;
};

/// Adds the forecasts of every variant and baseline.
Trained validate_part(const DeviceModel& frame, const Parts& parts, std::span<const TrainingNetwork> networks,
                      std::size_t fold, const ValidationSettings& settings, std::vector<OutOfFoldRow>& out) {
    const auto columns = all_columns();
    std::optional<DeviceModel> first;
    for (const Variant& variant : variants(settings)) {
        TrainSettings training = settings.training;
        training.learner = variant.learner;
        auto model = train_device(frame.device, frame.point, parts.training, networks, training);
        for (const TrainingRow* row : parts.test) forecast_row(model, columns, *row, variant.name, fold, out);
        if (!first) first = std::move(model);
    }
    FittedBaselines published = fit_baselines(frame, parts, settings);
    for (const TrainingRow* row : parts.test) published.append_forecasts(on_device(*row, frame), fold, out);
    return {std::move(*first), std::move(published)};
}

/// Groups of all that a network calls.
std::set<std::string> groups_of(const Graph& graph) {
    std::set<std::string> groups;
    for (const CountedOperation& counted : count_operations(graph)) groups.insert(operation_group(counted.operation));
    return groups;
}

/// Sum over the measured operations; what was not measured counts only if it is a view, at its overhead.
std::pair<double, double> summed_time(const Graph& graph, const DeviceModel& device,
                                      const MeasuredOperations& measured) {
    double sum = 0;
    double of_measured = 0;
    const auto columns = all_columns();
    for (const CountedOperation& counted : count_operations(graph)) {
        const auto forecast = forecast_operation(device, columns, prepare(counted.operation, device.device, device.point.math), measured);
        const double time = forecast.cost.device_time.value.value() * static_cast<double>(counted.count);
        sum += time;
        if (forecast.evidence == Evidence::measured) of_measured += time;
    }
    return {sum, sum > 0 ? of_measured / sum : 0};
}

/// Below this share of measured time a sum says nothing about composing measured operations.
constexpr double least_measured_share = 0.9;

NetworkAccuracy compare(const DeviceModel& device, std::span<const Feature* const> columns,
                        const TrainingNetwork& network, const MeasuredOperations& measured) {
    const NetworkMeasurement& m = network.measurement;
    const auto forecast = forecast_network(network.graph, m.precision, device, columns, {});
    NetworkAccuracy result;
    result.network = m.model;
    result.device = device.device.id;
    result.symbols = m.symbols;
    result.mode = m.mode;
    result.precision = m.precision;
    result.measured_time_s = m.time.median_s;
    result.predicted_time = forecast.time;
    result.measured_peak_bytes = m.peak_memory_bytes;
    result.predicted_peak_bytes = forecast.cost.peak_memory.value.value();
    result.inside_interval =
        forecast.time.low.value() <= m.time.median_s && m.time.median_s <= forecast.time.high.value();
    const auto [sum, share] = summed_time(network.graph, device, measured);
    result.measured_share = share;
    if (share >= least_measured_share) result.summed_time_s = sum;
    return result;
}

DeviceModel frame_of(const Device& device, const OperatingPoint& setting) {
    DeviceModel frame;
    frame.device = device;
    frame.point = setting;
    return frame;
}

}  // namespace

std::vector<OutOfFoldRow> validate_operations(const Device& device, const OperatingPoint& setting,
                                              std::span<const TrainingRow> rows, const ValidationSettings& settings) {
    std::vector<std::string> groups;
    for (const TrainingRow& row : rows) groups.push_back(row.group);
    const auto fold_of = settings.grouped ? group_folds(groups, settings.folds, settings.training.seed)
                                          : random_folds(rows.size(), settings.folds, settings.training.seed);
    std::vector<OutOfFoldRow> out;
    for (std::size_t fold = 0; fold < settings.folds; ++fold) {
        Parts parts;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (fold_of[i] == fold) {
                parts.test.push_back(&rows[i]);
            } else {
                parts.training.push_back(rows[i]);
            }
        }
        if (!parts.test.empty() && !parts.training.empty()) {
            validate_part(frame_of(device, setting), parts, {}, fold, settings, out);
        }
        if (settings.progress) settings.progress(fold + 1, settings.folds);
    }
    if (out.empty()) throw Error("too few different operations on " + device.id + " to split them into folds.");
    return out;
}

std::vector<OutOfFoldRow> score_predictor(const DeviceModel& device, std::span<const Feature* const> columns,
                                          std::span<const TrainingRow> rows) {
    std::vector<OutOfFoldRow> out;
    for (const TrainingRow& row : rows) forecast_row(device, columns, row, "joulecast", 0, out);
    return out;
}

NetworkValidation validate_networks(const Device& device, const OperatingPoint& setting,
                                    std::span<const TrainingRow> rows, std::span<const TrainingNetwork> networks,
                                    const MeasuredOperations& measured, const ValidationSettings& settings) {
    std::map<std::string, std::set<std::string>> groups;
    for (const TrainingNetwork& network : networks) groups[network.measurement.model].merge(groups_of(network.graph));
    NetworkValidation validation;
    std::size_t fold = 0;
    const auto columns = all_columns();
    for (const auto& [model, own] : groups) {
        Parts parts;
        for (const TrainingRow& row : rows) {
            if (own.contains(row.group)) {
                parts.test.push_back(&row);
            } else {
                parts.training.push_back(row);
            }
        }
        if (parts.training.empty()) {
            throw Error("without the operations of " + model + " the database has none left to train on.");
        }
        std::vector<TrainingNetwork> others;
        for (const TrainingNetwork& network : networks) {
            if (network.measurement.model != model) others.push_back(network);
        }
        const auto trained =
            validate_part(frame_of(device, setting), parts, others, fold, settings, validation.operations);
        std::optional<Lattuada> lattuada;
        if (settings.lattuada) lattuada = fit_lattuada(others, device);
        for (const TrainingNetwork& network : networks) {
            if (network.measurement.model != model) continue;
            validation.networks.push_back(compare(trained.model, columns, network, measured));
            append_networks(trained.published, network, device, setting.sm_clock_mhz, validation.baselines);
            if (lattuada) validation.baselines.push_back(forecast_network(*lattuada, network, device));
        }
        ++fold;
        if (settings.progress) settings.progress(fold, groups.size());
    }
    return validation;
}

NetworkValidation score_networks(const DeviceModel& device, std::span<const Feature* const> columns,
                                 std::span<const TrainingNetwork> networks, const MeasuredOperations& measured) {
    NetworkValidation validation;
    for (const TrainingNetwork& network : networks) {
        validation.networks.push_back(compare(device, columns, network, measured));
    }
    return validation;
}

}  // namespace joulecast
