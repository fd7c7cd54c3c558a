#include "joulecast/learn/forest.h"

#include <cmath>
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

}  // namespace

double predict_tree(const Forest& forest, std::size_t tree, std::span<const float> row) {
    auto at = static_cast<std::size_t>(forest.roots[tree]);
    while (forest.nodes[at].feature >= 0) {
        const ForestNode& node = forest.nodes[at];
        const bool left = row[static_cast<std::size_t>(node.feature)] <= node.value;
        at = left ? at + 1 : static_cast<std::size_t>(node.right);
    }
    return static_cast<double>(forest.nodes[at].value);
}

double predict(const Forest& forest, std::span<const float> row) {
    if (forest.roots.empty()) throw Error("cannot predict with a forest that has no trees");
    double sum = 0;
    for (std::size_t tree = 0; tree < forest.roots.size(); ++tree) sum += predict_tree(forest, tree, row);
    return sum / static_cast<double>(forest.roots.size());
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
