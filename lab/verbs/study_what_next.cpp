#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cli/known.h"
#include "joulecast/error.h"
#include "lab/studies/what_next_trial.h"
#include "lab/verbs/study.h"

namespace joulecast::cli {
namespace {

struct Line {
    std::string device, math;
    TrialLine of;
};

const std::vector<Column<Line>>& columns() {
    static const std::vector<Column<Line>> list = {
        {"device", "device", Show::text, [](const Line& l) { return l.device; }},
        {"math", "math", Show::text, [](const Line& l) { return l.math; }},
        {"budget_share", "budget", Show::percent, [](const Line& l) { return l.of.budget; }},
        {"strategy", "chosen by", Show::text, [](const Line& l) { return l.of.strategy; }},
        {"cost_s", "measuring", Show::seconds, [](const Line& l) { return l.of.cost_s; }},
        {"measured", "measured", Show::count, [](const Line& l) { return std::llround(l.of.measured); }},
        {"mape", "MAPE", Show::percent, [](const Line& l) { return known(l.of.mape); }},
        {"mape_std", "±", Show::percent, [](const Line& l) { return known(l.of.mape_std); }},
        {"median_ape", "median", Show::percent, [](const Line& l) { return known(l.of.median_ape); }},
        {"weighted_ape", "weighted", Show::percent, [](const Line& l) { return known(l.of.weighted_ape); }},
        {"networks_ape", "networks'", Show::percent, [](const Line& l) { return known(l.of.networks_ape); }},
    };
    return list;
}

/// Calls of each operation in all networks of the database together.
std::map<std::string, double> calls_of(const MeasuredRows& rows) {
    std::map<std::string, double> calls;
    for (const TrainingNetwork& network : rows.networks) {
        for (const CountedOperation& counted : count_operations(network.graph))
            calls[signature(counted.operation)] += static_cast<double>(counted.count);
    }
    return calls;
}

std::vector<TrialRow> trial_rows(const MeasuredRows& rows) {
    const auto calls = calls_of(rows);
    const MeasuringCost usual(std::vector<std::pair<double, double>>{});
    std::vector<TrialRow> trials;
    for (const OperationRow& row : rows.rows) {
        if (!is_usable(row.measurement)) continue;
        // The training rows are the usable ones, in order.
        TrialRow trial{&rows.operations.at(trials.size()), row.measurement.wall_s, 0};
        if (!(trial.cost_s > 0)) trial.cost_s = usual.seconds(trial.row->time_s);
        const auto found = calls.find(trial.row->operation.signature);
        if (found != calls.end()) trial.calls = found->second;
        trials.push_back(trial);
    }
    return trials;
}

Plot plot_of(const std::vector<TrialLine>& lines, const std::string& title, double TrialLine::* figure,
             const std::string& subtitle) {
    Plot plot{title, subtitle, {"measuring", "s"}, {"error"}, {}, {}};
    const TrialLine& none = lines.front();
    const TrialLine& whole = lines.back();
    for (const char* strategy : {"what_next", "share", "random"}) {
        PlotSeries series{strategy, PlotSeries::Style::line, {none.cost_s}, {none.*figure}};
        for (const TrialLine& line : lines) {
            if (line.strategy != strategy) continue;
            series.x.push_back(line.cost_s);
            series.y.push_back(line.*figure);
        }
        plot.series.push_back(std::move(series));
    }
    plot.series.push_back({"all hidden rows measured",
                           PlotSeries::Style::dashed,
                           {none.cost_s, lines[lines.size() - 2].cost_s},
                           {whole.*figure, whole.*figure}});
    return plot;
}

}  // namespace

int study_what_next(const StudyOptions& options) {
    TrialSettings settings;
    settings.seeds = options.seeds.value_or(settings.seeds);
    settings.learner = one_learner(options, settings.learner);
    settings.progress = study_progress("tried");
    StudyResult result;
    std::vector<Line> table;
    for (const MeasuredRows& rows : studied_rows(options)) {
        const auto lines = try_what_next(rows.device, rows.setting, trial_rows(rows), settings);
        result.plots.push_back(plot_of(lines, "Operations never measured: MAPE", &TrialLine::mape, describe(rows)));
        if (!rows.networks.empty())
            result.plots.push_back(plot_of(lines, "Operations of the networks, weighted by their time",
                                           &TrialLine::networks_ape, describe(rows)));
        for (const TrialLine& line : lines)
            table.push_back({rows.device.id, std::string(name(rows.setting.math)), line});
    }
    result.tables = {{"results", "Error after measuring a part of the hidden operations", fill(columns(), table)}};
    result.notes =
        "A fifth of the operations is tested on and never chosen; of the others 70 % are hidden. budget: share of the "
        "seconds that measuring all hidden ones took\nMAPE, median, weighted (by time in the networks): over the "
        "tested; "
        "networks': over tested and hidden ones, those measured counted as known\n";
    return write_study(options, result);
}

}  // namespace joulecast::cli
