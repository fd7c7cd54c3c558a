#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "joulecast/learn/forest.h"
#include "joulecast/learn/samples.h"

namespace joulecast {

/// Every way to learn that models may be trained with; the door to them is fit_model() in model.h.
enum class Learner { extra_trees, random_forest, decision_tree, xgboost, knn, linear, ridge, polynomial, mlp, svr };

std::span<const Learner> all_learners();
std::string_view name(Learner learner);
std::optional<Learner> parse_learner(std::string_view text);

/// How trees are grown; the words are scikit-learn's.
struct TreeSettings {
    std::size_t trees = 1;
    double features_per_split = 1.0;  ///< share of the columns tried at a split, at least one that is not constant
    std::size_t min_leaf = 1;         ///< rows in a leaf
    std::size_t max_depth = 64;       ///< splits on the way to a leaf
    bool bootstrap = false;           ///< each tree sees rows drawn with replacement
    bool random_thresholds = false;   ///< extra trees: one uniform threshold per tried column instead of the best
    /// Up to so many rows a best threshold is found among all values; beyond it among the edges of 256 bins, but in
    /// nodes of fewer than 256 rows. Columns of up to 255 distinct values lose nothing by that.
    std::size_t exact_rows = 65536;
    std::uint64_t seed = 1;
    unsigned threads = 0;  ///< 0: as many as the machine has; the result does not depend on it
};

/// Settings for log-relative targets, found by grouped cross-validation: half of the features per split, leaves of one
/// row. For learners that grow no trees of their own: those of extra trees.
TreeSettings settings(Learner learner, std::size_t trees, std::uint64_t seed);

/// Regression trees on squared error (Breiman 1984, 2001; Geurts 2006). Deterministic by seed. Beside the samples
/// it takes 4 bytes a value (1 byte beyond exact_rows, none for random thresholds), and in each thread once more 4
/// bytes a value (none beyond exact_rows) and up to 37 bytes a row. Throws Error for no rows, a target that is not
/// finite, or sizes that differ.
Forest fit_forest(const Samples& samples, std::span<const double> targets, const TreeSettings& settings);

}  // namespace joulecast
