#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/forecast/published/subject.h"
#include "joulecast/model/predictor.h"
#include "joulecast/model/published_method.h"

namespace joulecast {

// Predictors of the two papers (docs/seeds.md), as models of a device. The same code fits the baselines thesis_forest
// and sponner_best of joulecast/evaluate/published_baselines.h.

/// What shares a regression. Thesis: device, mode and computing type, all layers together; Sponner et al.: device and
/// layer type.
std::string regression_key(PublishedMethod method, const Subject& subject);
/// The columns of the subject in that regression.
std::vector<float> regression_row(PublishedMethod method, const Subject& subject,
                                  const PublishedRegression& regression);

/// What a method says of a subject, in the metric's unit.
struct PublishedForecast {
    double value = 0;
    double half_width = 0;  ///< of the 90 % interval, in log
    bool inside = true;     ///< every column within the trained range
};

/// Absent where the method cannot tell: no regression of its key, a layer that no row was of, a time or power that is
/// not above zero, memory below zero.
std::optional<PublishedForecast> forecast(const PublishedModel& model, Metric metric, const Subject& subject);

/// An operation as the device's method sees it: at the clock that it was prepared for.
Subject subject_of(const DeviceModel& device, const PreparedOperation& operation);

}  // namespace joulecast
