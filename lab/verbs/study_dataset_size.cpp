#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cli/known.h"
#include "joulecast/evaluate/published_baselines.h"
#include "lab/studies/dataset_size.h"
#include "lab/verbs/study.h"

namespace joulecast::cli {
namespace {

using Line = DatasetSize;

const std::vector<Column<Line>>& columns() {
    static const std::vector<Column<Line>> list = {
        {"device", "device", Show::text, [](const Line& l) { return l.accuracy.device; }},
        {"math", "math", Show::text, [](const Line& l) { return l.accuracy.math; }},
        {"metric", "metric", Show::text, [](const Line& l) { return l.accuracy.metric; }},
        {"family", "family", Show::text, [](const Line& l) { return l.accuracy.family; }},
        {"model", "model", Show::text, [](const Line& l) { return l.accuracy.model; }},
        {"step", "step", Show::count, [](const Line& l) { return static_cast<std::int64_t>(l.step); }},
        {"share", "share", Show::percent, [](const Line& l) { return l.share; }},
        {"training_rows", "trained on", Show::count, [](const Line& l) { return std::llround(l.training_rows); }},
        {"training_groups", "groups", Show::count, [](const Line& l) { return std::llround(l.training_groups); }},
        {"rows", "tested", Show::count, [](const Line& l) { return l.accuracy.rows; }},
        {"r2", "R²", Show::number, [](const Line& l) { return known(l.accuracy.r2); }},
        {"r2_log", "R² log", Show::number, [](const Line& l) { return known(l.accuracy.r2_log); }},
        {"mape", "MAPE", Show::percent, [](const Line& l) { return known(l.accuracy.mape); }},
        {"mape_std", "±", Show::percent, [](const Line& l) { return known(l.mape_std); }},
        {"median_ape", "median", Show::percent, [](const Line& l) { return known(l.accuracy.median_ape); }},
        {"interval_coverage", "in 90 %", Show::percent, [](const Line& l) { return known(l.accuracy.interval.share); }},
        {"interval_width", "width", Show::percent, [](const Line& l) { return known(l.accuracy.interval.width); }},
    };
    return list;
}

/// Error over training rows of one metric and family: a line for the MAPE of each model and one for its median.
Plot plot_of(const std::string& metric, const std::string& family, const std::vector<Line>& lines,
             const std::string& subtitle) {
    Plot plot{"Error against size of the training set: " + (family == "all" ? "" : family + ", ") + metric,
              subtitle,
              {"rows trained on"},
              {"error", "", true},
              {},
              {}};
    std::map<std::string, std::pair<PlotSeries, PlotSeries>> models;
    for (const Line& line : lines) {
        if (line.accuracy.metric != metric || line.accuracy.family != family) continue;
        auto& [mape, median] = models[line.accuracy.model];
        mape.name = line.accuracy.model + ", MAPE";
        median.name = line.accuracy.model + ", median";
        for (PlotSeries* series : {&mape, &median}) series->x.push_back(line.training_rows);
        mape.y.push_back(line.accuracy.mape);
        median.y.push_back(line.accuracy.median_ape);
    }
    for (auto& [model, pair] : models) {
        plot.series.push_back(std::move(pair.first));
        plot.series.push_back(std::move(pair.second));
    }
    return plot;
}

}  // namespace

int study_dataset_size(const StudyOptions& options) {
    DatasetSizeSettings settings;
    settings.steps = options.steps;
    settings.by_family = options.by == "family";
    settings.folds = options.folds.value_or(settings.folds);
    settings.seeds = options.seeds.value_or(settings.seeds);
    settings.baselines = {&thesis_forest};
    settings.progress = study_progress("trained");
    const bool automatic = options.learners == std::vector<std::string>{"auto"};
    if (!automatic) settings.training.learner = one_learner(options, Learner::extra_trees);
    std::vector<Line> table;
    StudyResult result;
    for (const MeasuredRows& rows : studied_rows(options)) {
        const auto lines = joulecast::study_dataset_size(rows.device, rows.setting, rows.operations, settings);
        std::set<std::string> families;
        for (const Line& line : lines) families.insert(line.accuracy.family);
        for (const std::string& family : families) {
            for (const Metric metric : {Metric::time, Metric::power}) {
                Plot plot = plot_of(std::string(name(metric)), family, lines, describe(rows));
                if (!plot.series.empty()) result.plots.push_back(std::move(plot));
            }
        }
        table.insert(table.end(), lines.begin(), lines.end());
    }
    std::stable_sort(table.begin(), table.end(), [](const Line& a, const Line& b) {
        const auto key = [](const Line& l) {
            return std::tuple(l.accuracy.device, l.accuracy.math, l.accuracy.metric != name(Metric::time),
                              l.accuracy.family != "all", l.accuracy.family, l.accuracy.model);
        };
        return key(a) < key(b);
    });
    result.tables = {
        {"results", "Accuracy on held-out rows, by size of the training set (whole groups)", fill(columns(), table)}};
    result.notes = "joulecast learns with " +
                   (automatic ? std::string("its own choice") : std::string(name(*settings.training.learner))) +
                   "; ± is the standard deviation of the MAPE over " + std::to_string(settings.seeds * settings.folds) +
                   " held-out parts\n";
    return write_study(options, result);
}

}  // namespace joulecast::cli
