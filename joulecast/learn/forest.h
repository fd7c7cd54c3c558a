#pragma once

#include <cstddef>
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

/// The node of the leaf in which the row ends. The row must have every column that the tree compares.
std::size_t leaf_of(const Forest& forest, std::size_t tree, std::span<const float> row);

/// What one tree says: the value of that leaf.
double predict_tree(const Forest& forest, std::size_t tree, std::span<const float> row);

/// What every tree says of one row, in the order of the trees; `values` has one place a tree. Several trees are walked
/// at once, so that their loads overlap.
void predict_trees(const Forest& forest, std::span<const float> row, std::span<double> values);

/// Mean over the trees; throws Error for a forest without trees.
double predict(const Forest& forest, std::span<const float> row);

/// Rows of features, one behind the other.
struct FeatureRows {
    std::span<const float> values;
    std::size_t columns = 0;

    std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
};

/// The same mean for each row, bit for bit: blocks of rows tree by tree, several rows of a block at once, without a
/// branch that a processor could guess wrongly. `means` has one place a row.
/// Throws Error for a forest without trees, or where the number of values or of places does not fit the rows.
void predict(const Forest& forest, const FeatureRows& rows, std::span<double> means);

/// Throws FormatError unless every tree is complete, in preorder, compares columns below `columns` and holds finite
/// numbers: after that no walk can leave the arrays or fail to end.
void check(const Forest& forest, std::size_t columns);

}  // namespace joulecast
