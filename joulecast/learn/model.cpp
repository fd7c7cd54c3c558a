#include "joulecast/learn/model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

void require_rows(const Samples& samples, std::span<const double> targets, const LearnerSettings& settings) {
    if (samples.rows() == 0 || samples.columns() == 0) throw Error("cannot learn from no rows or no features");
    if (targets.size() != samples.rows()) throw Error("cannot learn: rows and targets differ in number");
    if (!settings.groups.empty() && settings.groups.size() != samples.rows())
        throw Error("cannot learn: rows and groups differ in number");
    if (settings.most_compared_rows == 0) throw Error("cannot learn from a sample of no rows");
    if (!std::all_of(targets.begin(), targets.end(), [](double y) { return std::isfinite(y); }))
        throw Error("cannot learn: a target is not a finite number");
}

/// Reorders them.
double midmean(std::vector<double>& values) {
    const auto quarter = static_cast<std::ptrdiff_t>(values.size() / 4);
    const auto first = values.begin() + quarter, last = values.end() - quarter;
    std::nth_element(values.begin(), first, values.end());
    std::nth_element(first, last, values.end());
    return std::accumulate(first, last, 0.0) / static_cast<double>(last - first);
}

Forest fit_trees(const Samples& samples, std::span<const double> targets, const LearnerSettings& settings) {
    TreeSettings trees = settings.trees;
    trees.seed = settings.seed;
    trees.threads = settings.threads;
    return fit_forest(samples, targets, trees);
}

BoostedTrees boost(const Samples& samples, std::span<const double> targets, const LearnerSettings& settings) {
    BoostSettings chosen = settings.boost;
    chosen.seed = settings.seed;
    return fit_boosted(samples, targets, chosen);
}

Polynomial fit_linear(const Samples& samples, std::span<const double> targets, const LearnerSettings& settings,
                      Learner learner) {
    LinearSettings chosen = settings.linear;
    if (learner == Learner::linear) chosen.alpha = 0;
    chosen.factors = learner == Learner::polynomial ? settings.factors : 0;
    chosen.groups = settings.groups;
    chosen.seed = settings.seed;
    return fit_polynomial(samples, targets, chosen);
}

Perceptron fit_units(const Samples& samples, std::span<const double> targets, const LearnerSettings& settings) {
    PerceptronSettings chosen = settings.perceptron;
    chosen.groups = settings.groups;
    chosen.seed = settings.seed;
    return fit_perceptron(samples, targets, chosen);
}

/// Rows and their targets.
struct Drawn {
    Samples samples;
    std::vector<double> targets;
};

/// So many of the rows, in their order.
Drawn drawn(const Samples& samples, std::span<const double> targets, std::size_t count, std::uint64_t seed) {
    Drawn some{Samples(count, samples.columns()), {}};
    Random random(seed);
    std::size_t wanted = count;
    for (std::size_t row = 0; wanted > 0; ++row) {
        // Each with the share that is still wanted of those still there: every choice is as likely as any other.
        if (random.below(samples.rows() - row) >= wanted) continue;
        for (std::size_t column = 0; column < samples.columns(); ++column)
            some.samples.set(count - wanted, column, samples.at(row, column));
        some.targets.push_back(targets[row]);
        --wanted;
    }
    return some;
}

}  // namespace

LearnerSettings learner_settings(Learner learner, std::size_t trees, std::uint64_t seed) {
    LearnerSettings chosen;
    chosen.trees = settings(learner, trees, seed);
    chosen.seed = seed;
    return chosen;
}

std::size_t learned_rows(Learner learner, std::size_t rows, const LearnerSettings& settings) {
    const bool compares_all = learner == Learner::knn || learner == Learner::svr;
    return compares_all ? std::min(rows, settings.most_compared_rows) : rows;
}

Model fit_model(Learner learner, const Samples& samples, std::span<const double> targets,
                const LearnerSettings& settings) {
    require_rows(samples, targets, settings);
    if (const std::size_t count = learned_rows(learner, samples.rows(), settings); count < samples.rows()) {
        const Drawn some = drawn(samples, targets, count, settings.seed);
        LearnerSettings of_some = settings;
        of_some.groups.clear();  // those that compare rows ask for none
        return fit_model(learner, some.samples, some.targets, of_some);
    }
    switch (learner) {
        case Learner::extra_trees:
        case Learner::random_forest:
        case Learner::decision_tree:
            return fit_trees(samples, targets, settings);
        case Learner::xgboost:
            return boost(samples, targets, settings);
        case Learner::knn:
            return fit_neighbours(samples, targets, settings.neighbours);
        case Learner::linear:
        case Learner::ridge:
        case Learner::polynomial:
            return fit_linear(samples, targets, settings, learner);
        case Learner::mlp:
            return fit_units(samples, targets, settings);
        case Learner::svr:
            return fit_support_vectors(samples, targets, settings.vectors);
    }
    throw Error("this learner is not known");
}

double predict(const Model& model, std::span<const float> row) {
    return std::visit([&](const auto& learnt) { return predict(learnt, row); }, model);
}

Members members(const Model& model, std::span<const float> row, bool with_midmean) {
    const auto* forest = std::get_if<Forest>(&model);
    if (!forest) {
        const double value = predict(model, row);
        return {value, value, 0};
    }
    if (forest->roots.empty()) throw Error("cannot predict with a forest that has no trees");
    std::vector<double> said(forest->roots.size());
    predict_trees(*forest, row, said);
    double sum = 0, squares = 0;
    for (const double value : said) {
        sum += value;
        squares += value * value;
    }
    const auto count = static_cast<double>(said.size());
    const double mean = sum / count;
    Members found{.mean = mean, .variance = std::max(0.0, squares / count - mean * mean)};
    if (with_midmean) found.midmean = midmean(said);
    return found;
}

std::size_t tree_count(const Model& model) {
    if (const auto* forest = std::get_if<Forest>(&model)) return forest->roots.size();
    if (const auto* boosted = std::get_if<BoostedTrees>(&model)) return boosted->forest.roots.size();
    return 0;
}

void check(const Model& model, std::size_t columns) {
    std::visit([&](const auto& learnt) { check(learnt, columns); }, model);
}

}  // namespace joulecast
