#include "joulecast/train/what_next.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <unordered_map>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/forecast/forecast_log.h"
#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

constexpr double usual_cost_s = 0.5;
constexpr std::size_t neighbours_asked = 51;
/// Below this share of the first one's gain per second a choice is worth no measurement.
constexpr double least_gain = 1e-6;

/// The leaf of the row in every tree of the model's forests; numbers are unique over all trees.
std::vector<std::int32_t> leaves(const FamilyModel& model, std::span<const float> row) {
    std::vector<std::int32_t> places;
    std::int32_t before = 0;
    for (const ModelPart& part : model.parts) {
        const auto* forest = std::get_if<Forest>(&part.model);
        if (forest == nullptr) continue;
        for (std::size_t tree = 0; tree < forest->roots.size(); ++tree)
            places.push_back(before + static_cast<std::int32_t>(leaf_of(*forest, tree, row)));
        before += static_cast<std::int32_t>(forest->nodes.size());
    }
    return places;
}

/// A candidate with what the choice needs of it.
struct Scored {
    NextOperation next;
    double weight = 0;  ///< times uncertainty: what measuring it tells of itself
    double known = 0;   ///< share of its uncertainty that is gone
    Family family = Family::other;
    std::vector<std::int32_t> leaves;  ///< empty: no model of its family, so it tells of itself alone
};

/// Which candidates stand in a leaf, by family and leaf.
class Leaves {
  public:
    explicit Leaves(const std::vector<Scored>& scored) : all_(scored), shared_(scored.size(), 0) {
        for (std::size_t i = 0; i < scored.size(); ++i) {
            for (const std::int32_t leaf : scored[i].leaves) members_[key(scored[i].family, leaf)].push_back(i);
        }
    }

    /// Those that share a leaf with candidate `of`, each with the share of trees in which they do; itself with 1.
    const std::vector<std::pair<std::size_t, double>>& alike(std::size_t of) {
        found_.clear();
        touched_.clear();
        for (const std::int32_t leaf : all_[of].leaves) {
            for (const std::size_t other : members_.at(key(all_[of].family, leaf))) {
                if (shared_[other]++ == 0) touched_.push_back(other);
            }
        }
        const auto trees = static_cast<double>(all_[of].leaves.size());
        for (const std::size_t other : touched_) {
            if (other != of) found_.emplace_back(other, static_cast<double>(shared_[other]) / trees);
            shared_[other] = 0;
        }
        found_.emplace_back(of, 1.0);
        return found_;
    }

  private:
    static std::uint64_t key(Family family, std::int32_t leaf) {
        return static_cast<std::uint64_t>(family) << 32U | static_cast<std::uint32_t>(leaf);
    }
    const std::vector<Scored>& all_;
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> members_;
    std::vector<std::uint32_t> shared_;  ///< scratch
    std::vector<std::size_t> touched_;
    std::vector<std::pair<std::size_t, double>> found_;
};

double gain_of(Leaves& leaves, const std::vector<Scored>& scored, std::size_t of) {
    double gain = 0;
    for (const auto& [other, alike] : leaves.alike(of))
        gain += scored[other].weight * std::max(0.0, alike - scored[other].known);
    return gain;
}

std::vector<Scored> scored(const DeviceModel& device, std::span<const CandidateOperation> candidates,
                           const MeasuringCost& cost, const WhatNextSettings& settings) {
    const auto columns = all_columns();
    std::vector<Scored> scores;
    double calls_s = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const PreparedOperation& operation = candidates[i].operation;
        const auto time = forecast_operation(device, columns, operation, {}).cost.device_time;
        Scored score;
        score.next.candidate = i;
        score.next.time_s = time.value.value();
        score.next.uncertainty = std::log(time.high.value() / time.value.value());
        score.next.cost_s = cost.seconds(score.next.time_s);
        score.next.share = candidates[i].calls * score.next.time_s;
        score.family = operation.family();
        calls_s += score.next.share;
        if (std::isfinite(score.next.uncertainty)) scores.push_back(std::move(score));
    }
    const double every =
        (calls_s > 0 ? 1 - settings.share_weight : 1) / static_cast<double>(std::max<std::size_t>(1, scores.size()));
    for (Scored& score : scores) {
        if (calls_s > 0) score.next.share /= calls_s;
        score.weight = (settings.share_weight * score.next.share + every) * score.next.uncertainty;
    }
    return scores;
}

