#include "joulecast/predict/train.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "joulecast/error.h"
#include "joulecast/learn/folds.h"
#include "joulecast/predict/calibrate_networks.h"
#include "joulecast/predict/fit_models.h"

namespace joulecast {
namespace {

/// An operation at float32 without gradients.
Operation plain(Operation operation) {
    for (TensorType* tensor : tensors(operation)) {
        tensor->requires_grad = false;
        if (is_floating(tensor->dtype)) tensor->dtype = Dtype::f32;
    }
    return operation;
}

using Setting = std::tuple<int, Math, Host>;
Setting setting_of(const OperatingPoint& point) {
    return {point.threads, point.math, point.host};
}

struct HeldOutRows {
    CandidateScores scores;
    std::vector<HeldOutByLearner> times;
};

/// Every candidate on every row, over grouped folds: for the choice between them and for intervals.
HeldOutRows hold_out(const DeviceModel& frame, std::span<const TrainingRow> rows, const TrainSettings& settings) {
    std::vector<std::string> groups;
    for (const TrainingRow& row : rows) groups.push_back(row.group);
    const auto fold_of = group_folds(groups, settings.folds, settings.seed);
    HeldOutRows held_out;
    held_out.times.resize(rows.size());
    for (std::size_t fold = 0; fold < settings.folds; ++fold) {
        std::vector<const TrainingRow*> inside;
        std::vector<std::size_t> outside;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (fold_of[i] == fold) {
                outside.push_back(i);
            } else {
                inside.push_back(&rows[i]);
            }
        }
        if (inside.empty() || outside.empty()) continue;
        for (const Learner learner : candidates(settings)) {
            const DeviceModel model = fit_models(frame, inside, learner, settings);
            score_rows(model, rows, outside, learner, held_out.scores, held_out.times);
        }
    }
    return held_out;
}

/// The held-out times by the learner that each family ended with, their intervals by its calibration.
std::vector<HeldOutTime> times_of_chosen(const DeviceModel& trained, std::span<const TrainingRow> rows,
                                         const HeldOutRows& held_out) {
    std::vector<HeldOutTime> times(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const FamilyModel* model = find_model(trained, rows[i].operation.family(), Metric::time);
        if (!model) continue;
        const auto found = held_out.times[i].find(model->learner);
        if (found == held_out.times[i].end()) continue;
        times[i] = {found->second.log_value, found->second.half_width * model->score_90};
    }
    return times;
}

}  // namespace

std::string operation_group(const Operation& operation) {
    return signature(plain(operation));
}

std::vector<TrainingRow> training_rows(std::span<const OperationRow> rows, const Device& device,
                                       OperatingPoint& setting) {
    std::map<Setting, std::size_t> seen;
    for (const OperationRow& row : rows) {
        if (is_usable(row.measurement)) ++seen[setting_of(row.measurement.real)];
    }
    if (seen.empty()) throw Error("the database has no usable operation measured on " + device.id + ".");
    const auto most = std::max_element(seen.begin(), seen.end(), [](const auto& a, const auto& b) {
                          return a.second < b.second;
                      })->first;
    std::vector<TrainingRow> usable;
    for (const OperationRow& row : rows) {
        if (!is_usable(row.measurement) || setting_of(row.measurement.real) != most) continue;
        if (usable.empty()) setting = row.measurement.real;
        const Measurement& m = row.measurement;
        usable.push_back({prepare(m.operation, device, m.real.math), operation_group(m.operation), measured_seconds(m),
                          m.peak_memory_bytes});
    }
    return usable;
}

std::vector<const Feature*> all_columns() {
    std::vector<const Feature*> all;
    for (const Feature& feature : features()) all.push_back(&feature);
    return all;
}

DeviceModel train_device(const Device& device, const OperatingPoint& setting, std::span<const TrainingRow> rows,
                         std::span<const TrainingNetwork> networks, const TrainSettings& settings) {
    if (rows.empty()) throw Error("cannot train for " + device.id + ": no measured operations");
    DeviceModel frame;
    frame.device = device;
    frame.point = setting;
    const HeldOutRows held_out = hold_out(frame, rows, settings);
    std::vector<const TrainingRow*> all;
    for (const TrainingRow& row : rows) all.push_back(&row);
    DeviceModel trained = fit_chosen_models(frame, all, held_out.scores, settings);
    calibrate_networks(trained, rows, times_of_chosen(trained, rows, held_out), networks);
    return trained;
}

Origin origin_of(std::span<const OperationRow> rows, const std::string& program, const std::string& created) {
    Origin origin;
    origin.program = program;
    origin.created = created;
    std::set<std::string> sources, frameworks, workers, machines;
    for (const OperationRow& row : rows) {
        const Provenance& from = row.provenance;
        sources.insert(from.source);
        frameworks.insert(from.framework);
        workers.insert(from.worker);
        machines.insert(from.machine);
        if (from.started.empty()) continue;
        if (origin.measured_from.empty() || from.started < origin.measured_from) origin.measured_from = from.started;
        origin.measured_to = std::max(origin.measured_to, from.started);
    }
    origin.sources.assign(sources.begin(), sources.end());
    origin.frameworks.assign(frameworks.begin(), frameworks.end());
    origin.workers.assign(workers.begin(), workers.end());
    origin.machines.assign(machines.begin(), machines.end());
    const bool own = sources.size() == 1 && *sources.begin() == "own";
    origin.licence = own ? "own measurements, Apache-2.0" : "that of its sources";
    origin.rows = static_cast<std::int64_t>(rows.size());
    return origin;
}

}  // namespace joulecast
