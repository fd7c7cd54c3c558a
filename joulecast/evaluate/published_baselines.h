#pragma once

#include "joulecast/evaluate/baseline.h"
#include "joulecast/model/published_method.h"

// The published methods that joulecast has predictors of (`joulecast train --method`), as baselines: fitted by the same
// code. All throw Error where the rows cannot be learned from (a value that is not finite); no rows at all, or too few
// of a layer type, leave gaps.

namespace joulecast {

/// Nicolai 2025, chapter 4: one random forest per GPU setting and mode on the raw value, all operators together.
std::unique_ptr<FittedBaseline> fit_thesis_forest(std::span<const Observation> rows, const BaselineSettings& settings);
/// The same input to XGBoost with its defaults (Nicolai 2025, section 5.2).
std::unique_ptr<FittedBaseline> fit_thesis_xgboost(std::span<const Observation> rows, const BaselineSettings& settings);
/// Sponner, Waschneck, Kumar 2022, section 6: the best of seven regressors per device, layer type and metric.
std::unique_ptr<FittedBaseline> fit_sponner_best(std::span<const Observation> rows, const BaselineSettings& settings);

inline constexpr std::string_view gaps_of_the_thesis =
    "fitted per device, mode and type: nothing where none was measured, for a layer whose name no training row has, "
    "and where a regression ends at zero or below";

inline constexpr Baseline thesis_forest{
    "thesis_forest", "Nicolai 2025", gaps_of_the_thesis, true, Baseline::Energy::time_times_power, fit_thesis_forest};
inline constexpr Baseline thesis_xgboost{
    "thesis_xgboost", "Nicolai 2025", gaps_of_the_thesis, true, Baseline::Energy::time_times_power, fit_thesis_xgboost};
inline constexpr Baseline sponner_best{
    "sponner_best",
    "Sponner et al. 2022",
    "fitted per device (and layer type): nothing for a device or type without three measured operations, and where a "
    "regression ends at zero or below",
    true,
    Baseline::Energy::time_times_power,
    fit_sponner_best};

/// The baseline that forecasts what a predictor of that method does.
const Baseline& baseline_of(PublishedMethod method);

}  // namespace joulecast
