#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/baselines/layer_regression.h"

namespace joulecast {

struct SparsePolynomialSettings {
    std::size_t special = 0;      ///< the last columns enter as they are, the others as products of up to `degree`
    std::size_t most_degree = 3;  ///< the degree is chosen up to this one
    std::size_t folds = 10;       ///< inner, grouped: choose degree and penalty
    std::uint64_t seed = 1;
};

/// Products of columns, chosen by the lasso (Tibshirani 1996; coordinate descent as in Friedman et al. 2010). Degree,
/// penalty, and whether the weights of the chosen products are fitted anew by least squares are those of the least
/// inner error.
Regression fit_sparse_polynomial(const LayerRows& rows, const SparsePolynomialSettings& settings);

}  // namespace joulecast
