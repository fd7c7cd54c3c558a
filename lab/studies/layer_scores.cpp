#include "lab/studies/layer_scores.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/forecast/published/attributes.h"

namespace joulecast {
namespace {

/// What methods are compared on.
using Place = std::tuple<std::string, std::string, std::string, bool, std::string, std::string>;

Place place_of(const Accuracy& a) {
    return {a.device, a.math, a.mode, a.family != all_layers, a.family, a.metric};
}

/// Of a device measured in both modes, the lines that mix them say little: a training call takes three times as long.
void drop_mixed_modes(std::vector<Accuracy>& lines) {
    std::set<std::pair<std::string, std::string>> apart;
    for (const Accuracy& a : lines) {
        if (a.mode != "all") apart.emplace(a.device, a.math);
    }
    std::erase_if(lines, [&](const Accuracy& a) { return a.mode == "all" && apart.contains({a.device, a.math}); });
}

/// The first and last of a place are consecutive.
void mark_best(std::span<LayerScore> methods) {
    LayerScore* r2 = nullptr;
    LayerScore* mape = nullptr;
    for (LayerScore& method : methods) {
        if (method.accuracy.rows_without_forecast > 0) continue;
        if (method.accuracy.r2 == method.accuracy.r2 && (!r2 || method.accuracy.r2 > r2->accuracy.r2)) r2 = &method;
        if (method.accuracy.mape == method.accuracy.mape && (!mape || method.accuracy.mape < mape->accuracy.mape))
            mape = &method;
    }
    if (r2) r2->best_r2 = true;
    if (mape) mape->best_mape = true;
}

}  // namespace

std::vector<OutOfFoldRow> by_layer(std::vector<OutOfFoldRow> forecasts, std::span<const TrainingRow> rows) {
    std::map<std::string, std::string> kinds;
    for (const TrainingRow& row : rows) kinds.try_emplace(row.group, layer_kind(row.operation.operation));
    for (OutOfFoldRow& row : forecasts) {
        const auto found = kinds.find(row.group);
        if (found == kinds.end()) throw Error("no measured operation is of the group " + row.group + ".");
        row.family = found->second;
    }
    return forecasts;
}

std::vector<LayerScore> layer_scores(std::span<const OutOfFoldRow> forecasts) {
    std::vector<Accuracy> lines = accuracies(forecasts);
    drop_mixed_modes(lines);
    std::ranges::stable_sort(lines, {}, place_of);
    std::vector<LayerScore> scores;
    for (Accuracy& line : lines) scores.push_back({std::move(line), false, false});
    for (std::size_t begin = 0; begin < scores.size();) {
        std::size_t end = begin + 1;
        while (end < scores.size() && place_of(scores[end].accuracy) == place_of(scores[begin].accuracy)) ++end;
        mark_best(std::span(scores).subspan(begin, end - begin));
        begin = end;
    }
    return scores;
}

}  // namespace joulecast
