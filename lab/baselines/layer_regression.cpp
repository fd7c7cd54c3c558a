#include "lab/baselines/layer_regression.h"

#include <map>
#include <memory>
#include <utility>

namespace joulecast {
namespace {

class PerLayer : public FittedBaseline {
  public:
    PerLayer(Observations rows, const LayerRegression& recipe) : key_(recipe.key), features_(recipe.features) {
        std::map<std::string, std::vector<const Observation*>> kinds;
        for (const Observation& row : rows) kinds[key_(row.subject)].push_back(&row);
        for (const auto& [kind, of_kind] : kinds) {
            if (of_kind.size() >= recipe.least_rows) regressions_[kind] = recipe.fit(layer_rows(of_kind, features_));
        }
    }

    double forecast(const Subject& subject) const override {
        const auto found = regressions_.find(key_(subject));
        if (found == regressions_.end()) return std::numeric_limits<double>::quiet_NaN();
        return found->second(features_(subject));
    }

  private:
    std::string (*key_)(const Subject&);
    std::vector<float> (*features_)(const Subject&);
    std::map<std::string, Regression> regressions_;
};

}  // namespace

Fitted fit_per_layer(Observations rows, const LayerRegression& recipe) {
    return std::make_unique<PerLayer>(rows, recipe);
}

Regression fit_learner(Learner learner, const LayerRows& rows, LearnerSettings settings) {
    // A model is not copied with every copy of the function.
    const auto model = std::make_shared<const Model>(fit_layer_model(learner, rows, std::move(settings)));
    return [model](std::span<const float> row) { return predict(*model, row); };
}

}  // namespace joulecast
