#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "joulecast/model/predictor.h"
#include "joulecast/train/published/layer_rows.h"

namespace joulecast {

struct MethodSettings {
    std::uint64_t seed = 1;
    unsigned threads = 0;
};

/// The libraries' defaults, where a paper names no others: scikit-learn's, and XGBoost's for xgboost.
LearnerSettings published_defaults(Learner learner, const MethodSettings& settings);

/// The regressions of one metric by a published method, fitted to the values themselves; `half_width` is left at zero.
/// Thesis: a random forest for each device, mode and computing type. Sponner et al.: for each device and layer type of
/// three rows or more the best of seven learners. Throws Error for values that are not finite.
std::vector<PublishedRegression> fit_method(PublishedMethod method, Metric metric, std::span<const Observation> rows,
                                            const MethodSettings& settings);
/// The thesis' with another learner (its XGBoost).
std::vector<PublishedRegression> fit_thesis(Learner learner, Metric metric, std::span<const Observation> rows,
                                            const MethodSettings& settings);
/// The same regressions with the learners that these have, fitted to other rows: those of held-out folds. A key that
/// the rows have too few of is left out.
std::vector<PublishedRegression> refit(PublishedMethod method, std::span<const PublishedRegression> like,
                                       std::span<const Observation> rows, const MethodSettings& settings);

}  // namespace joulecast
