#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/predict/model.h"
#include "joulecast/predict/published/subject.h"

namespace joulecast {

// Predictors of the two papers (docs/seeds.md), as models of a device. The same code fits the baselines thesis_forest
// and sponner_best of joulecast/evaluate/baselines.

/// "thesis", "sponner": as options and JSON name it.
std::string_view name(PublishedMethod method);
std::optional<PublishedMethod> parse_published_method(std::string_view text);
/// "Nicolai 2025", "Sponner et al. 2022".
std::string_view paper(PublishedMethod method);
/// "thesis_forest", "sponner_best": the baseline that forecasts the same.
std::string_view baseline_name(PublishedMethod method);
/// "thesis (Nicolai 2025)".
std::string description(PublishedMethod method);

/// That of the predictor's devices; "joulecast" for its own.
std::string_view method_name(const Predictor& predictor);

/// "Nicolai 2025"; empty for joulecast's own.
std::string_view method_paper(const Predictor& predictor);

/// What shares a regression. Thesis: device, mode and computing type, all layers together; Sponner et al.: device and
/// layer type.
std::string regression_key(PublishedMethod method, const Subject& subject);
/// How many columns a regression of those layers has.
std::size_t column_count(PublishedMethod method, std::size_t layers);
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
