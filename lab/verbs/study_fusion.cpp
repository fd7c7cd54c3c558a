#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/settings.h"
#include "joulecast/error.h"
#include "joulecast/train/learn_fusion.h"
#include "joulecast/units/statistics.h"
#include "lab/studies/fusion_study.h"
#include "lab/verbs/study.h"

namespace joulecast::cli {
namespace {

const std::vector<Column<FusionScore>>& columns() {
    using Line = FusionScore;
    static const std::vector<Column<Line>> list = {
        {"framework", "engine", Show::text, [](const Line& l) { return l.framework; }},
        {"model", "network", Show::text, [](const Line& l) { return l.model; }},
        {"symbols", "sizes", Show::text, [](const Line& l) { return l.sizes; }},
        {"precision", "precision", Show::text, [](const Line& l) { return l.precision; }},
        {"nodes", "nodes", Show::count, [](const Line& l) { return l.nodes; }},
        {"nodes_right", "right", Show::count, [](const Line& l) { return l.right; }},
        {"share_right", "share", Show::percent, [](const Line& l) { return l.share(); }},
        {"groups", "groups", Show::count, [](const Line& l) { return l.groups; }},
        {"groups_told", "told", Show::count, [](const Line& l) { return l.groups_told; }},
        {"measured_time_s", "time", Show::seconds, [](const Line& l) { return l.measured_s; }},
        {"summed", "calls", Show::number, [](const Line& l) { return l.summed_s / l.measured_s; }},
        {"forecast", "groups", Show::number, [](const Line& l) { return l.told_s / l.measured_s; }},
    };
    return list;
}

std::string sum_of(const std::vector<FusionScore>& scores) {
    FusionScore all;
    std::int64_t whole = 0;
    for (const FusionScore& score : scores) {
        all.nodes += score.nodes;
        all.right += score.right;
        whole += score.right == score.nodes ? 1 : 0;
    }
    return std::to_string(all.right) + " of " + std::to_string(all.nodes) + " nodes (" +
           show(all.share(), Show::percent) + ") are in the right group by rules of the other networks; " +
           std::to_string(whole) + " of " + std::to_string(scores.size()) + " networks are right as a whole\n";
}

/// Of what the networks take by one way of forecasting over what was measured: the median, and that of the errors.
std::string errors_of(const std::vector<FusionScore>& scores, double FusionScore::* told) {
    std::vector<double> ratios, errors;
    for (const FusionScore& score : scores) {
        ratios.push_back(score.*told / score.measured_s);
        errors.push_back(std::abs(ratios.back() - 1));
    }
    return "come to " + show(median(ratios), Show::number) + " of the network in the median, " +
           show(median(errors), Show::percent) + " off\n";
}

std::map<std::string, std::vector<FusionScore>> by_engine(const std::vector<FusionScore>& scores) {
    std::map<std::string, std::vector<FusionScore>> engines;
    for (const FusionScore& score : scores) engines[score.framework].push_back(score);
    return engines;
}

std::string notes_of(const std::string& engine, const std::vector<FusionScore>& scores) {
    return engine + ": " + sum_of(scores) + "  calls, each alone, " + errors_of(scores, &FusionScore::summed_s) +
           "  groups by rules and factors of the other networks " + errors_of(scores, &FusionScore::told_s);
}

/// Without its networks: what was not measured of their calls is forecast.
DeviceModel trained_on_operations(const MeasuredRows& rows) {
    TrainSettings settings;
    settings.learner = Learner::extra_trees;
    return train_device(rows.device, rows.setting, rows.operations, {}, settings);
}

}  // namespace

int study_fusion(const StudyOptions& options) {
    std::vector<FusionScore> scores;
    for (const MeasuredRows& rows : studied_rows(options)) {
        if (told_networks(rows.networks).empty()) continue;
        const auto of_setting = fusion_scores(trained_on_operations(rows), rows.networks, rows.measured);
        scores.insert(scores.end(), of_setting.begin(), of_setting.end());
    }
    if (scores.empty())
        throw Error(
            "the database has no network whose engine told its kernels. Measure some: joulecast profile "
            "resnet18 mobilenet_v2 --networks --worker joulecast-onnxruntime");
    StudyResult result;
    result.tables = {
        {"results",
         "Nodes in the group that the engine's kernels have them in, and time over the measured, each network left out",
         fill(columns(), scores)}};
    for (const auto& [engine, of_engine] : by_engine(scores)) result.notes += notes_of(engine, of_engine);
    return write_study(options, result);
}

}  // namespace joulecast::cli
