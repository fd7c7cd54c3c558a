#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cli/known.h"
#include "lab/studies/feature_augmentation.h"
#include "lab/verbs/study.h"

namespace joulecast::cli {
namespace {

using Line = AugmentationScore;

std::string features_text(const Line& line) {
    return line.with_features ? "and sizes, operations" : "hyper-parameters";
}

std::string training_text(const Line& line) {
    return line.with_variants ? "all rows" : "rows of networks";
}

const std::vector<Column<Line>>& columns() {
    static const std::vector<Column<Line>> list = {
        {"device", "device", Show::text, [](const Line& l) { return l.accuracy.device; }},
        {"math", "math", Show::text, [](const Line& l) { return l.accuracy.math; }},
        {"mode", "mode", Show::text, [](const Line& l) { return l.accuracy.mode; }},
        {"layer", "layer", Show::text, [](const Line& l) { return l.accuracy.family; }},
        {"metric", "metric", Show::text, [](const Line& l) { return l.accuracy.metric; }},
        {"features", "features", Show::text, features_text},
        {"training", "trained on", Show::text, training_text},
        {"training_rows", "rows", Show::count, [](const Line& l) { return std::llround(l.training_rows); }},
        {"rows", "tested", Show::count, [](const Line& l) { return l.accuracy.rows; }},
        {"rows_without_forecast", "without", Show::count,
         [](const Line& l) { return l.accuracy.rows_without_forecast; }},
        {"r2", "R²", Show::number, [](const Line& l) { return known(l.accuracy.r2); }},
        {"mape", "MAPE", Show::percent, [](const Line& l) { return known(l.accuracy.mape); }},
        {"median_ape", "median", Show::percent, [](const Line& l) { return known(l.accuracy.median_ape); }},
    };
    return list;
}

/// MAPE by layer type, a series for each way of training.
Plot plot_of(const std::string& metric, const std::vector<Line>& lines, const std::string& subtitle) {
    Plot plot{"Augmentation: MAPE of " + metric, subtitle, {"layer type"}, {"MAPE", "", true}, {}, {}};
    for (const Line& line : lines) {
        if (line.accuracy.metric != metric) continue;
        const std::string layer = line.accuracy.family + " (" + line.accuracy.mode + ")";
        if (std::ranges::find(plot.x.labels, layer) == plot.x.labels.end()) plot.x.labels.push_back(layer);
        const auto x = std::ranges::find(plot.x.labels, layer) - plot.x.labels.begin();
        const std::string way = features_text(line) + ", " + training_text(line);
        auto series = std::ranges::find(plot.series, way, &PlotSeries::name);
        if (series == plot.series.end()) {
            plot.series.push_back({way, PlotSeries::Style::points, {}, {}});
            series = plot.series.end() - 1;
        }
        series->x.push_back(static_cast<double>(x));
        series->y.push_back(line.accuracy.mape);
    }
    return plot;
}

}  // namespace

int study_augmentation(const StudyOptions& options) {
    AugmentationSettings settings;
    settings.folds = options.folds.value_or(settings.folds);
    settings.learner = one_learner(options, settings.learner);
    settings.progress = study_progress("trained part");
    StudyResult result;
    std::vector<Line> table;
    for (const MeasuredRows& rows : studied_rows(options)) {
        std::vector<bool> tested = of_networks(rows);
        const std::string reason = no_variants_reason(rows, tested);
        // Then features alone are compared, on every row.
        if (!reason.empty()) tested.assign(rows.operations.size(), true);
        result.notes += reason;
        const auto lines = joulecast::study_augmentation(rows.device, rows.setting, rows.operations, tested, settings);
        for (const Metric metric : {Metric::time, Metric::power}) {
            Plot plot = plot_of(std::string(name(metric)), lines, describe(rows));
            if (!plot.series.empty()) result.plots.push_back(std::move(plot));
        }
        table.insert(table.end(), lines.begin(), lines.end());
    }
    result.tables = {{"results",
                      "Held-out rows by layer type, with and without the four features and the variants of Sponner et "
                      "al. 2022 (sections 7.2, 4.1)",
                      fill(columns(), table)}};
    result.notes += "one " + std::string(name(settings.learner)) +
                    " for each device, layer type and metric, on the raw values; folds grouped by operation\n";
    return write_study(options, result);
}

}  // namespace joulecast::cli
