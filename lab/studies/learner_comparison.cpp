#include "lab/studies/learner_comparison.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "joulecast/forecast/forecast_log.h"
#include "joulecast/train/fit_models.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Of all threads of this process.
double processor_s() {
    return static_cast<double>(std::clock()) / static_cast<double>(CLOCKS_PER_SEC);
}

struct Timing {
    std::vector<double> training_s;
    double forecast_s = 0;
    std::int64_t forecasts = 0;
};

/// (metric, family, learner)
using Key = std::tuple<std::string, std::string, std::string>;

struct Compared {
    std::vector<OutOfFoldRow> forecasts;
    std::map<Key, Timing> timing;
};

double value_of(double log_value, Metric metric) {
    const double value = std::exp(log_value);
    return metric == Metric::peak_memory ? std::max(0.0, value - memory_offset_bytes) : value;
}

OutOfFoldRow blank(const DeviceModel& device, const TrainingRow& row, const FamilyModel& model, std::size_t fold) {
    OutOfFoldRow result;
    result.model = name(model.learner);
    result.metric = name(model.metric);
    result.family = name(model.family);
    result.device = device.device.id;
    result.mode = "all";  // one line a family: modes share its model
    result.math = name(device.point.math);
    result.fold = fold;
    result.group = row.group;
    result.measured = measured_value(row, model.metric);
    return result;
}

struct FamilyParts {
    std::vector<const TrainingRow*> training, test;
};

Key key_of(const FamilyModel& model) {
    return {std::string(name(model.metric)), std::string(name(model.family)), std::string(name(model.learner))};
}

/// One learner on one fold.
struct Turn {
    const DeviceModel& laws;
    Learner learner;
    std::size_t fold;
    const TrainSettings& settings;
};

void add_family(const Turn& turn, const FamilyParts& parts, Metric metric, Compared& compared) {
    const double start_s = processor_s();
    const auto model = fit_family_model(turn.laws, parts.training, metric, turn.learner, turn.settings);
    if (!model) return;
    const double trained_s = processor_s();
    const auto columns = all_columns();
    for (const TrainingRow* row : parts.test) {
        OutOfFoldRow result = blank(turn.laws, *row, *model, turn.fold);
        const auto features = feature_row(turn.laws, *model, columns, row->operation);
        const auto forecast = forecast_log(turn.laws, *model, columns, row->operation, features);
        result.predicted = forecast ? value_of(forecast->log_value, metric) : std::numeric_limits<double>::quiet_NaN();
        compared.forecasts.push_back(std::move(result));
    }
    Timing& timing = compared.timing[key_of(*model)];
    timing.training_s.push_back(trained_s - start_s);
    timing.forecast_s += processor_s() - trained_s;
    timing.forecasts += std::ssize(parts.test);
}

/// Rows that have the metric, by family.
std::map<Family, FamilyParts> parts_of(std::span<const TrainingRow> rows, const std::vector<std::size_t>& fold_of,
                                       std::size_t fold, Metric metric) {
    std::map<Family, FamilyParts> parts;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!learned_log(rows[i], metric)) continue;
        FamilyParts& of = parts[rows[i].operation.family()];
        (fold_of[i] == fold ? of.test : of.training).push_back(&rows[i]);
    }
    return parts;
}

std::vector<LearnerScore> scores_of(const Compared& compared) {
    std::vector<LearnerScore> scores;
    for (const Accuracy& accuracy : accuracies(compared.forecasts)) {
        const auto found = compared.timing.find({accuracy.metric, accuracy.family, accuracy.model});
        if (found == compared.timing.end()) continue;  // the line of all families together
        const Timing& timing = found->second;
        scores.push_back({accuracy, mean(timing.training_s),
                          timing.forecast_s / static_cast<double>(std::max<std::int64_t>(1, timing.forecasts))});
    }
    const auto key = [](const LearnerScore& score) {
        // Time first, as everywhere.
        return std::tuple(score.accuracy.metric != name(Metric::time), score.accuracy.metric, score.accuracy.family);
    };
    std::stable_sort(scores.begin(), scores.end(), [&](const LearnerScore& a, const LearnerScore& b) {
        return key(a) == key(b) ? a.accuracy.mape < b.accuracy.mape : key(a) < key(b);
    });
    return scores;
}

}  // namespace

std::vector<LearnerScore> compare_learners(const Device& device, const OperatingPoint& setting,
                                           std::span<const TrainingRow> rows, const ComparisonSettings& settings) {
    const auto fold_of = group_folds(rows, settings.folds, settings.training.seed);
    std::vector<Learner> learners = settings.learners;
    if (learners.empty()) learners.assign(all_learners().begin(), all_learners().end());
    const DeviceModel frame = frame_of(device, setting);
    Compared compared;
    std::size_t done = 0;
    for (std::size_t fold = 0; fold < settings.folds; ++fold) {
        std::vector<const TrainingRow*> training;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (fold_of[i] != fold) training.push_back(&rows[i]);
        }
        const DeviceModel laws = fit_laws_alone(frame, training);
        for (const Learner learner : learners) {
            for (const Metric metric : all_metrics) {
                for (const auto& [family, parts] : parts_of(rows, fold_of, fold, metric))
                    add_family({laws, learner, fold, settings.training}, parts, metric, compared);
            }
            if (settings.progress) settings.progress(++done, settings.folds * learners.size());
        }
    }
    if (compared.forecasts.empty()) throw too_few_to_split(device);
    return scores_of(compared);
}

}  // namespace joulecast
