#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace joulecast {

/// One node of a tree in preorder: the left child of node i is i + 1.
struct ForestNode {
    std::int32_t feature = -1;  ///< column compared; -1 for a leaf
    float value = 0;            ///< threshold (left when x <= threshold; NaN goes right), or the leaf's mean
    std::int32_t right = 0;     ///< index of the right child; unused in a leaf

    friend bool operator==(const ForestNode&, const ForestNode&) = default;
};

/// What every tree learner returns: regression trees laid flat, one behind the other.
struct Forest {
    std::vector<ForestNode> nodes;
    std::vector<std::int32_t> roots;  ///< index of each tree's root

    friend bool operator==(const Forest&, const Forest&) = default;
};

/// What one tree says. The row must have every column that the tree compares.
double predict_tree(const Forest& forest, std::size_t tree, std::span<const float> row);

/// Mean over the trees; throws Error for a forest without trees.
double predict(const Forest& forest, std::span<const float> row);

/// Throws FormatError unless every tree is complete, in preorder, compares columns below `columns` and holds finite
/// numbers: after that no walk can leave the arrays or fail to end.
void check(const Forest& forest, std::size_t columns);

}  // namespace joulecast