/// Keeps the most promising and gives these their leaves.
void keep_best(std::vector<Scored>& scored, const DeviceModel& device, std::span<const CandidateOperation> candidates,
               std::size_t most) {
    std::stable_sort(scored.begin(), scored.end(), [](const Scored& a, const Scored& b) {
        return a.weight / a.next.cost_s > b.weight / b.next.cost_s;
    });
    if (scored.size() > most) scored.resize(most);
    const auto columns = all_columns();
    for (Scored& score : scored) {
        const FamilyModel* model = find_model(device, score.family, Metric::time);
        if (model == nullptr) continue;
        const PreparedOperation& operation = candidates[score.next.candidate].operation;
        score.leaves = leaves(*model, feature_row(device, *model, columns, operation));
    }
}

/// Greedy, and lazily: a gain only becomes smaller as more is chosen, so one that was the largest and still is needs no
/// comparison with the others' of now.
std::vector<NextOperation> choose(std::vector<Scored>& scored, double budget_s) {
    Leaves leaves(scored);
    using Entry = std::pair<double, std::size_t>;  // gain per second, place; of equal ones the earlier
    const auto later = [](const Entry& a, const Entry& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
    };
    std::priority_queue<Entry, std::vector<Entry>, decltype(later)> queue(later);
    for (std::size_t i = 0; i < scored.size(); ++i)
        queue.emplace(gain_of(leaves, scored, i) / scored[i].next.cost_s, i);
    std::vector<NextOperation> chosen;
    double all_weight = 0;
    for (const Scored& score : scored) all_weight += score.weight;
    double left_s = budget_s;
    double first = 0;
    while (!queue.empty()) {
        const std::size_t at = queue.top().second;
        queue.pop();
        Scored& score = scored[at];
        if (score.next.cost_s > left_s) continue;
        const double gain = gain_of(leaves, scored, at);
        const double per_s = gain / score.next.cost_s;
        if (!queue.empty() && per_s < queue.top().first) {
            queue.emplace(per_s, at);
            continue;
        }
        first = std::max(first, per_s);
        if (per_s <= least_gain * first) break;
        for (const auto& [other, alike] : leaves.alike(at)) scored[other].known = std::max(scored[other].known, alike);
        left_s -= score.next.cost_s;
        score.next.gain = gain / all_weight;
        chosen.push_back(score.next);
    }
    return chosen;
}

}  // namespace

MeasuringCost::MeasuringCost(std::vector<std::pair<double, double>> rows) : rows_(std::move(rows)) {
    std::sort(rows_.begin(), rows_.end());
}

MeasuringCost::MeasuringCost(std::span<const OperationRow> rows) {
    for (const OperationRow& row : rows) {
        if (is_usable(row.measurement) && row.measurement.wall_s > 0)
            rows_.emplace_back(measured_seconds(row.measurement), row.measurement.wall_s);
    }
    std::sort(rows_.begin(), rows_.end());
}

double MeasuringCost::seconds(double time_s) const {
    if (rows_.empty()) return usual_cost_s;
    const auto at = std::lower_bound(rows_.begin(), rows_.end(), std::pair(time_s, 0.0));
    const auto place = static_cast<std::size_t>(at - rows_.begin());
    const std::size_t count = std::min(neighbours_asked, rows_.size());
    const std::size_t first = std::min(place - std::min(place, count / 2), rows_.size() - count);
    std::vector<double> near;
    for (std::size_t i = first; i < first + count; ++i) near.push_back(rows_[i].second);
    // Longer than anything measured: it takes longer in the same proportion.
    const double beyond = std::max(1.0, time_s / rows_.back().first);
    return median(near) * beyond;
}

WhatNext what_next(const Device& device, const OperatingPoint& setting, std::span<const TrainingRow> rows,
                   std::span<const CandidateOperation> candidates, const MeasuringCost& cost,
                   const WhatNextSettings& settings) {
    if (!(settings.budget_s > 0)) throw Error("without a budget nothing can be measured next.");
    TrainSettings training = settings.training;
    training.learner = Learner::extra_trees;
    const DeviceModel model = train_device(device, setting, rows, {}, training);
    WhatNext next;
    std::vector<Scored> candidates_scored = scored(model, candidates, cost, settings);
    next.candidates = candidates.size();
    keep_best(candidates_scored, model, candidates, settings.most_candidates);
    next.not_considered = candidates.size() - candidates_scored.size();
    for (const Scored& score : candidates_scored) next.uncertainty += score.weight;
    next.chosen = choose(candidates_scored, settings.budget_s);
    for (const NextOperation& operation : next.chosen) next.cost_s += operation.cost_s;
    return next;
}

}  // namespace joulecast
