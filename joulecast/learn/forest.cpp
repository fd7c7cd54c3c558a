#include "joulecast/learn/forest.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "joulecast/error.h"

namespace joulecast {
namespace {

/// Checks the tree that starts at `root` and returns the index behind its last node.
std::size_t check_tree(const std::vector<ForestNode>& nodes, std::size_t root, std::size_t columns) {
    // Right children that are still to come, innermost last: in preorder each begins where its left sibling ends.
    std::vector<std::int32_t> awaited;
    for (std::size_t at = root; at < nodes.size(); ++at) {
        const ForestNode& node = nodes[at];
        if (!std::isfinite(node.value)) throw FormatError("a forest holds a number that is not finite");
        if (node.feature >= 0) {
            if (static_cast<std::size_t>(node.feature) >= columns) {
                throw FormatError("a tree compares feature " + std::to_string(node.feature) + " of " +
                                  std::to_string(columns));
            }
            awaited.push_back(node.right);
            continue;
        }
        if (node.feature != -1) throw FormatError("a tree node has no valid feature");
        if (awaited.empty()) return at + 1;
        if (awaited.back() < 0 || static_cast<std::size_t>(awaited.back()) != at + 1) {
            throw FormatError("a tree is not in preorder");
        }
        awaited.pop_back();
    }
    throw FormatError("a tree ends before all of its branches do");
}

/// Walks under way at once: enough to hide the latency of a load from the second-level cache behind the others'.
constexpr std::size_t lanes = 8;
/// Rows that go through a tree before the next tree is loaded. Many, since loading a tree is what costs; no more, so
/// that the rows of a block stay in the last-level cache.
constexpr std::size_t rows_per_block = 8192;
/// Packing the nodes of a forest takes about as long as walking with so many rows.
constexpr std::size_t fewest_rows_to_pack = 64;

/// Where a walk stands, and the row it compares.
struct Lanes {
    std::array<std::int32_t, lanes> at;
    std::array<const float*, lanes> row;
};

/// One step down for every lane; a lane at its leaf stays there. False when all have arrived.
inline bool step(const ForestNode* nodes, Lanes& walks) {
    std::int32_t all_arrived = -1;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        const std::int32_t here = walks.at[lane];
        const ForestNode& node = nodes[here];
        // All ones for a leaf. Then column 0 is read for nothing: cheaper than a branch that is guessed wrongly.
        const std::int32_t arrived = node.feature >> 31;
        const float value = walks.row[lane][node.feature & ~arrived];
        const std::int32_t left = -static_cast<std::int32_t>(value <= node.value);
        const std::int32_t next = node.right ^ ((node.right ^ (here + 1)) & left);
        walks.at[lane] = next ^ ((next ^ here) & arrived);
        all_arrived &= arrived;
    }
    return all_arrived == 0;
}

/// The leaf of every lane, by all walks at once.
inline void walk(const ForestNode* nodes, Lanes& walks) {
    while (step(nodes, walks)) {
    }
}

/// A node in 8 bytes, so that a whole tree stays in the second-level cache while a batch goes through it. A leaf
/// compares column 0 with no number, which sends every row to the right: to itself. So a walk needs no test for leaves.
class PackedNode {
  public:
    static constexpr std::size_t most_columns = 256;
    static constexpr std::size_t most_nodes = std::size_t{1} << 23U;

    PackedNode() = default;
    /// `index` is the node's own place in the forest.
    PackedNode(const ForestNode& node, std::int32_t index) {
        const bool is_leaf = node.feature < 0;
        const std::int32_t right = is_leaf ? 0 : node.right - index;
        threshold_ = is_leaf ? std::numeric_limits<float>::quiet_NaN() : node.value;
        rest_ = static_cast<std::uint32_t>(right - 1) << 8U | static_cast<std::uint32_t>(is_leaf ? 0 : node.feature);
    }

    /// How far the next node of a row lies behind this one: 1 to the left, 0 at a leaf. Written with a mask, since
    /// compilers make a branch of a choice, and one in two would be guessed wrongly.
    std::int32_t step(const float* row) const {
        const std::int32_t to_the_right = static_cast<std::int32_t>(row[rest_ & 0xFFU] <= threshold_) - 1;
        return 1 + ((static_cast<std::int32_t>(rest_) >> 8) & to_the_right);
    }

  private:
    float threshold_ = 0;
    std::uint32_t rest_ = 0;  ///< below the column, above it the distance to the right child less one, signed
};

/// Walks a group of rows down one tree, and says where they arrive.
inline void walk(const PackedNode* nodes, const float* rows, std::size_t columns, std::array<std::int32_t, lanes>& at) {
    at.fill(0);
    std::int32_t moved = 1;
    while (moved != 0) {
        moved = 0;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            at[lane] += nodes[at[lane]].step(rows + lane * columns);
            const std::int32_t further = nodes[at[lane]].step(rows + lane * columns);
            at[lane] += further;
            moved |= further;
        }
    }
}

