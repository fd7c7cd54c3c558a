#include "joulecast/evaluate/baselines/published_baseline.h"
#include "joulecast/train/published/fit_method.h"

namespace joulecast {
namespace {

Fitted fit(Learner learner, Observations rows, const BaselineSettings& settings) {
    const Metric metric = metric_of(settings);
    return published_baseline(
        {PublishedMethod::thesis, fit_thesis(learner, metric, rows, {settings.seed, settings.threads})}, metric);
}

}  // namespace

Fitted fit_thesis_forest(Observations rows, const BaselineSettings& settings) {
    return fit(Learner::random_forest, rows, settings);
}

Fitted fit_thesis_xgboost(Observations rows, const BaselineSettings& settings) {
    return fit(Learner::xgboost, rows, settings);
}

}  // namespace joulecast
