#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "cli/baseline_output.h"
#include "cli/known.h"
#include "cli/settings.h"
#include "joulecast/error.h"
#include "lab/baselines/baselines.h"
#include "lab/studies/layer_scores.h"
#include "lab/verbs/choose_baselines.h"
#include "lab/verbs/study.h"

namespace joulecast::cli {
namespace {

using Line = LayerScore;

/// sponner_best is left to who asks for it: it trains seven learners, six times each.
std::vector<std::string> usual_baselines() {
    return {"thesis_forest", "thesis_xgboost", "sponner_ert", "sponner_knn"};
}

const std::vector<Column<Line>>& columns() {
    static const std::vector<Column<Line>> list = {
        {"device", "device", Show::text, [](const Line& l) { return l.accuracy.device; }},
        {"math", "math", Show::text, [](const Line& l) { return l.accuracy.math; }},
        {"mode", "mode", Show::text, [](const Line& l) { return l.accuracy.mode; }},
        {"layer", "layer", Show::text, [](const Line& l) { return l.accuracy.family; }},
        {"metric", "metric", Show::text, [](const Line& l) { return l.accuracy.metric; }},
        {"method", "method", Show::text, [](const Line& l) { return l.accuracy.model; }},
        {"rows", "rows", Show::count, [](const Line& l) { return l.accuracy.rows; }},
        {"rows_without_forecast", "without", Show::count,
         [](const Line& l) { return l.accuracy.rows_without_forecast; }},
        {"r2", "R²", Show::number, [](const Line& l) { return known(l.accuracy.r2); }},
        {"r2_fold_mean", "of folds", Show::number, [](const Line& l) { return known(l.accuracy.r2_fold_mean); }},
        {"r2_fold_std", "±", Show::number, [](const Line& l) { return known(l.accuracy.r2_fold_std); }},
        {"mape", "MAPE", Show::percent, [](const Line& l) { return known(l.accuracy.mape); }},
        {"best_r2", "best R²", Show::text, [](const Line& l) { return l.best_r2; }},
        {"best_mape", "best MAPE", Show::text, [](const Line& l) { return l.best_mape; }},
    };
    return list;
}

std::string marked(double value, Show how, bool best) {
    return show(known(value), how) + (best ? " *" : "");
}

/// "0.98, 3.5 %": R² and MAPE with a star behind the best of its line.
std::string cell_text(const Line& line) {
    const Accuracy& a = line.accuracy;
    std::string text = marked(a.r2, Show::number, line.best_r2) + ", " + marked(a.mape, Show::percent, line.best_mape);
    if (a.rows_without_forecast > 0) text += " (" + std::to_string(a.rows_without_forecast) + " not)";
    return text;
}

/// A line for each layer type and metric, a column for each method.
Table by_method(const std::vector<Line>& lines) {
    std::vector<std::string> methods;
    for (const Line& line : lines) {
        if (std::ranges::find(methods, line.accuracy.model) == methods.end()) methods.push_back(line.accuracy.model);
    }
    Table table;
    for (const char* head : {"device", "math", "mode", "layer", "metric"})
        table.heads.push_back({head, head, Show::text});
    table.heads.push_back({"rows", "rows", Show::count});
    for (const std::string& method : methods) table.heads.push_back({method, method, Show::text});
    std::map<std::vector<std::string>, std::size_t> place;
    for (const Line& line : lines) {
        const Accuracy& a = line.accuracy;
        const auto [at, fresh] = place.try_emplace({a.device, a.math, a.mode, a.family, a.metric}, table.rows.size());
        if (fresh) {
            auto& cells = table.rows.emplace_back(6 + methods.size());
            std::ranges::copy(at->first, cells.begin());
            cells[5] = a.rows + a.rows_without_forecast;
        }
        const auto method = std::ranges::find(methods, a.model) - methods.begin();
        table.rows[at->second][6 + static_cast<std::size_t>(method)] = cell_text(line);
    }
    return table;
}

/// R² by layer type, a series for each method (figure 3 of Sponner et al.).
Plot plot_of(const std::string& metric, const std::vector<Line>& lines, const std::string& subtitle) {
    Plot plot{"Layer types: R² of " + metric, subtitle, {"layer type"}, {"R²"}, {}, {}};
    for (const Line& line : lines) {
        const Accuracy& a = line.accuracy;
        if (a.metric != metric) continue;
        const std::string layer = a.family + " (" + a.mode + ")";
        if (std::ranges::find(plot.x.labels, layer) == plot.x.labels.end()) plot.x.labels.push_back(layer);
        const auto x = std::ranges::find(plot.x.labels, layer) - plot.x.labels.begin();
        auto series = std::ranges::find(plot.series, a.model, &PlotSeries::name);
        if (series == plot.series.end()) {
            plot.series.push_back({a.model, PlotSeries::Style::points, {}, {}});
            series = plot.series.end() - 1;
        }
        series->x.push_back(static_cast<double>(x));
        series->y.push_back(a.r2);
    }
    return plot;
}

ValidationSettings settings_of(const StudyOptions& options) {
    ValidationSettings settings;
    settings.folds = options.folds.value_or(settings.folds);
    settings.is_one_test_set = options.split == "test-set";
    settings.grouped = options.split == "operation";
    if (!options.learners.empty()) settings.learners = {parse_learner(options.learners.front())};
    if (options.learners.size() > 1)
        throw UsageError(
            "study layers takes one learner for joulecast's own forecasts; to compare learners: joulecast "
            "study learners");
    choose_baselines(options.baselines.empty() ? usual_baselines() : options.baselines, settings);
    if (!settings.network_baselines.empty())
        throw UsageError(std::string(settings.network_baselines.front()->name) +
                         " forecasts whole networks, so it has no layer types");
    settings.progress = study_progress("validated part");
    return settings;
}

std::string notes_of(const ValidationSettings& settings) {
    if (settings.grouped) return "folds are grouped by operation\n";
    const std::string leaks = "the same operations are in training and test, so this leaks\n";
    if (settings.is_one_test_set)
        return "one of " + std::to_string(settings.folds) + " parts, drawn at random, is the test set: " + leaks;
    return "rows were split at random: " + leaks;
}

}  // namespace

int study_layers(const StudyOptions& options) {
    const ValidationSettings settings = settings_of(options);
    StudyResult result;
    std::vector<Line> table;
    std::vector<OutOfFoldRow> forecasts;
    for (const MeasuredRows& rows : studied_rows(options)) {
        auto of_device =
            by_layer(validate_operations(rows.device, rows.setting, rows.operations, settings), rows.operations);
        for (OutOfFoldRow& row : of_device) {
            if (!find_baseline(row.model)) row.model = "joulecast";  // whatever it trains with
        }
        const auto lines = layer_scores(of_device);
        for (const char* metric : {"time_s", "power_w"}) {
            Plot plot = plot_of(metric, lines, describe(rows));
            if (!plot.series.empty()) result.plots.push_back(std::move(plot));
        }
        table.insert(table.end(), lines.begin(), lines.end());
        forecasts.insert(forecasts.end(), of_device.begin(), of_device.end());
    }
    result.tables = {{"results", "R² and MAPE on held-out rows, by layer type and method (*: the best)",
                      fill(columns(), table), by_method(table)}};
    result.notes = notes_of(settings);
    result.notes += gaps_text(forecasts);
    return write_study(options, result);
}

}  // namespace joulecast::cli
