#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "joulecast/learn/samples.h"

namespace joulecast {

/// How models that compute with values (all but trees) see a row: every column less its mean over its deviation. A
/// missing value becomes the mean of its column; each column that was missing in some training rows and present in
/// others is followed, behind the last column, by one that says 1 where it is missing and 0 where not.
struct Standardisation {
    std::vector<double> means;           ///< of the columns, then of the flags
    std::vector<double> scales;          ///< standard deviation, n in the denominator; 1 for a constant column
    std::vector<std::uint32_t> flagged;  ///< columns with a flag, ascending

    /// Columns of a row before and after.
    std::size_t columns() const { return means.size() - flagged.size(); }
    std::size_t width() const { return means.size(); }

    friend bool operator==(const Standardisation&, const Standardisation&) = default;
};

/// Means and deviations of the training rows. With `scaled` false every scale is 1.
Standardisation fit_standardisation(const Samples& samples, bool scaled = true);

/// The row as models compute with it; NaN and infinities count as missing. Its size must be columns().
std::vector<double> prepared(const Standardisation& standardisation, std::span<const float> row);
/// The same of a training row.
std::vector<double> prepared(const Standardisation& standardisation, const Samples& samples, std::size_t row);
/// Rounded to float32: what models compare that keep many rows.
std::vector<float> prepared_short(const Standardisation& standardisation, std::span<const float> row);

/// Throws FormatError unless it takes rows of `columns` values and all of its numbers are finite.
void check(const Standardisation& standardisation, std::size_t columns);

/// Mean and standard deviation of the targets (n in the denominator; 1 where they are all alike).
struct TargetScale {
    double mean = 0;
    double scale = 1;
    friend bool operator==(const TargetScale&, const TargetScale&) = default;
};
TargetScale target_scale(std::span<const double> targets);
void check(const TargetScale& scale);

}  // namespace joulecast
