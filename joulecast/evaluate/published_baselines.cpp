#include "joulecast/evaluate/published_baselines.h"

#include <cassert>
#include <limits>
#include <utility>

#include "joulecast/forecast/published/method.h"
#include "joulecast/train/published/fit_method.h"

namespace joulecast {
namespace {

using Observations = std::span<const Observation>;

class Published : public FittedBaseline {
  public:
    Published(PublishedModel model, Metric metric) : model_(std::move(model)), metric_(metric) {}

    double forecast(const Subject& subject) const override {
        const auto found = joulecast::forecast(model_, metric_, subject);
        return found ? found->value : std::numeric_limits<double>::quiet_NaN();
    }

  private:
    PublishedModel model_;
    Metric metric_;
};

/// Of time or power, which the published predictors forecast; their energy is the product.
Metric metric_of(const BaselineSettings& settings) {
    assert(settings.metric != BaselineMetric::energy);
    return settings.metric == BaselineMetric::time ? Metric::time : Metric::power;
}

std::unique_ptr<FittedBaseline> fit_thesis_with(Learner learner, Observations rows, const BaselineSettings& settings) {
    const Metric metric = metric_of(settings);
    return std::make_unique<Published>(
        PublishedModel{PublishedMethod::thesis, fit_thesis(learner, metric, rows, {settings.seed, settings.threads})},
        metric);
}

}  // namespace

std::unique_ptr<FittedBaseline> fit_thesis_forest(Observations rows, const BaselineSettings& settings) {
    return fit_thesis_with(Learner::random_forest, rows, settings);
}

std::unique_ptr<FittedBaseline> fit_thesis_xgboost(Observations rows, const BaselineSettings& settings) {
    return fit_thesis_with(Learner::xgboost, rows, settings);
}

std::unique_ptr<FittedBaseline> fit_sponner_best(Observations rows, const BaselineSettings& settings) {
    const Metric metric = metric_of(settings);
    return std::make_unique<Published>(
        PublishedModel{PublishedMethod::sponner,
                       fit_method(PublishedMethod::sponner, metric, rows, {settings.seed, settings.threads})},
        metric);
}

const Baseline& baseline_of(PublishedMethod method) {
    return method == PublishedMethod::thesis ? thesis_forest : sponner_best;
}

}  // namespace joulecast
