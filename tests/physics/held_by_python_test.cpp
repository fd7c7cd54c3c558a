#include "joulecast/physics/held_by_python.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace joulecast {
namespace {

/// Calls of these modules, each of which reads what the one before gives.
Graph chain(const std::vector<std::string>& paths) {
    Graph graph;
    for (const std::string& path : paths) {
        Node node;
        node.inputs = {{static_cast<std::int32_t>(graph.nodes.size()) - 1, 0}};
        node.outputs = {{Dtype::f32, {4}}};
        node.module_path = path;
        graph.nodes.push_back(node);
    }
    return graph;
}

/// The node that makes it, and the call up to which it is held.
std::vector<std::pair<std::int32_t, std::size_t>> held(const Graph& graph) {
    std::vector<std::pair<std::int32_t, std::size_t>> all;
    for (const HeldValue& one : held_by_python(graph)) all.emplace_back(one.value.node, one.last_call);
    return all;
}

using Pair = std::pair<std::int32_t, std::size_t>;

TEST(HeldByPython, IsAnArgumentUntilItsModuleReturns) {
    EXPECT_THAT(held(chain({"stem", "block.0", "block.1", "head"})),
                ::testing::ElementsAre(Pair{0, 2}, Pair{1, 2}, Pair{2, 3}));
}

TEST(HeldByPython, AModuleWithinAModuleHoldsForItselfAlone) {
    // block.0.a gives to block.0.b within block.0; that to block.1, whose calls are the fourth and fifth.
    EXPECT_THAT(held(chain({"block.0.a", "block.0.b", "block.0.c", "block.1.a", "block.1.b"})),
                ::testing::ElementsAre(Pair{0, 1}, Pair{1, 2}, Pair{2, 4}, Pair{3, 4}));
}

TEST(HeldByPython, AModuleIsNotOneWhoseNameItBeginsWith) {
    EXPECT_THAT(held(chain({"in", "layer1", "layer10"})), ::testing::ElementsAre(Pair{0, 1}, Pair{1, 2}));
}

TEST(HeldByPython, WithoutModulePathsIsNothing) {
    EXPECT_THAT(held(chain({"", "", ""})), ::testing::IsEmpty());
    EXPECT_THAT(held(chain({"block"})), ::testing::IsEmpty()) << "what comes in is the caller's";
}

}  // namespace
}  // namespace joulecast
