#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "joulecast/learn/forest.h"
#include "joulecast/learn/samples.h"

namespace joulecast {

/// Trees that add up, on top of a constant.
struct BoostedTrees {
    double base = 0;
    Forest forest;

    friend bool operator==(const BoostedTrees&, const BoostedTrees&) = default;
};

/// How XGBoost is asked to boost; the words are its own (rounds: num_boost_round).
struct BoostSettings {
    std::size_t rounds = 200;
    double learning_rate = 0.1;
    std::size_t max_depth = 5;   ///< 0: no bound; then max_leaves is one
    std::size_t max_leaves = 0;  ///< above 0 the leaf that gains most is split next (grow_policy lossguide)
    double min_child_weight = 1;
    double subsample = 1;
    double colsample_bytree = 1;
    double colsample_bynode = 1;
    double reg_lambda = 1;
    double gamma = 0;
    /// Thresholds tried in a column; XGBoost's own default, 256, takes three times as long.
    std::size_t max_bin = 64;
    bool exact = false;         ///< tree_method exact: every threshold; otherwise hist
    std::vector<int> monotone;  ///< per column: 1 never falls with it, -1 never rises, 0 free; empty: all free
    std::uint64_t seed = 1;
    unsigned threads = 1;  ///< with more than one, sums and with them last bits may depend on the number
};

/// Gradient boosting on squared error by XGBoost (Chen, Guestrin 2016), whose trees become ours. Missing values are
/// shown to it as a value above all others, so that they go to the right as in all of our trees; where a column has
/// more different values than max_bin, its largest may share their bin. Columns of a single value are not shown to it,
/// so shares of columns are of the others. Throws Error for what XGBoost refuses.
BoostedTrees fit_boosted(const Samples& samples, std::span<const double> targets, const BoostSettings& settings);

/// The trees of an XGBoost model (booster gbtree, squared error) in its UBJ form, as XGBoosterSaveModelToBuffer gives
/// it. Its trees go left below a threshold and compare float32, ours at most: the threshold becomes the float32 below.
/// The direction that it stores for missing values is not kept: they go right. Throws FormatError for anything else.
BoostedTrees from_xgboost(std::span<const std::byte> ubj);

double predict(const BoostedTrees& model, std::span<const float> row);
void check(const BoostedTrees& model, std::size_t columns);

}  // namespace joulecast
