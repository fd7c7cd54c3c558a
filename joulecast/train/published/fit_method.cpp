#include "joulecast/train/published/fit_method.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "joulecast/forecast/published/attributes.h"
#include "joulecast/forecast/published/method.h"
#include "joulecast/learn/folds.h"
#include "joulecast/train/fit_models.h"

namespace joulecast {
namespace {

/// With fewer rows of a key there is no regression.
std::size_t least_rows(PublishedMethod method) {
    return method == PublishedMethod::sponner ? 3 : 1;
}

using KeyedRows = std::map<std::string, std::vector<const Observation*>>;

KeyedRows by_key(PublishedMethod method, std::span<const Observation> rows) {
    KeyedRows keyed;
    for (const Observation& row : rows) keyed[regression_key(method, row.subject)].push_back(&row);
    return keyed;
}

/// Sum of squared errors over inner folds: the learner with the least has the best R², by which the paper chooses.
double inner_error(Learner learner, const LayerRows& rows, const MethodSettings& settings) {
    constexpr std::size_t folds = 5;
    std::vector<std::string> groups;
    for (const std::size_t group : rows.groups) groups.push_back(std::to_string(group));
    const auto fold_of = group_folds(groups, folds, settings.seed);
    double error = 0;
    for (std::size_t fold = 0; fold < folds; ++fold) {
        std::vector<std::size_t> inside, outside;
        for (std::size_t i = 0; i < fold_of.size(); ++i) (fold_of[i] == fold ? outside : inside).push_back(i);
        if (inside.empty() || outside.empty()) continue;
        const Model fitted = fit_layer_model(learner, rows_at(rows, inside), published_defaults(learner, settings));
        for (const std::size_t i : outside) {
            const double wrong = predict(fitted, rows.features(i)) - rows.targets[i];
            error += wrong * wrong;
        }
    }
    return error;
}

/// Section 6 of Sponner et al.: their seven regressors.
Learner best_learner(const LayerRows& rows, const MethodSettings& settings) {
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
    return best;
}

PublishedRegression fit_one(PublishedMethod method, PublishedRegression regression, const KeyedRows::mapped_type& rows,
                            const MethodSettings& settings) {
    if (method == PublishedMethod::thesis) {
        std::set<std::string> layers;
        for (const Observation* row : rows) layers.insert(layer_name(row->subject.operation->operation));
        regression.layers.assign(layers.begin(), layers.end());
    }
    const LayerRows layer = layer_rows(rows, [&](const Subject& s) { return regression_row(method, s, regression); });
    regression.ranges = ranges_of(layer.samples);
    regression.rows = static_cast<std::int64_t>(rows.size());
    regression.model = fit_layer_model(regression.learner, layer, published_defaults(regression.learner, settings));
    return regression;
}

std::vector<PublishedRegression> fit_sponner(Metric metric, std::span<const Observation> rows,
                                             const MethodSettings& settings) {
    std::vector<PublishedRegression> regressions;
    for (const auto& [key, of_key] : by_key(PublishedMethod::sponner, rows)) {
        if (of_key.size() < least_rows(PublishedMethod::sponner)) continue;
        PublishedRegression regression;
        regression.key = key;
        regression.metric = metric;
        regression.learner = best_learner(layer_rows(of_key, sponner_row), settings);
        regressions.push_back(fit_one(PublishedMethod::sponner, std::move(regression), of_key, settings));
    }
    return regressions;
}

}  // namespace

LearnerSettings published_defaults(Learner learner, const MethodSettings& settings) {
    LearnerSettings chosen;
    chosen.seed = chosen.trees.seed = settings.seed;
    chosen.threads = chosen.trees.threads = settings.threads;
    chosen.trees.trees = learner == Learner::decision_tree ? 1 : 100;
    chosen.trees.random_thresholds = learner == Learner::extra_trees;
    chosen.trees.bootstrap = learner == Learner::random_forest;
    chosen.boost.rounds = 100;
    chosen.boost.learning_rate = 0.3;
    chosen.boost.max_depth = 6;
    chosen.boost.max_bin = 256;
    chosen.neighbours = {3, false};  // section 7.4 of Sponner et al.
    chosen.perceptron.hidden = {100};
    chosen.perceptron.held_out = 0;
    return chosen;
}

std::vector<PublishedRegression> fit_thesis(Learner learner, Metric metric, std::span<const Observation> rows,
                                            const MethodSettings& settings) {
    std::vector<PublishedRegression> regressions;
    for (const auto& [key, of_key] : by_key(PublishedMethod::thesis, rows)) {
        PublishedRegression regression;
        regression.key = key;
        regression.metric = metric;
        regression.learner = learner;
        regressions.push_back(fit_one(PublishedMethod::thesis, std::move(regression), of_key, settings));
    }
    return regressions;
}

std::vector<PublishedRegression> fit_method(PublishedMethod method, Metric metric, std::span<const Observation> rows,
                                            const MethodSettings& settings) {
    return method == PublishedMethod::thesis ? fit_thesis(Learner::random_forest, metric, rows, settings)
                                             : fit_sponner(metric, rows, settings);
}

std::vector<PublishedRegression> refit(PublishedMethod method, std::span<const PublishedRegression> like,
                                       std::span<const Observation> rows, const MethodSettings& settings) {
    const KeyedRows keyed = by_key(method, rows);
    std::vector<PublishedRegression> regressions;
    for (const PublishedRegression& regression : like) {
        const auto found = keyed.find(regression.key);
        if (found == keyed.end() || found->second.size() < least_rows(method)) continue;
        PublishedRegression blank;
        blank.key = regression.key;
        blank.metric = regression.metric;
        blank.learner = regression.learner;
        regressions.push_back(fit_one(method, std::move(blank), found->second, settings));
    }
    return regressions;
}

}  // namespace joulecast
