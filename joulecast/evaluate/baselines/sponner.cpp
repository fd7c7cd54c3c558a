#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "joulecast/evaluate/baselines/attributes.h"
#include "joulecast/evaluate/baselines/layer_regression.h"
#include "joulecast/learn/folds.h"

namespace joulecast {
namespace {

/// The libraries' defaults, since the paper names no others (scikit-learn; XGBoost for XGB).
LearnerSettings defaults(Learner learner, const BaselineSettings& settings) {
    LearnerSettings chosen;
    chosen.seed = chosen.trees.seed = settings.seed;
    chosen.threads = chosen.trees.threads = settings.threads;
    chosen.trees.trees = learner == Learner::decision_tree ? 1 : 100;
    chosen.trees.random_thresholds = learner == Learner::extra_trees;
    chosen.boost.rounds = 100;
    chosen.boost.learning_rate = 0.3;
    chosen.neighbours = {3, false};
    chosen.perceptron.hidden = {100};
    chosen.perceptron.held_out = 0;
    return chosen;
}

/// Rows of the chosen places.
LayerRows part(const LayerRows& rows, const std::vector<std::size_t>& places) {
    LayerRows some{Samples(places.size(), rows.samples.columns()), {}, {}};
    for (std::size_t i = 0; i < places.size(); ++i) {
        some.samples.set_row(i, rows.features(places[i]));
        some.targets.push_back(rows.targets[places[i]]);
        some.groups.push_back(rows.groups[places[i]]);
    }
    return some;
}

/// Sum of squared errors over inner folds: the learner with the least has the best R², by which the paper chooses.
double inner_error(Learner learner, const LayerRows& rows, const BaselineSettings& settings) {
    constexpr std::size_t folds = 5;
    std::vector<std::string> groups;
    for (const std::size_t group : rows.groups) groups.push_back(std::to_string(group));
    const auto fold_of = group_folds(groups, folds, settings.seed);
    double error = 0;
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> inside, outside;
        for (std::size_t i = 0; i < fold_of.size(); ++i) (fold_of[i] == fold ? outside : inside).push_back(i);
        if (inside.empty() || outside.empty()) continue;
        const Regression fitted = fit_learner(learner, part(rows, inside), defaults(learner, settings));
        for (const std::size_t i : outside) {
            const double wrong = fitted(rows.features(i)) - rows.targets[i];
            error += wrong * wrong;
        }
    }
    return error;
}

Regression fit_best(const LayerRows& rows, const BaselineSettings& settings) {
    constexpr std::array seven{Learner::xgboost, Learner::extra_trees, Learner::knn, Learner::decision_tree,
                               Learner::linear,  Learner::mlp,         Learner::svr};
    Learner best = seven.front();
    double least = std::numeric_limits<double>::infinity();
    for (const Learner learner : seven) {
        const double error = inner_error(learner, rows, settings);
        if (!(error < least)) continue;
        least = error;
        best = learner;
    }
    return fit_learner(best, rows, defaults(best, settings));
}

LayerRegression with(Learner learner, const BaselineSettings& settings) {
    return {layer_type_on_device, sponner_row,
            [=](const LayerRows& rows) { return fit_learner(learner, rows, defaults(learner, settings)); }};
}

}  // namespace

Fitted fit_sponner_ert(Observations rows, const BaselineSettings& settings) {
    return fit_per_layer(rows, with(Learner::extra_trees, settings));
}

Fitted fit_sponner_knn(Observations rows, const BaselineSettings& settings) {
    return fit_per_layer(rows, with(Learner::knn, settings));
}

Fitted fit_sponner_best(Observations rows, const BaselineSettings& settings) {
    return fit_per_layer(rows, {layer_type_on_device, sponner_row,
                                [&](const LayerRows& of_layer) { return fit_best(of_layer, settings); }});
}

Fitted fit_template_matching(Observations rows, const BaselineSettings& settings) {
    LearnerSettings closest = defaults(Learner::knn, settings);
    closest.neighbours.k = 1;
    LayerRegression recipe{layer_type_on_device, layer_hyper_parameters,
                           [&](const LayerRows& of_layer) { return fit_learner(Learner::knn, of_layer, closest); }};
    recipe.least_rows = 1;
    return fit_per_layer(rows, recipe);
}

}  // namespace joulecast