/// Adds what one tree says of each row to its sum; whole groups of rows only. `packed` is scratch.
void add_tree(std::span<const ForestNode> tree, std::int32_t root, const FeatureRows& rows, std::span<double> sums,
              std::vector<PackedNode>& packed) {
    packed.clear();
    for (const ForestNode& node : tree) packed.emplace_back(node, root + static_cast<std::int32_t>(packed.size()));
    std::array<std::int32_t, lanes> at;
    for (std::size_t row = 0; row < sums.size(); row += lanes) {
        walk(packed.data(), rows.values.data() + row * rows.columns, rows.columns, at);
        for (std::size_t lane = 0; lane < lanes; ++lane)
            sums[row + lane] += static_cast<double>(tree[static_cast<std::size_t>(at[lane])].value);
    }
}

/// The nodes of a tree: trees lie one behind the other.
std::span<const ForestNode> nodes_of_tree(const Forest& forest, std::size_t tree) {
    const auto begin = static_cast<std::size_t>(forest.roots[tree]);
    const bool is_last = tree + 1 == forest.roots.size();
    const std::size_t end = is_last ? forest.nodes.size() : static_cast<std::size_t>(forest.roots[tree + 1]);
    return std::span(forest.nodes).subspan(begin, end - begin);
}

/// Whether packing pays and the forest can be packed.
bool is_packed(const Forest& forest, const FeatureRows& rows) {
    if (rows.rows() < fewest_rows_to_pack || rows.columns > PackedNode::most_columns) return false;
    for (std::size_t tree = 0; tree < forest.roots.size(); ++tree) {
        if (nodes_of_tree(forest, tree).size() > PackedNode::most_nodes) return false;
    }
    return true;
}

}  // namespace

std::size_t leaf_of(const Forest& forest, std::size_t tree, std::span<const float> row) {
    auto at = static_cast<std::size_t>(forest.roots[tree]);
    while (forest.nodes[at].feature >= 0) {
        const ForestNode& node = forest.nodes[at];
        const bool left = row[static_cast<std::size_t>(node.feature)] <= node.value;
        at = left ? at + 1 : static_cast<std::size_t>(node.right);
    }
    return at;
}

double predict_tree(const Forest& forest, std::size_t tree, std::span<const float> row) {
    return static_cast<double>(forest.nodes[leaf_of(forest, tree, row)].value);
}

void predict_trees(const Forest& forest, std::span<const float> row, std::span<double> values) {
    constexpr float nothing = 0;  // trees that are but a leaf may come with a row without columns
    const float* compared = row.empty() ? &nothing : row.data();
    const ForestNode* nodes = forest.nodes.data();
    for (std::size_t first = 0; first < forest.roots.size(); first += lanes) {
        const std::size_t filled = std::min(lanes, forest.roots.size() - first);
        Lanes walks;
        walks.row.fill(compared);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            walks.at[lane] = forest.roots[first + std::min(lane, filled - 1)];
        }
        walk(nodes, walks);
        for (std::size_t lane = 0; lane < filled; ++lane) {
            values[first + lane] = static_cast<double>(nodes[walks.at[lane]].value);
        }
    }
}

double predict(const Forest& forest, std::span<const float> row) {
    if (forest.roots.empty()) throw Error("cannot predict with a forest that has no trees");
    std::array<double, 256> some;  // no allocation for what is asked a million times
    std::vector<double> many;
    std::span<double> values(some.data(), std::min(some.size(), forest.roots.size()));
    if (forest.roots.size() > some.size()) {
        many.resize(forest.roots.size());
        values = many;
    }
    predict_trees(forest, row, values);
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(forest.roots.size());
}

void predict(const Forest& forest, const FeatureRows& rows, std::span<double> means) {
    if (forest.roots.empty()) throw Error("cannot predict with a forest that has no trees");
    if (rows.columns == 0 || rows.values.size() != means.size() * rows.columns) {
        throw Error("cannot predict " + std::to_string(means.size()) + " rows of " + std::to_string(rows.columns) +
                    " columns from " + std::to_string(rows.values.size()) + " values");
    }
    std::size_t first = 0;
    if (is_packed(forest, rows)) {
        std::vector<PackedNode> packed;
        while (means.size() - first >= lanes) {
            const std::size_t count = std::min(rows_per_block, (means.size() - first) / lanes * lanes);
            const FeatureRows block{rows.values.subspan(first * rows.columns, count * rows.columns), rows.columns};
            const auto sums = means.subspan(first, count);
            std::fill(sums.begin(), sums.end(), 0.0);
            for (std::size_t tree = 0; tree < forest.roots.size(); ++tree) {
                add_tree(nodes_of_tree(forest, tree), forest.roots[tree], block, sums, packed);
            }
            for (double& sum : sums) sum /= static_cast<double>(forest.roots.size());
            first += count;
        }
    }
    for (; first < means.size(); ++first) {
        means[first] = predict(forest, rows.values.subspan(first * rows.columns, rows.columns));
    }
}

void check(const Forest& forest, std::size_t columns) {
    std::size_t expected = 0;
    for (const std::int32_t root : forest.roots) {
        if (root < 0 || static_cast<std::size_t>(root) != expected)
            throw FormatError("a tree does not start where the one before it ends");
        expected = check_tree(forest.nodes, expected, columns);
    }
    if (expected != forest.nodes.size()) throw FormatError("a forest has nodes outside of its trees");
}

}  // namespace joulecast
