#include <map>
#include <set>
#include <string>
#include <vector>

#include "joulecast/evaluate/baselines/attributes.h"
#include "joulecast/evaluate/baselines/layer_regression.h"

namespace joulecast {
namespace {

/// The thesis collects a data set per GPU, mode and tensor-core setting, and trains one predictor on each.
std::string data_set(const Subject& subject) {
    const Operation& operation = subject.operation->operation;
    return subject.device->id + "|" + std::string(name(mode(operation))) + "|" +
           std::string(name(compute_dtype(operation)));
}

class Thesis : public FittedBaseline {
  public:
    Thesis(Observations rows, Learner learner, const LearnerSettings& settings) {
        std::set<std::string> names;
        std::map<std::string, std::vector<const Observation*>> sets;
        for (const Observation& row : rows) {
            names.insert(layer_name(row.subject.operation->operation));
            sets[data_set(row.subject)].push_back(&row);
        }
        names_.assign(names.begin(), names.end());
        for (const auto& [key, of_set] : sets) {
            LayerRows all{Samples(of_set.size(), thesis_row(of_set.front()->subject, names_).size()), {}, {}};
            for (std::size_t i = 0; i < of_set.size(); ++i) {
                all.samples.set_row(i, thesis_row(of_set[i]->subject, names_));
                all.targets.push_back(of_set[i]->value);
            }
            predictors_[key] = fit_learner(learner, all, settings);
        }
    }

    double forecast(const Subject& subject) const override {
        const auto found = predictors_.find(data_set(subject));
        if (found == predictors_.end()) return std::numeric_limits<double>::quiet_NaN();
        return found->second(thesis_row(subject, names_));
    }

  private:
    std::vector<std::string> names_;
    std::map<std::string, Regression> predictors_;
};

}  // namespace

Fitted fit_thesis_forest(Observations rows, const BaselineSettings& settings) {
    // scikit-learn's defaults: 100 trees on squared error, all columns at every split, bootstrap.
    LearnerSettings forest;
    forest.trees.trees = 100;
    forest.trees.bootstrap = true;
    forest.trees.seed = forest.seed = settings.seed;
    forest.trees.threads = forest.threads = settings.threads;
    return std::make_unique<Thesis>(rows, Learner::random_forest, forest);
}

Fitted fit_thesis_xgboost(Observations rows, const BaselineSettings& settings) {
    // XGBRegressor's defaults.
    LearnerSettings boosted;
    boosted.boost.rounds = 100;
    boosted.boost.learning_rate = 0.3;
    boosted.seed = settings.seed;
    boosted.threads = settings.threads;
    return std::make_unique<Thesis>(rows, Learner::xgboost, boosted);
}

}  // namespace joulecast
