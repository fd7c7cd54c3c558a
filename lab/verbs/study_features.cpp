#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/known.h"
#include "lab/studies/feature_importance.h"
#include "lab/verbs/study.h"

namespace joulecast::cli {
namespace {

/// So many of a family and metric are shown to people; programs get all.
constexpr std::size_t shown_features = 5;

struct Importance {
    std::string device, math;
    FeatureImportance of;
    std::size_t rank = 0;  ///< in its family and metric, from 1
};

const std::vector<Column<Importance>>& importance_columns() {
    using I = Importance;
    static const std::vector<Column<I>> list = {
        {"device", "device", Show::text, [](const I& i) { return i.device; }},
        {"math", "math", Show::text, [](const I& i) { return i.math; }},
        {"metric", "metric", Show::text, [](const I& i) { return std::string(name(i.of.metric)); }},
        {"family", "family", Show::text, [](const I& i) { return std::string(name(i.of.family)); }},
        {"rank", "rank", Show::count, [](const I& i) { return static_cast<std::int64_t>(i.rank); }},
        {"feature", "feature", Show::text, [](const I& i) { return i.of.feature; }},
        {"rows", "rows", Show::count, [](const I& i) { return i.of.rows; }},
        {"log_error", "error", Show::percent, [](const I& i) { return known(i.of.error); }},
        {"increase", "shuffled +", Show::percent, [](const I& i) { return known(i.of.increase); }},
        {"increase_std", "±", Show::percent, [](const I& i) { return known(i.of.increase_std); }},
    };
    return list;
}

struct Effect {
    std::string device, math;
    AugmentationEffect of;
};

const std::vector<Column<Effect>>& effect_columns() {
    using E = Effect;
    static const std::vector<Column<E>> list = {
        {"device", "device", Show::text, [](const E& e) { return e.device; }},
        {"math", "math", Show::text, [](const E& e) { return e.math; }},
        {"metric", "metric", Show::text, [](const E& e) { return e.of.accuracy.metric; }},
        {"training", "trained on", Show::text,
         [](const E& e) { return std::string(e.of.with_others ? "all rows" : "rows of networks"); }},
        {"training_rows", "rows", Show::count, [](const E& e) { return std::llround(e.of.training_rows); }},
        {"rows", "tested", Show::count, [](const E& e) { return e.of.accuracy.rows; }},
        {"r2", "R²", Show::number, [](const E& e) { return known(e.of.accuracy.r2); }},
        {"mape", "MAPE", Show::percent, [](const E& e) { return known(e.of.accuracy.mape); }},
        {"median_ape", "median", Show::percent, [](const E& e) { return known(e.of.accuracy.median_ape); }},
        {"interval_coverage", "in 90 %", Show::percent, [](const E& e) { return known(e.of.accuracy.interval.share); }},
    };
    return list;
}

/// The ten that matter most over all families, each as the mean increase over all rows.
Plot plot_of(const std::string& metric, const std::vector<FeatureImportance>& lines, const std::string& subtitle) {
    std::map<std::string, double> sum;
    std::map<std::string, std::int64_t> rows;
    for (const FeatureImportance& line : lines) {
        if (name(line.metric) != metric) continue;
        sum[line.feature] += line.increase * static_cast<double>(line.rows);
        rows[std::string(name(line.family))] = line.rows;
    }
    double whole = 0;
    for (const auto& [family, count] : rows) whole += static_cast<double>(count);
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [feature, total] : sum) order.emplace_back(total / whole, feature);
    std::ranges::sort(order, std::greater<>());
    order.resize(std::min<std::size_t>(order.size(), 20));
    Plot plot{"Permutation importance: " + metric, subtitle, {"feature"}, {"increase of the mean log error"}, {}, {}};
    PlotSeries bars{"shuffled on held-out rows", PlotSeries::Style::bars, {}, {}};
    for (const auto& [increase, feature] : order) {
        bars.x.push_back(static_cast<double>(plot.x.labels.size()));
        bars.y.push_back(increase);
        plot.x.labels.push_back(feature);
    }
    if (!bars.x.empty()) plot.series.push_back(std::move(bars));
    return plot;
}

std::vector<Importance> ranked(const MeasuredRows& rows, const std::vector<FeatureImportance>& lines) {
    std::vector<Importance> importances;
    std::map<std::pair<Family, Metric>, std::size_t> count;
    for (const FeatureImportance& line : lines)
        importances.push_back(
            {rows.device.id, std::string(name(rows.setting.math)), line, ++count[{line.family, line.metric}]});
    std::ranges::stable_sort(importances, {}, [](const Importance& i) { return std::pair(i.of.metric, i.of.family); });
    return importances;
}

}  // namespace

int study_features(const StudyOptions& options) {
    ImportanceSettings settings;
    settings.folds = options.folds.value_or(settings.folds);
    settings.repeats = options.repeats.value_or(settings.repeats);
    settings.learner = one_learner(options, settings.learner);
    settings.progress = study_progress("shuffled part");
    ValidationSettings compared;
    compared.folds = settings.folds;
    compared.training.learner = settings.learner;
    compared.progress = study_progress("compared part");
    StudyResult result;
    std::vector<Importance> importances;
    std::vector<Effect> effects;
    for (const MeasuredRows& rows : studied_rows(options)) {
        const auto lines = feature_importance(rows.device, rows.setting, rows.operations, settings);
        for (const Metric metric : all_metrics) {
            Plot plot = plot_of(std::string(name(metric)), lines, describe(rows));
            if (!plot.series.empty()) result.plots.push_back(std::move(plot));
        }
        std::ranges::move(ranked(rows, lines), std::back_inserter(importances));
        const auto of = of_networks(rows);
        const std::string reason = no_variants_reason(rows, of);
        result.notes += reason;
        if (!reason.empty()) continue;
        for (const AugmentationEffect& effect :
             augmentation_effect(rows.device, rows.setting, rows.operations, of, compared))
            effects.push_back({rows.device.id, std::string(name(rows.setting.math)), effect});
    }
    std::vector<Importance> shown = importances;
    std::erase_if(shown, [](const Importance& i) { return i.rank > shown_features; });
    result.tables = {{"importance",
                      "Error of held-out forecasts, and how much is added when one feature is shuffled (first " +
                          std::to_string(shown_features) + " of each)",
                      fill(importance_columns(), importances), fill(importance_columns(), shown)},
                     {"augmentation",
                      "Held-out rows of networks, trained with and without operations that no measured network calls",
                      fill(effect_columns(), effects)}};
    return write_study(options, result);
}

}  // namespace joulecast::cli
