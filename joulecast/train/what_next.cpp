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
    std::vector<std::int32_t> all;
    std::int32_t before = 0;
    for (const ModelPart& part : model.parts) {
        const auto* forest = std::get_if<Forest>(&part.model);
        if (forest == nullptr) continue;
        for (std::size_t tree = 0; tree < forest->roots.size(); ++tree)
            all.push_back(before + static_cast<std::int32_t>(leaf_of(*forest, tree, row)));
        before += static_cast<std::int32_t>(forest->nodes.size());
    }
    return all;
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
    explicit Leaves(const std::vector<Scored>& all) : all_(all), shared_(all.size(), 0) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            for (const std::int32_t leaf : all[i].leaves) members_[key(all[i].family, leaf)].push_back(i);
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

double gain_of(Leaves& leaves, const std::vector<Scored>& all, std::size_t of) {
    double gain = 0;
    for (const auto& [other, alike] : leaves.alike(of))
        gain += all[other].weight * std::max(0.0, alike - all[other].known);
    return gain;
}

std::vector<Scored> scored(const DeviceModel& device, std::span<const CandidateOperation> candidates,
                           const MeasuringCost& cost, const WhatNextSettings& settings) {
    const auto columns = all_columns();
    std::vector<Scored> all;
    double calls_s = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const PreparedOperation& operation = candidates[i].operation;
        const auto time = forecast_operation(device, columns, operation, {}).cost.device_time;
        Scored one;
        one.next.candidate = i;
        one.next.time_s = time.value.value();
        one.next.uncertainty = std::log(time.high.value() / time.value.value());
        one.next.cost_s = cost.seconds(one.next.time_s);
        one.next.share = candidates[i].calls * one.next.time_s;
        one.family = operation.family();
        calls_s += one.next.share;
        if (std::isfinite(one.next.uncertainty)) all.push_back(std::move(one));
    }
    const double every =
        (calls_s > 0 ? 1 - settings.share_weight : 1) / static_cast<double>(std::max<std::size_t>(1, all.size()));
    for (Scored& one : all) {
        if (calls_s > 0) one.next.share /= calls_s;
        one.weight = (settings.share_weight * one.next.share + every) * one.next.uncertainty;
    }
    return all;
}

/// Keeps the most promising and gives these their leaves.
void keep_best(std::vector<Scored>& all, const DeviceModel& device, std::span<const CandidateOperation> candidates,
               std::size_t most) {
    std::stable_sort(all.begin(), all.end(), [](const Scored& a, const Scored& b) {
        return a.weight / a.next.cost_s > b.weight / b.next.cost_s;
    });
    if (all.size() > most) all.resize(most);
    const auto columns = all_columns();
    for (Scored& one : all) {
        const FamilyModel* model = find_model(device, one.family, Metric::time);
        if (model == nullptr) continue;
        const PreparedOperation& operation = candidates[one.next.candidate].operation;
        one.leaves = leaves(*model, feature_row(device, *model, columns, operation));
    }
}

/// Greedy, and lazily: a gain only becomes smaller as more is chosen, so one that was the largest and still is needs no
/// comparison with the others' of now.
std::vector<NextOperation> choose(std::vector<Scored>& all, double budget_s) {
    Leaves leaves(all);
    using Entry = std::pair<double, std::size_t>;  // gain per second, place; of equal ones the earlier
    const auto later = [](const Entry& a, const Entry& b) {
        return a.first != b.first ? a.first < b.first : a.second > b.second;
    };
    std::priority_queue<Entry, std::vector<Entry>, decltype(later)> queue(later);
    for (std::size_t i = 0; i < all.size(); ++i) queue.emplace(gain_of(leaves, all, i) / all[i].next.cost_s, i);
    std::vector<NextOperation> chosen;
    double all_weight = 0;
    for (const Scored& one : all) all_weight += one.weight;
    double left_s = budget_s;
    double first = 0;
    while (!queue.empty()) {
        const std::size_t at = queue.top().second;
        queue.pop();
        Scored& one = all[at];
        if (one.next.cost_s > left_s) continue;
        const double gain = gain_of(leaves, all, at);
        const double per_s = gain / one.next.cost_s;
        if (!queue.empty() && per_s < queue.top().first) {
            queue.emplace(per_s, at);
            continue;
        }
        first = std::max(first, per_s);
        if (per_s <= least_gain * first) break;
        for (const auto& [other, alike] : leaves.alike(at)) all[other].known = std::max(all[other].known, alike);
        left_s -= one.next.cost_s;
        one.next.gain = gain / all_weight;
        chosen.push_back(one.next);
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
    std::vector<Scored> all = scored(model, candidates, cost, settings);
    next.candidates = candidates.size();
    keep_best(all, model, candidates, settings.most_candidates);
    next.not_considered = candidates.size() - all.size();
    next.chosen = choose(all, settings.budget_s);
    for (const NextOperation& one : next.chosen) next.cost_s += one.cost_s;
    return next;
}

}  // namespace joulecast
