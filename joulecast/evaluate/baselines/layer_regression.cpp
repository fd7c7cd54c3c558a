#include "joulecast/evaluate/baselines/layer_regression.h"

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
            if (of_kind.size() >= recipe.least_rows) regressions_[kind] = recipe.fit(layer_rows(of_kind));
        }
    }

    double forecast(const Subject& subject) const override {
        const auto found = regressions_.find(key_(subject));
        if (found == regressions_.end()) return std::numeric_limits<double>::quiet_NaN();
        return found->second(features_(subject));
    }

  private:
    LayerRows layer_rows(const std::vector<const Observation*>& rows) const {
        LayerRows all{Samples(rows.size(), features_(rows.front()->subject).size()), {}, {}};
        std::map<std::string_view, std::size_t> groups;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            all.samples.set_row(i, features_(rows[i]->subject));
            all.targets.push_back(rows[i]->value);
            all.groups.push_back(groups.try_emplace(rows[i]->group, groups.size()).first->second);
        }
        return all;
    }

    std::string (*key_)(const Subject&);
    std::vector<float> (*features_)(const Subject&);
    std::map<std::string, Regression> regressions_;
};

}  // namespace

std::vector<float> LayerRows::features(std::size_t row) const {
    return samples.row(row);
}

Fitted fit_per_layer(Observations rows, const LayerRegression& recipe) {
    return std::make_unique<PerLayer>(rows, recipe);
}

Regression fit_learner(Learner learner, const LayerRows& rows, LearnerSettings settings) {
    settings.groups = rows.groups;
    settings.most_compared_rows = rows.targets.size();  // methods of others learn from every row, whatever it takes
    // A model is not copied with every copy of the function.
    const auto model = std::make_shared<const Model>(fit_model(learner, rows.samples, rows.targets, settings));
    return [model](std::span<const float> row) { return predict(*model, row); };
}

}  // namespace joulecast
