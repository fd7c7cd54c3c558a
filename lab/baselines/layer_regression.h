#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/learn/model.h"
#include "joulecast/train/published/layer_rows.h"
#include "lab/baselines/fits.h"

namespace joulecast {

/// A fitted regression: features to the metric's value.
using Regression = std::function<double(std::span<const float>)>;

/// How a paper fits one regression per kind of layer.
struct LayerRegression {
    std::string (*key)(const Subject&) = nullptr;  ///< what shares a regression
    std::vector<float> (*features)(const Subject&) = nullptr;
    std::function<Regression(const LayerRows&)> fit;
    std::size_t least_rows = 3;  ///< below, the kind of layer has no forecast
};

Fitted fit_per_layer(Observations rows, const LayerRegression& recipe);

/// The learner as a regression.
Regression fit_learner(Learner learner, const LayerRows& rows, LearnerSettings settings);

}  // namespace joulecast
