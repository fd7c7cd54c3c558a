#include "joulecast/learn/learner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/learn/parallel.h"
#include "joulecast/learn/random.h"
#include "joulecast/learn/tree_grower.h"

namespace joulecast {
namespace {

std::vector<std::uint32_t> rows_of_tree(std::size_t rows, bool bootstrap, Random& random) {
    std::vector<std::uint32_t> chosen(rows);
    for (std::size_t i = 0; i < rows; ++i) {
        chosen[i] = static_cast<std::uint32_t>(bootstrap ? random.below(rows) : i);
    }
    return chosen;
}

std::vector<ForestNode> grow_tree(const Samples& samples, const SplitColumns& shared, std::span<const double> targets,
                                  const TreeSettings& settings, std::size_t tree) {
    // Each tree has a stream of its own, so that the number of threads changes nothing.
    Random random(Random(settings.seed * 0x9E3779B97F4A7C15ULL + tree).next());
    auto rows = rows_of_tree(samples.rows(), settings.bootstrap, random);
    return TreeGrower(samples, shared, targets, settings, random).grow(std::move(rows));
}

void append(Forest& forest, const std::vector<ForestNode>& tree) {
    const auto root = static_cast<std::int32_t>(forest.nodes.size());
    forest.roots.push_back(root);
    for (ForestNode node : tree) {
        if (node.feature >= 0) node.right += root;
        forest.nodes.push_back(node);
    }
}

}  // namespace

std::span<const Learner> all_learners() {
    static constexpr std::array learners{
        Learner::extra_trees, Learner::random_forest, Learner::decision_tree, Learner::xgboost, Learner::knn,
        Learner::linear,      Learner::ridge,         Learner::polynomial,    Learner::mlp,     Learner::svr};
    return learners;
}

std::string_view name(Learner learner) {
    switch (learner) {
        case Learner::extra_trees:
            return "extra_trees";
        case Learner::random_forest:
            return "random_forest";
        case Learner::decision_tree:
            return "decision_tree";
        case Learner::xgboost:
            return "xgboost";
        case Learner::knn:
            return "knn";
        case Learner::linear:
            return "linear";
        case Learner::ridge:
            return "ridge";
        case Learner::polynomial:
            return "polynomial";
        case Learner::mlp:
            return "mlp";
        case Learner::svr:
            return "svr";
    }
    return "";
}

std::optional<Learner> parse_learner(std::string_view text) {
    for (const Learner learner : all_learners()) {
        if (text == name(learner)) return learner;
    }
    return std::nullopt;
}

TreeSettings settings(Learner learner, std::size_t trees, std::uint64_t seed) {
    TreeSettings chosen;
    chosen.seed = seed;
    if (learner == Learner::decision_tree) {
        chosen.min_leaf = 2;  // a single tree that isolates every row repeats its noise
        return chosen;
    }
    chosen.trees = trees;
    chosen.features_per_split = 0.5;
    chosen.bootstrap = learner == Learner::random_forest;
    chosen.random_thresholds = learner != Learner::random_forest;
    return chosen;
}

Forest fit_forest(const Samples& samples, std::span<const double> targets, const TreeSettings& settings) {
    if (samples.rows() == 0 || samples.columns() == 0) throw Error("cannot fit trees to no rows or no features");
    if (targets.size() != samples.rows()) throw Error("cannot fit trees: rows and targets differ in number");
    if (!std::all_of(targets.begin(), targets.end(), [](double y) { return std::isfinite(y); })) {
        throw Error("cannot fit trees: a target is not a finite number");
    }
    const SplitColumns shared = split_columns(samples, settings);
    std::vector<std::vector<ForestNode>> trees(settings.trees);
    // Below some thousand values a thread costs more than it brings.
    const unsigned threads = samples.rows() * settings.trees > 2000 ? settings.threads : 1;
    in_parallel(settings.trees, threads,
                [&](std::size_t tree) { trees[tree] = grow_tree(samples, shared, targets, settings, tree); });
    Forest forest;
    for (const auto& tree : trees) append(forest, tree);
    return forest;
}

}  // namespace joulecast
