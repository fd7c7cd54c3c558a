#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cli/known.h"
#include "joulecast/error.h"
#include "lab/studies/learner_comparison.h"
#include "lab/verbs/study.h"

namespace joulecast::cli {
namespace {

const std::vector<Column<LearnerScore>>& columns() {
    using S = LearnerScore;
    static const std::vector<Column<S>> list = {
        {"device", "device", Show::text, [](const S& s) { return s.accuracy.device; }},
        {"math", "math", Show::text, [](const S& s) { return s.accuracy.math; }},
        {"metric", "metric", Show::text, [](const S& s) { return s.accuracy.metric; }},
        {"family", "family", Show::text, [](const S& s) { return s.accuracy.family; }},
        {"learner", "learner", Show::text, [](const S& s) { return s.accuracy.model; }},
        {"rows", "rows", Show::count, [](const S& s) { return s.accuracy.rows; }},
        {"groups", "groups", Show::count, [](const S& s) { return s.accuracy.groups; }},
        {"r2", "R²", Show::number, [](const S& s) { return known(s.accuracy.r2); }},
        {"r2_log", "R² log", Show::number, [](const S& s) { return known(s.accuracy.r2_log); }},
        {"mape", "MAPE", Show::percent, [](const S& s) { return known(s.accuracy.mape); }},
        {"median_ape", "median", Show::percent, [](const S& s) { return known(s.accuracy.median_ape); }},
        {"training_cpu_s", "training (CPU)", Show::seconds, [](const S& s) { return known(s.training_s); }},
        {"forecast_cpu_s", "forecast (CPU)", Show::seconds, [](const S& s) { return known(s.forecast_s); }},
    };
    return list;
}

/// MAPE of each learner by family, and the processor time of training all families.
std::vector<Plot> plots_of(const std::vector<LearnerScore>& scores, const std::string& subtitle) {
    std::map<std::string, std::map<std::string, std::map<std::string, double>>> mape;  // metric, family, learner
    std::map<std::string, double> training_s;
    std::vector<std::string> learners;
    for (const LearnerScore& score : scores) {
        const Accuracy& a = score.accuracy;
        mape[a.metric][a.family][a.model] = a.mape;
        training_s[a.model] += score.training_s;
        if (std::ranges::find(learners, a.model) == learners.end()) learners.push_back(a.model);
    }
    std::ranges::sort(learners);
    std::vector<Plot> plots;
    for (const auto& [metric, families] : mape) {
        Plot plot{"Learners: MAPE of " + metric, subtitle, {"learner"}, {"MAPE", "", true}, {}, {}};
        plot.x.labels = learners;
        for (const auto& [family, of_learner] : families) {
            PlotSeries series{family, PlotSeries::Style::points, {}, {}};
            for (std::size_t i = 0; i < learners.size(); ++i) {
                const auto found = of_learner.find(learners[i]);
                if (found == of_learner.end()) continue;
                series.x.push_back(static_cast<double>(i));
                series.y.push_back(found->second);
            }
            plot.series.push_back(std::move(series));
        }
        plots.push_back(std::move(plot));
    }
    Plot time{"Learners: processor time of training",  subtitle, {"learner"},
              {"all families and metrics", "s", true}, {},       {}};
    time.x.labels = learners;
    PlotSeries bars{"one training", PlotSeries::Style::bars, {}, {}};
    for (std::size_t i = 0; i < learners.size(); ++i) {
        bars.x.push_back(static_cast<double>(i));
        bars.y.push_back(training_s[learners[i]]);
    }
    time.series.push_back(std::move(bars));
    plots.push_back(std::move(time));
    return plots;
}

}  // namespace

int study_learners(const StudyOptions& options) {
    ComparisonSettings settings;
    settings.folds = options.folds.value_or(settings.folds);
    for (const std::string& word : options.learners) {
        const auto learner = parse_learner(word);
        if (!learner) throw UsageError("study learners compares learners by name; auto is not one of them");
        settings.learners.push_back(*learner);
    }
    settings.progress = study_progress("trained");
    StudyResult result;
    std::vector<LearnerScore> table;
    for (const MeasuredRows& rows : studied_rows(options)) {
        const auto scores = compare_learners(rows.device, rows.setting, rows.operations, settings);
        std::ranges::move(plots_of(scores, describe(rows)), std::back_inserter(result.plots));
        table.insert(table.end(), scores.begin(), scores.end());
    }
    result.tables = {{"results", "Held-out rows, folds grouped by operation, the best learner of each family first",
                      fill(columns(), table)}};
    result.notes = "CPU: processor time of one training on " + std::to_string(settings.folds - 1) + "/" +
                   std::to_string(settings.folds) +
                   " of the rows, all threads together; of one forecast, its features included\n";
    return write_study(options, result);
}

}  // namespace joulecast::cli
