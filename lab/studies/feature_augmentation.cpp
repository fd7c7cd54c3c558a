#include "lab/studies/feature_augmentation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "joulecast/forecast/published/attributes.h"
#include "joulecast/train/published/fit_method.h"
#include "joulecast/train/published/train_published.h"
#include "lab/baselines/layer_regression.h"
#include "lab/studies/layer_scores.h"

namespace joulecast {
namespace {

/// One way of training, and what it forecast.
struct Trial {
    bool with_features = false;
    bool with_variants = false;
    std::vector<OutOfFoldRow> forecasts;
    /// Rows by mode and layer type, over all folds.
    std::map<std::pair<std::string, std::string>, double> trained;
};

struct Split {
    std::span<const TrainingRow> rows;
    std::vector<std::size_t> fold_of;
    std::size_t fold = 0;
    const std::vector<bool>& of_networks;

    bool is_training(std::size_t row, bool with_variants) const {
        return fold_of[row] != fold && (with_variants || of_networks[row]);
    }
    bool is_test(std::size_t row) const { return fold_of[row] == fold && of_networks[row]; }
};

void run_fold(const DeviceModel& device, const Split& split, Metric metric, const AugmentationSettings& settings,
              Trial& trial) {
    std::vector<Observation> training;
    for (std::size_t i = 0; i < split.rows.size(); ++i) {
        const TrainingRow& row = split.rows[i];
        if (!split.is_training(i, trial.with_variants) || !(measured_value(row, metric) > 0)) continue;
        training.push_back({subject_of(row, device.device, device.point), row.group, measured_value(row, metric)});
        if (metric != Metric::time) continue;
        const std::string of_mode(name(mode(row.operation.operation)));
        for (const std::string& layer : {std::string(all_layers), layer_kind(row.operation.operation)})
            trial.trained[{of_mode, layer}] += 1;
    }
    const LayerRegression recipe{
        layer_type_on_device, trial.with_features ? sponner_row : layer_hyper_parameters, [&](const LayerRows& layer) {
            return fit_learner(settings.learner, layer,
                               published_defaults(settings.learner, {settings.seed, settings.threads}));
        }};
    const auto fitted = fit_per_layer(training, recipe);
    for (std::size_t i = 0; i < split.rows.size(); ++i) {
        const TrainingRow& row = split.rows[i];
        if (!split.is_test(i) || !(measured_value(row, metric) > 0)) continue;
        OutOfFoldRow& forecast = trial.forecasts.emplace_back();
        forecast.model = name(settings.learner);
        forecast.metric = name(metric);
        forecast.device = device.device.id;
        forecast.mode = name(mode(row.operation.operation));
        forecast.math = name(device.point.math);
        forecast.fold = split.fold;
        forecast.group = row.group;
        forecast.measured = measured_value(row, metric);
        forecast.predicted = fitted->forecast(subject_of(row, device.device, device.point));
    }
}

std::vector<AugmentationScore> scores_of(const Trial& trial, std::span<const TrainingRow> rows, std::size_t folds) {
    std::vector<AugmentationScore> scores;
    for (LayerScore& score : layer_scores(by_layer(trial.forecasts, rows))) {
        const auto found = trial.trained.find({score.accuracy.mode, score.accuracy.family});
        const double trained = found == trial.trained.end() ? 0 : found->second;
        scores.push_back({trial.with_features, trial.with_variants, trained / static_cast<double>(folds),
                          std::move(score.accuracy)});
    }
    return scores;
}

std::vector<Trial> trials(bool has_variants) {
    std::vector<Trial> list;
    for (const bool with_variants : {false, true}) {
        if (!with_variants && !has_variants) continue;
        for (const bool with_features : {false, true}) list.push_back({with_features, with_variants, {}, {}});
    }
    return list;
}

}  // namespace

std::vector<AugmentationScore> study_augmentation(const Device& device, const OperatingPoint& setting,
                                                  std::span<const TrainingRow> rows,
                                                  const std::vector<bool>& of_networks,
                                                  const AugmentationSettings& settings) {
    const bool has_variants = std::ranges::count(of_networks, false) > 0;
    const DeviceModel frame = frame_of(device, setting);
    std::vector<Trial> both = trials(has_variants);
    const auto fold_of = group_folds(rows, settings.folds, settings.seed);
    std::size_t done = 0;
    for (Trial& trial : both) {
        for (std::size_t fold = 0; fold < settings.folds; ++fold) {
            const Split split{rows, fold_of, fold, of_networks};
            for (const Metric metric : {Metric::time, Metric::power}) run_fold(frame, split, metric, settings, trial);
            if (settings.progress) settings.progress(++done, both.size() * settings.folds);
        }
    }
    if (both.front().forecasts.empty()) throw too_few_to_split(device);
    std::vector<AugmentationScore> scores;
    for (const Trial& trial : both) {
        for (AugmentationScore& score : scores_of(trial, rows, settings.folds)) scores.push_back(std::move(score));
    }
    std::ranges::stable_sort(scores, {}, [](const AugmentationScore& s) {
        const Accuracy& a = s.accuracy;
        return std::tuple(a.mode, a.family != all_layers, a.family, a.metric);
    });
    return scores;
}

}  // namespace joulecast
