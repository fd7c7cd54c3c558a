#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "joulecast/learn/boosted_trees.h"
#include "joulecast/learn/forest.h"
#include "joulecast/learn/learner.h"
#include "joulecast/learn/neighbours.h"
#include "joulecast/learn/perceptron.h"
#include "joulecast/learn/polynomial.h"
#include "joulecast/learn/samples.h"
#include "joulecast/learn/support_vectors.h"

namespace joulecast {

/// What every learner ends in: numbers that joulecast evaluates itself, without the library that found them.
using Model = std::variant<Forest, BoostedTrees, Polynomial, Neighbours, Perceptron, SupportVectors>;

/// Settings of all learners; each takes those of its kind. `seed` and `groups` hold for all and go over those of the
/// same name inside, and so does `threads` for trees; XGBoost keeps its own, since its sums depend on their number.
struct LearnerSettings {
    TreeSettings trees;                          ///< extra_trees, random_forest, decision_tree
    BoostSettings boost;                         ///< xgboost
    NeighbourSettings neighbours;                ///< knn
    LinearSettings linear;                       ///< linear (alpha 0), ridge, polynomial
    std::size_t factors = largest_factor_count;  ///< polynomial: columns whose products enter, at most
    PerceptronSettings perceptron;               ///< mlp
    VectorSettings vectors;                      ///< svr
    std::uint64_t seed = 1;
    unsigned threads = 0;             ///< of trees; 0: as many as the machine has
    std::vector<std::size_t> groups;  ///< per row: what inner folds keep together; empty: every row for itself
    /// knn and svr compare every row with every other: where there are more, so many drawn by seed are learned from.
    std::size_t most_compared_rows = largest_compared_rows;

    static constexpr std::size_t largest_compared_rows = 10000;
    /// With more the products, and the time for them, outgrow what they bring: 24 make 300 products.
    static constexpr std::size_t largest_factor_count = 24;
};

/// What joulecast trains with where nobody says otherwise; `trees` as in settings().
LearnerSettings learner_settings(Learner learner, std::size_t trees, std::uint64_t seed);

/// How many of so many rows the learner learns from: all but for knn and svr (most_compared_rows).
std::size_t learned_rows(Learner learner, std::size_t rows, const LearnerSettings& settings);

/// Deterministic by seed. Missing values: trees and XGBoost send them to the right; the other models put them at the
/// column's mean and add a column that says so (Standardisation). Throws Error for no rows, for targets that are not
/// finite or of another number, and for settings that make no sense.
Model fit_model(Learner learner, const Samples& samples, std::span<const double> targets,
                const LearnerSettings& settings);

/// The row has every column that the model was trained on, NaN where a value is missing. Throws Error for a forest
/// without trees.
double predict(const Model& model, std::span<const float> row);

/// What the members say that forecast by themselves: the trees of a forest; any other model is its only member.
struct Members {
    double mean = 0;
    /// Of those that are left without the lowest and the highest quarter (interquartile mean); NaN where not asked for.
    double midmean = std::numeric_limits<double>::quiet_NaN();
    double variance = 0;  ///< how far members agree
};
Members members(const Model& model, std::span<const float> row, bool with_midmean);

/// Trees in it; 0 for models without.
std::size_t tree_count(const Model& model);

/// Throws FormatError unless the model can be asked with rows of `columns` values and holds finite numbers only.
void check(const Model& model, std::size_t columns);

}  // namespace joulecast
