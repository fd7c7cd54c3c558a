#include "joulecast/model/forest_bytes.h"

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace joulecast {
namespace {

constexpr std::uint8_t leaf = 0xFF;
static_assert(most_forest_columns < leaf);
constexpr std::size_t node_bytes = 5;
constexpr std::uint32_t exponent_bits = 0x7F800000U;  // all set: infinite or no number

/// What went wrong in the bytes of a forest's nodes, if anything.
struct NodeFaults {
    bool odd_number = false;  ///< a column that is not there, or a number that is not finite
    bool cut_short = false;   ///< the last tree is not complete
};

/// Nodes in preorder from their bytes, in one pass without a branch on leaf or not, which no processor can guess:
/// opening a predictor is this loop. What check() asks of a forest holds by construction or is asked here.
NodeFaults read_nodes(std::span<const std::byte> bytes, std::size_t columns, Forest& forest) {
    const std::size_t count = bytes.size() / node_bytes;
    forest.nodes.resize(count);
    ForestNode* nodes = forest.nodes.data();
    // Places 1 to depth: inner nodes whose right child is still to come.
    std::vector<std::uint32_t> open(64);
    std::size_t depth = 0;
    bool at_root = true;
    std::uint32_t odd = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::byte* from = bytes.data() + i * node_bytes;
        const auto column = static_cast<std::uint8_t>(from[0]);
        const std::uint32_t bits = little_endian<std::uint32_t>(from + 1);
        const auto is_leaf = static_cast<std::uint32_t>(column == leaf);
        const std::uint32_t leaf_mask = 0U - is_leaf;
        odd |= ~leaf_mask & static_cast<std::uint32_t>(column >= columns);
        odd |= static_cast<std::uint32_t>((bits & exponent_bits) == exponent_bits);
        nodes[i] = {static_cast<std::int32_t>(column | leaf_mask), std::bit_cast<float>(bits), 0};
        if (at_root) forest.roots.push_back(static_cast<std::int32_t>(i));
        if (depth + 2 > open.size()) open.resize(2 * open.size());
        at_root = is_leaf != 0 && depth == 0;
        if (at_root) continue;
        // A leaf ends the left subtree of the innermost open node. An inner node writes into itself here, and the leaf
        // that ends its left subtree writes over that. Masks, since compilers make branches of choices.
        const auto here = static_cast<std::uint32_t>(i);
        const std::uint32_t ended = (open[depth] & leaf_mask) | (here & ~leaf_mask);
        nodes[ended].right = static_cast<std::int32_t>(i + 1);
        depth = depth + 1 - 2 * std::size_t{is_leaf};
        open[depth] = (open[depth] & leaf_mask) | (here & ~leaf_mask);
    }
    return {odd != 0, !at_root};
}

}  // namespace

void put(ByteWriter& out, const Forest& forest) {
    out.number(static_cast<std::uint32_t>(forest.roots.size()));
    out.number(static_cast<std::uint32_t>(forest.nodes.size()));
    for (const ForestNode& node : forest.nodes) {
        out.number(node.feature < 0 ? leaf : static_cast<std::uint8_t>(node.feature));
        out.real(node.value);
    }
}

Forest take_forest(ByteReader& in, std::size_t columns) {
    Forest forest;
    const auto trees = in.number<std::uint32_t>();
    const std::size_t count = in.count(node_bytes);
    if (trees == 0 || trees > count) in.fail("a forest has an impossible number of trees");
    const NodeFaults faults = read_nodes(in.take(count * node_bytes), columns, forest);
    if (faults.cut_short || forest.roots.size() != trees) in.fail("a forest has other trees than it announces");
    if (faults.odd_number) {
        in.fail("a forest compares a feature that is not there or holds a number that is not finite");
    }
    return forest;
}

}  // namespace joulecast
