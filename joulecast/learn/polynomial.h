#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "joulecast/learn/samples.h"
#include "joulecast/learn/standardisation.h"

namespace joulecast {

/// Linear in the prepared columns, and in the products of some of them: linear, ridge and polynomial regression.
struct Polynomial {
    Standardisation inputs;
    double intercept = 0;
    std::vector<double> weights;          ///< one per prepared column
    std::vector<std::uint32_t> factors;   ///< prepared columns that enter as products; none for a linear model
    std::vector<double> product_weights;  ///< of factors i <= j, in the order (0,0) (0,1) ... (1,1) (1,2) ...

    friend bool operator==(const Polynomial&, const Polynomial&) = default;
};

/// How linear models are fitted.
struct LinearSettings {
    bool scaled = true;  ///< columns over their deviation; false: only less their mean
    /// Penalty on the squared weights, as scikit-learn's Ridge counts it; 0: least squares, of least norm where the
    /// columns are dependent. Absent: of 10^-3 .. 10^3 the one with the least squared error over five inner folds.
    std::optional<double> alpha;
    /// Columns whose products of degree two enter: those that correlate most with the target. 0: none.
    std::size_t factors = 0;
    std::vector<std::size_t> groups;  ///< per row, what inner folds keep together; empty: every row for itself
    std::uint64_t seed = 1;
};

/// By QR decomposition of blocks of rows, so memory does not grow with their number; O(rows * terms * min(rows,
/// terms)). Throws Error for a penalty below zero.
Polynomial fit_polynomial(const Samples& samples, std::span<const double> targets, const LinearSettings& settings);

double predict(const Polynomial& model, std::span<const float> row);
void check(const Polynomial& model, std::size_t columns);

}  // namespace joulecast
