#include "joulecast/learn/standardisation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "joulecast/error.h"

namespace joulecast {
namespace {

struct Moments {
    double mean = 0;
    double scale = 1;
};

/// scikit-learn's rule: a variance that rounding alone explains is none.
double scale_of(double variance, double mean, double count) {
    constexpr double eps = std::numeric_limits<double>::epsilon();
    const double rounding = count * eps * variance + (count * mean * eps) * (count * mean * eps);
    return variance <= rounding ? 1 : std::sqrt(variance);
}

/// Over the finite values; a column without any has mean 0.
Moments moments(std::span<const float> column) {
    double sum = 0;
    double count = 0;
    for (const float value : column) {
        if (!std::isfinite(value)) continue;
        sum += static_cast<double>(value);
        count += 1;
    }
    if (count == 0) return {};
    const double mean = sum / count;
    double squares = 0;
    for (const float value : column) {
        if (std::isfinite(value)) squares += (static_cast<double>(value) - mean) * (static_cast<double>(value) - mean);
    }
    // A missing value is put at the mean and adds nothing to the variance: n counts all rows.
    const auto rows = static_cast<double>(column.size());
    return {mean, scale_of(squares / rows, mean, rows)};
}

template <class At>
std::vector<double> prepare_with(const Standardisation& standardisation, At at) {
    std::vector<double> values(standardisation.width());
    const std::size_t columns = standardisation.columns();
    for (std::size_t column = 0; column < columns; ++column) {
        const double value = static_cast<double>(at(column));
        if (std::isfinite(value)) {
            values[column] = (value - standardisation.means[column]) / standardisation.scales[column];
        }
    }
    for (std::size_t i = 0; i < standardisation.flagged.size(); ++i) {
        const double flag = std::isfinite(at(standardisation.flagged[i])) ? 0 : 1;
        values[columns + i] = (flag - standardisation.means[columns + i]) / standardisation.scales[columns + i];
    }
    return values;
}

bool all_finite(std::span<const double> values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace

Standardisation fit_standardisation(const Samples& samples, bool scaled) {
    Standardisation result;
    const auto rows = static_cast<double>(samples.rows());
    for (std::size_t column = 0; column < samples.columns(); ++column) {
        const Moments of_column = moments(samples.column(column));
        result.means.push_back(of_column.mean);
        result.scales.push_back(scaled ? of_column.scale : 1);
    }
    for (std::size_t column = 0; column < samples.columns(); ++column) {
        const auto values = samples.column(column);
        const auto missing = std::count_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
        const double share = static_cast<double>(missing) / rows;
        if (share == 0 || share == 1) continue;
        result.flagged.push_back(static_cast<std::uint32_t>(column));
        result.means.push_back(share);
        result.scales.push_back(scaled ? std::sqrt(share * (1 - share)) : 1);
    }
    return result;
}

std::vector<double> prepared(const Standardisation& standardisation, std::span<const float> row) {
    if (row.size() != standardisation.columns()) {
        throw Error("a model of " + std::to_string(standardisation.columns()) + " columns was given a row of " +
                    std::to_string(row.size()));
    }
    return prepare_with(standardisation, [&](std::size_t column) { return row[column]; });
}

std::vector<double> prepared(const Standardisation& standardisation, const Samples& samples, std::size_t row) {
    return prepare_with(standardisation, [&](std::size_t column) { return samples.at(row, column); });
}

std::vector<float> prepared_short(const Standardisation& standardisation, std::span<const float> row) {
    const auto values = prepared(standardisation, row);
    std::vector<float> rounded(values.size());
    std::transform(values.begin(), values.end(), rounded.begin(), [](double v) { return static_cast<float>(v); });
    return rounded;
}

void check(const Standardisation& standardisation, std::size_t columns) {
    const std::size_t flags = standardisation.flagged.size();
    if (standardisation.scales.size() != standardisation.means.size() ||
        standardisation.means.size() != columns + flags)
        throw FormatError("a standardisation has other columns than the feature list");
    if (!all_finite(standardisation.means) || !all_finite(standardisation.scales))
        throw FormatError("a standardisation holds a number that is not finite");
    if (std::any_of(standardisation.scales.begin(), standardisation.scales.end(), [](double s) { return !(s > 0); }))
        throw FormatError("a standardisation has a scale that is not positive");
    for (std::size_t i = 0; i < flags; ++i) {
        const bool ascending = i == 0 || standardisation.flagged[i - 1] < standardisation.flagged[i];
        if (!ascending || standardisation.flagged[i] >= columns)
            throw FormatError("a standardisation flags columns that are not there");
    }
}

TargetScale target_scale(std::span<const double> targets) {
    const auto count = static_cast<double>(targets.size());
    double sum = 0;
    for (const double target : targets) sum += target;
    const double mean = sum / count;
    double squares = 0;
    for (const double target : targets) squares += (target - mean) * (target - mean);
    return {mean, scale_of(squares / count, mean, count)};
}

void check(const TargetScale& scale) {
    if (!std::isfinite(scale.mean) || !std::isfinite(scale.scale))
        throw FormatError("the scale of a model's target is not finite");
}

}  // namespace joulecast
