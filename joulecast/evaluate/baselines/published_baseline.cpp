#include "joulecast/evaluate/baselines/published_baseline.h"

#include <cassert>
#include <limits>
#include <utility>

namespace joulecast {
namespace {

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

}  // namespace

Metric metric_of(const BaselineSettings& settings) {
    assert(settings.metric != BaselineMetric::energy);
    return settings.metric == BaselineMetric::time ? Metric::time : Metric::power;
}

Fitted published_baseline(PublishedModel model, Metric metric) {
    return std::make_unique<Published>(std::move(model), metric);
}

}  // namespace joulecast
