#pragma once

#include "joulecast/evaluate/baselines/fits.h"
#include "joulecast/forecast/published/method.h"

namespace joulecast {

/// Of time or power, which the published predictors forecast; their energy is the product.
Metric metric_of(const BaselineSettings& settings);
/// What a predictor of that method forecasts (`joulecast train --method`), as a baseline.
Fitted published_baseline(PublishedModel model, Metric metric);

}  // namespace joulecast
