#include "lab/studies/feature_importance.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "joulecast/forecast/forecast_log.h"
#include "joulecast/learn/random.h"
#include "joulecast/train/fit_models.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Held-out rows of one family with the metric, and what the model is asked with.
struct HeldOut {
    std::vector<const TrainingRow*> rows;
    std::vector<std::vector<float>> features;
    std::vector<double> truth;
};

/// Over folds: sums for the error as it is, and per feature the increases of each fold and repeat.
struct Tally {
    std::int64_t rows = 0;
    double error_sum = 0;
    std::map<std::size_t, std::vector<double>> increases;  ///< by column; of each shuffling, weighted below
    std::map<std::size_t, double> increase_sum;            ///< over rows and repeats
};

using Tallies = std::map<std::pair<Family, Metric>, Tally>;

double error_sum(const DeviceModel& device, const FamilyModel& model, std::span<const Feature* const> columns,
                 const HeldOut& held) {
    double sum = 0;
    for (std::size_t i = 0; i < held.rows.size(); ++i) {
        const auto forecast = forecast_log(device, model, columns, held.rows[i]->operation, held.features[i]);
        // A model of the family has laws for all of its operations.
        sum += std::abs(forecast.value().log_value - held.truth[i]);
    }
    return sum;
}

bool is_constant(const HeldOut& held, std::size_t column) {
    return std::all_of(held.features.begin(), held.features.end(), [&](const std::vector<float>& row) {
        const float a = row[column], b = held.features.front()[column];
        return a == b || (std::isnan(a) && std::isnan(b));
    });
}

/// Shuffles one column in place and puts it back at the end.
class Shuffled {
  public:
    Shuffled(HeldOut& held, std::size_t column, Random& random) : held_(held), column_(column) {
        for (const auto& row : held.features) before_.push_back(row[column]);
        std::vector<float> values = before_;
        shuffle(values, random);
        put(values);
    }
    Shuffled(const Shuffled&) = delete;
    Shuffled& operator=(const Shuffled&) = delete;
    ~Shuffled() { put(before_); }

  private:
    void put(const std::vector<float>& values) {
        for (std::size_t i = 0; i < values.size(); ++i) held_.features[i][column_] = values[i];
    }
    HeldOut& held_;
    std::size_t column_;
    std::vector<float> before_;
};

void add_shuffles(const DeviceModel& device, const FamilyModel& model, std::span<const Feature* const> columns,
                  HeldOut& held, std::size_t repeats, Random& random, Tally& tally) {
    const double as_is = error_sum(device, model, columns, held);
    const auto rows = static_cast<double>(held.rows.size());
    tally.rows += std::ssize(held.rows);
    tally.error_sum += as_is;
    for (std::size_t column = 0; column < columns.size(); ++column) {
        if (is_constant(held, column)) continue;
        for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
            const Shuffled shuffled(held, column, random);
            const double more = error_sum(device, model, columns, held) - as_is;
            tally.increases[column].push_back(more / rows);
            tally.increase_sum[column] += more / static_cast<double>(repeats);
        }
    }
}

HeldOut held_out(const DeviceModel& device, const FamilyModel& model, std::span<const Feature* const> columns,
                 const std::vector<const TrainingRow*>& test) {
    HeldOut held;
    for (const TrainingRow* row : test) {
        if (row->operation.family() != model.family) continue;
        const auto truth = learned_log(*row, model.metric);
        if (!truth || !log_base(Base::law, device, row->operation)) continue;
        held.rows.push_back(row);
        held.truth.push_back(*truth);
        held.features.push_back(feature_row(device, model, columns, row->operation));
    }
    return held;
}

std::vector<FeatureImportance> lines_of(const std::pair<Family, Metric>& part, const Tally& tally,
                                        std::span<const Feature* const> columns) {
    std::vector<FeatureImportance> lines;
    const auto rows = static_cast<double>(tally.rows);
    for (const auto& [column, sum] : tally.increase_sum) {
        lines.push_back({part.first, part.second, std::string(columns[column]->name), tally.rows,
                         tally.error_sum / rows, sum / rows, standard_deviation(tally.increases.at(column))});
    }
    std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.increase > b.increase; });
    return lines;
}

}  // namespace

std::vector<FeatureImportance> feature_importance(const Device& device, const OperatingPoint& setting,
                                                  std::span<const TrainingRow> rows,
                                                  const ImportanceSettings& settings) {
    const auto fold_of = group_folds(rows, settings.folds, settings.training.seed);
    const auto columns = all_columns();
    Random random(settings.training.seed);
    Tallies tallies;
    for (std::size_t fold = 0; fold < settings.folds; ++fold) {
        std::vector<const TrainingRow*> training, test;
        for (std::size_t i = 0; i < rows.size(); ++i) (fold_of[i] == fold ? test : training).push_back(&rows[i]);
        if (!training.empty() && !test.empty()) {
            const auto model = fit_models(frame_of(device, setting), training, settings.learner, settings.training);
            for (const FamilyModel& family : model.models) {
                HeldOut held = held_out(model, family, columns, test);
                if (held.rows.empty()) continue;
                add_shuffles(model, family, columns, held, settings.repeats, random,
                             tallies[{family.family, family.metric}]);
            }
        }
        if (settings.progress) settings.progress(fold + 1, settings.folds);
    }
    if (tallies.empty()) throw too_few_to_split(device);
    std::vector<FeatureImportance> importances;
    for (const auto& [part, tally] : tallies) {
        for (FeatureImportance& line : lines_of(part, tally, columns)) importances.push_back(std::move(line));
    }
    return importances;
}

std::vector<AugmentationEffect> augmentation_effect(const Device& device, const OperatingPoint& setting,
                                                    std::span<const TrainingRow> rows,
                                                    const std::vector<bool>& of_networks,
                                                    const ValidationSettings& settings) {
    if (std::all_of(of_networks.begin(), of_networks.end(), [](bool of) { return of; })) return {};
    const auto fold_of = group_folds(rows, settings.folds, settings.training.seed);
    std::vector<AugmentationEffect> lines;
    for (const bool with_others : {true, false}) {
        std::vector<OutOfFoldRow> forecasts;
        std::vector<double> sizes;
        for (std::size_t fold = 0; fold < settings.folds; ++fold) {
            std::vector<TrainingRow> training, test;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                if (fold_of[i] == fold && of_networks[i]) test.push_back(rows[i]);
                if (fold_of[i] != fold && (with_others || of_networks[i])) training.push_back(rows[i]);
            }
            if (settings.progress) settings.progress(fold + 1 + (with_others ? 0 : settings.folds), 2 * settings.folds);
            if (training.empty() || test.empty()) continue;
            sizes.push_back(static_cast<double>(training.size()));
            const auto model = train_device(device, setting, training, {}, settings.training);
            for (OutOfFoldRow& row : score_predictor(model, all_columns(), test)) {
                row.fold = fold;
                forecasts.push_back(std::move(row));
            }
        }
        for (const Accuracy& accuracy : overall_accuracies(forecasts))
            lines.push_back({with_others, mean(sizes), accuracy});
    }
    return lines;
}

}  // namespace joulecast
