#include "joulecast/forecast/published/attributes.h"
#include "joulecast/train/published/fit_method.h"
#include "lab/baselines/layer_regression.h"

namespace joulecast {
namespace {

MethodSettings method_settings(const BaselineSettings& settings) {
    return {settings.seed, settings.threads};
}

LayerRegression with(Learner learner, const BaselineSettings& settings) {
    return {layer_type_on_device, sponner_row, [=](const LayerRows& rows) {
                return fit_learner(learner, rows, published_defaults(learner, method_settings(settings)));
            }};
}

}  // namespace

Fitted fit_sponner_ert(Observations rows, const BaselineSettings& settings) {
    return fit_per_layer(rows, with(Learner::extra_trees, settings));
}

Fitted fit_sponner_knn(Observations rows, const BaselineSettings& settings) {
    return fit_per_layer(rows, with(Learner::knn, settings));
}

Fitted fit_template_matching(Observations rows, const BaselineSettings& settings) {
    LearnerSettings closest = published_defaults(Learner::knn, method_settings(settings));
    closest.neighbours.k = 1;
    LayerRegression recipe{layer_type_on_device, layer_hyper_parameters,
                           [&](const LayerRows& of_layer) { return fit_learner(Learner::knn, of_layer, closest); }};
    recipe.least_rows = 1;
    return fit_per_layer(rows, recipe);
}

}  // namespace joulecast
