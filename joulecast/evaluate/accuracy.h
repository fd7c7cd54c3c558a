#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/units/statistics.h"

namespace joulecast {

/// One held-out row: what --predictions writes, and all that accuracies are computed from.
struct OutOfFoldRow {
    std::string model;   ///< "joulecast", a baseline ("thesis_forest", ...) or a learner
    std::string metric;  ///< "time_s", "power_w", "energy_j", "peak_memory_bytes"
    std::string family;
    std::string device;
    std::string mode;  ///< "inference", "training"
    std::string math;  ///< "ieee", "tf32"
    std::size_t fold = 0;
    std::string group;
    double measured = 0;
    double predicted = 0;                                   ///< NaN where the model has no forecast
    std::string no_forecast_reason;                         ///< of a published method; empty where it has a forecast
    double low = std::numeric_limits<double>::quiet_NaN();  ///< NaN where the model gives no interval
    double high = std::numeric_limits<double>::quiet_NaN();
};

/// How often intervals hold what was measured, and what so many rows can tell of it.
struct Coverage {
    std::int64_t rows = 0;  ///< with an interval
    std::int64_t inside = 0;
    double share = std::numeric_limits<double>::quiet_NaN();
    ShareBounds bounds{std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::quiet_NaN()};  ///< exact binomial, 95 %
    double width = std::numeric_limits<double>::quiet_NaN();       ///< mean of (high - low) / predicted

    /// Whether the bounds hold 0.90; absent without rows.
    std::optional<bool> contains_90() const;
};

/// One interval against what was measured.
struct IntervalOutcome {
    bool inside = false;
    double width = std::numeric_limits<double>::quiet_NaN();  ///< relative; NaN: not defined
};
Coverage coverage(std::span<const IntervalOutcome> outcomes);

/// Percentages as fractions; errors in the metric's unit; NaN where not defined (one row, zero variance, no interval).
struct Accuracy {
    std::string model;
    std::string metric;
    std::string family;  ///< "all" or one
    std::string device;
    std::string mode;  ///< "all" or one
    std::string math;
    std::int64_t rows = 0;  ///< with a forecast: all below is of them
    std::int64_t groups = 0;
    std::int64_t rows_without_forecast = 0;
    double r2 = std::numeric_limits<double>::quiet_NaN();
    double r2_fold_mean = std::numeric_limits<double>::quiet_NaN();
    double r2_fold_std = std::numeric_limits<double>::quiet_NaN();  ///< of the folds, n in the denominator
    double r2_log = std::numeric_limits<double>::quiet_NaN();       ///< over rows with both values positive
    double mape = std::numeric_limits<double>::quiet_NaN();         ///< over rows with a measured value above zero
    double median_ape = std::numeric_limits<double>::quiet_NaN();
    double mae = std::numeric_limits<double>::quiet_NaN();
    double medae = std::numeric_limits<double>::quiet_NaN();
    double max_error = std::numeric_limits<double>::quiet_NaN();
    double bias = std::numeric_limits<double>::quiet_NaN();  ///< geometric mean of predicted / measured, less 1
    Coverage interval;
};

/// One line per (model, metric, device, math), "all", then one per family that has a forecast; where both modes occur
/// then the same of each.
std::vector<Accuracy> accuracies(std::span<const OutOfFoldRow> rows);

/// The first of those lines for each model and metric: of one device and math, that of all families and modes.
std::vector<Accuracy> overall_accuracies(std::span<const OutOfFoldRow> rows);

/// 1 - residual / total sum of squares; NaN for fewer than two rows or no variance.
double r_squared(std::span<const double> measured, std::span<const double> predicted);

}  // namespace joulecast
