#include "lab/studies/dataset_size.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// What was trained at one step, over all folds and seeds.
struct Step {
    std::vector<double> rows, groups;
    std::map<std::string, std::pair<double, double>> of_family;  ///< sums of the same
    std::vector<OutOfFoldRow> forecasts;
    std::size_t parts = 0;  ///< folds and seeds done: numbers the "fold" of the forecasts
};

/// The groups outside of the fold in random order.
std::vector<std::string> training_groups(std::span<const TrainingRow> rows, const std::vector<std::size_t>& fold_of,
                                         std::size_t fold, std::uint64_t seed) {
    std::set<std::string> unique;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (fold_of[i] != fold) unique.insert(rows[i].group);
    }
    std::vector<std::string> order(unique.begin(), unique.end());
    Random random(seed);
    shuffle(order, random);
    return order;
}

struct Parts {
    std::vector<TrainingRow> training, test;
};

Parts parts_of(std::span<const TrainingRow> rows, const std::set<std::string>& in_training,
               const std::vector<std::size_t>& fold_of, std::size_t fold) {
    Parts parts;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (fold_of[i] == fold) {
            parts.test.push_back(rows[i]);
        } else if (in_training.contains(rows[i].group)) {
            parts.training.push_back(rows[i]);
        }
    }
    return parts;
}

bool is_reported(const std::string& metric) {
    return metric == name(Metric::time) || metric == name(Metric::power);
}

void add_forecasts(const DeviceModel& trained, const Parts& parts, const DatasetSizeSettings& settings, Step& step) {
    auto forecasts = score_predictor(trained, all_columns(), parts.test);
    const auto published = fit_baselines(settings.baselines, trained, parts.training, settings.training);
    for (const TrainingRow& row : parts.test) published.append_forecasts(on_device(row, trained), 0, forecasts);
    for (OutOfFoldRow& row : forecasts) {
        if (!is_reported(row.metric)) continue;
        row.fold = step.parts;
        step.forecasts.push_back(std::move(row));
    }
    ++step.parts;
}

double mape_std(const Step& step, const Accuracy& of) {
    std::map<std::size_t, std::vector<OutOfFoldRow>> by_part;
    for (const OutOfFoldRow& row : step.forecasts) {
        const bool is_of_family = of.family == "all" || of.family == row.family;
        if (row.model == of.model && row.metric == of.metric && is_of_family) by_part[row.fold].push_back(row);
    }
    std::vector<double> mapes;
    for (const auto& [part, rows] : by_part) mapes.push_back(accuracies(rows).front().mape);
    return standard_deviation(mapes);
}

/// Of all modes together: all families, and where asked for each.
std::vector<Accuracy> reported(const Step& step, bool by_family) {
    if (!by_family) return overall_accuracies(step.forecasts);
    std::vector<OutOfFoldRow> forecasts = step.forecasts;
    for (OutOfFoldRow& row : forecasts) row.mode = "all";
    return accuracies(forecasts);
}

void add_lines(const Step& step, std::size_t number, const DatasetSizeSettings& settings,
               std::vector<DatasetSize>& lines) {
    for (const Accuracy& accuracy : reported(step, settings.by_family)) {
        double rows = mean(step.rows), groups = mean(step.groups);
        if (accuracy.family != "all") {
            const auto found = step.of_family.find(accuracy.family);
            const auto parts = static_cast<double>(step.parts);
            rows = found == step.of_family.end() ? 0 : found->second.first / parts;
            groups = found == step.of_family.end() ? 0 : found->second.second / parts;
        }
        lines.push_back({number, static_cast<double>(number) / static_cast<double>(settings.steps), rows, groups,
                         accuracy, mape_std(step, accuracy)});
    }
}

void count_training(const Parts& parts, Step& step) {
    std::set<std::string> groups;
    for (const TrainingRow& row : parts.training) {
        auto& [of_rows, of_groups] = step.of_family[std::string(name(row.operation.family()))];
        of_rows += 1;
        if (groups.insert(row.group).second) of_groups += 1;
    }
}

}  // namespace

std::vector<DatasetSize> study_dataset_size(const Device& device, const OperatingPoint& setting,
                                            std::span<const TrainingRow> rows, const DatasetSizeSettings& settings) {
    std::vector<Step> steps(settings.steps);
    std::size_t done = 0;
    for (std::size_t repeat = 0; repeat < settings.seeds; ++repeat) {
        const std::uint64_t seed = settings.training.seed + repeat;
        const auto fold_of = group_folds(rows, settings.folds, seed);
        for (std::size_t fold = 0; fold < settings.folds; ++fold) {
            const auto order = training_groups(rows, fold_of, fold, seed * settings.folds + fold);
            if (order.size() < settings.steps)
                throw Error("too few different operations on " + device.id + " for " + std::to_string(settings.steps) +
                            " growing training sets: " + std::to_string(order.size()) +
                            ". Measure more, or ask for fewer --steps.");
            std::set<std::string> in_training;
            for (std::size_t step = 0; step < settings.steps; ++step) {
                const std::size_t end = (step + 1) * order.size() / settings.steps;
                for (std::size_t i = step * order.size() / settings.steps; i < end; ++i) in_training.insert(order[i]);
                const Parts parts = parts_of(rows, in_training, fold_of, fold);
                const auto trained = train_device(device, setting, parts.training, {}, settings.training);
                steps[step].rows.push_back(static_cast<double>(parts.training.size()));
                steps[step].groups.push_back(static_cast<double>(in_training.size()));
                count_training(parts, steps[step]);
                add_forecasts(trained, parts, settings, steps[step]);
                if (settings.progress) settings.progress(++done, settings.seeds * settings.folds * settings.steps);
            }
        }
    }
    std::vector<DatasetSize> lines;
    for (std::size_t step = 0; step < settings.steps; ++step) add_lines(steps[step], step + 1, settings, lines);
    return lines;
}

}  // namespace joulecast
