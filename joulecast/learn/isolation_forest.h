#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "joulecast/learn/forest.h"
#include "joulecast/learn/samples.h"

namespace joulecast {

struct IsolationSettings {
    std::size_t trees = 100;
    std::size_t rows_per_tree = 256;  ///< drawn without replacement; all of them where there are fewer
    std::uint64_t seed = 1;
};

/// Trees that cut a random column at a random place until a row stands alone: odd rows do so early (Liu, Ting, Zhou
/// 2008, "Isolation Forest", algorithms 1 to 3). The leaves of the flat forest hold path lengths, so the walker of all
/// other forests gives their mean.
struct IsolationForest {
    Forest forest;
    double usual_length = 0;  ///< c(rows of a tree): mean length of an unsuccessful search in a binary search tree
};

/// Deterministic by seed. A missing value lies to the right of every cut. Throws Error for no rows, columns or trees.
IsolationForest fit_isolation_forest(const Samples& samples, const IsolationSettings& settings);

/// 2^(-mean path length / usual length), in (0, 1): 0.5 for an ordinary row, near 1 for one that is alone (equation 2
/// there). 0.5 where no row could be told from another.
double anomaly_score(const IsolationForest& isolation, std::span<const float> row);

/// c(n), equation 1 there: 2 H(n - 1) - 2 (n - 1) / n with H(i) = ln(i) + 0.5772...; 1 for two rows, 0 for fewer.
double usual_path_length(std::size_t rows);

}  // namespace joulecast
