#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "joulecast/learn/learner.h"
#include "joulecast/learn/random.h"

namespace joulecast {

/// Grows one regression tree. Split choice as in scikit-learn, which is the oracle: columns are tried in random order
/// until the wanted number was seen and one of them was not constant; values closer than 1e-7 count as equal.
class TreeGrower {
  public:
    TreeGrower(const Samples& samples, std::span<const double> targets, const TreeSettings& settings, Random& random);

    /// The tree over these rows (repeats allowed), in preorder.
    std::vector<ForestNode> grow(std::vector<std::uint32_t> rows);

  private:
    struct Split {
        std::size_t column = 0;
        float threshold = 0;
        double score = 0;  ///< sum_left^2 / n_left + sum_right^2 / n_right: larger is less squared error
    };
    struct Range {
        std::size_t begin = 0;
        std::size_t end = 0;
        std::size_t depth = 0;
        std::int32_t parent = -1;  ///< whose right child this is
    };

    std::optional<Split> find_split(const Range& range);
    std::optional<Split> best_threshold(const Range& range, std::size_t column);
    std::optional<Split> random_threshold(const Range& range, std::size_t column);
    /// Mean of the targets, and whether they are all alike.
    std::pair<double, bool> summary(const Range& range) const;

    const Samples& samples_;
    std::span<const double> targets_;
    const TreeSettings& settings_;
    Random& random_;
    std::vector<std::uint32_t> rows_;
    std::vector<std::size_t> columns_;
    std::vector<std::pair<float, double>> sorted_;  ///< scratch: value and target
};

}  // namespace joulecast
