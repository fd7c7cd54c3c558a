#include "joulecast/graph/readers/packed_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path zoo = fs::path(JOULECAST_SOURCE_DIR) / "zoo";

std::string file_bytes(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

template <class Items, class Same>
bool all_same(const Items& a, const Items& b, Same same) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), same);
}

bool same_expression(const Expression& a, const Expression& b) {
    return a.text() == b.text();
}

bool same_input(const GraphInput& a, const GraphInput& b) {
    return a.name == b.name && a.kind == b.kind && a.type == b.type &&
           all_same(a.symbolic, b.symbolic,
                    [](const auto& x, const auto& y) {
                        return x.first == y.first && same_expression(x.second, y.second);
                    }) &&
           all_same(a.symbolic_strides, b.symbolic_strides, same_expression);
}

bool same_node(const Node& a, const Node& b) {
    return a.operation == b.operation && a.inputs == b.inputs && a.outputs == b.outputs &&
           a.module_path == b.module_path && a.source_line == b.source_line && a.count == b.count &&
           all_same(a.symbolic, b.symbolic, [](const SymbolicSize& x, const SymbolicSize& y) {
               return x.place == y.place && x.index == y.index && x.position == y.position &&
                      same_expression(x.expression, y.expression);
           });
}

bool same_symbol(const std::pair<const std::string, Symbol>& a, const std::pair<const std::string, Symbol>& b) {
    const auto& [name, x] = a;
    const Symbol& y = b.second;
    return name == b.first && x.value == y.value && x.low == y.low && x.high == y.high && x.alias == y.alias &&
           x.place == y.place;
}

void expect_same(const Graph& a, const Graph& b) {
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.mode, b.mode);
    EXPECT_EQ(a.has_edges, b.has_edges);
    EXPECT_EQ(a.outputs, b.outputs);
    EXPECT_TRUE(all_same(a.symbols, b.symbols, same_symbol));
    EXPECT_TRUE(all_same(a.inputs, b.inputs, same_input));
    EXPECT_TRUE(all_same(a.nodes, b.nodes, same_node));
}

Graph through_bytes(const Graph& graph) {
    const SourceMark source{1, 2};
    return unpack_graph(pack_graph(graph, source), source, "test").value();
}

TEST(PackedGraph, IsWhatItsFileSays) {
    for (const char* stem : {"resnet18.train", "gpt2-decode"}) {
        const Graph graph = read_pt2(zoo / (std::string(stem) + ".pt2"));
        expect_same(through_bytes(graph), graph);
    }
}

#ifdef WHOLE_ZOO  // in a program that no sanitizer slows down
TEST(PackedGraph, OfEveryNetworkOfTheZooIsWhatItsFileSays) {
    std::size_t networks = 0;
    for (const auto& entry : fs::directory_iterator(zoo)) {
        if (entry.path().extension() != ".pt2") continue;
        SCOPED_TRACE(entry.path().stem());
        const Graph graph = read_pt2(entry.path());
        expect_same(through_bytes(graph), graph);
        ++networks;
    }
    EXPECT_GE(networks, 2 * zoo_names(zoo).size() - 1);
}
#endif

TEST(PackedGraph, ReShapesAsItsFileDoes) {
    for (const char* stem : {"resnet18", "bert-base", "swin_t.train", "llama-3.2-1b-decode"}) {
        const fs::path file = zoo / (std::string(stem) + ".pt2");
        expect_same(with_symbols(through_bytes(read_pt2(file)), {{"batch", 3}}), read_pt2(file, {{"batch", 3}}));
    }
}

TEST(PackedGraph, KeepsEveryKindOfArgument) {
    Graph graph;
    graph.mode = Mode::training;
    graph.has_edges = false;
    Node node;
    const TensorType tensor{Dtype::bf16, {2, 3}, {1, 2}, true};
    node.operation = {"my::op",
                      {{"none", None{}},
                       {"flag", true},
                       {"whole", std::int64_t{-5}},
                       {"real", -0.1},
                       {"text", std::string("a\0b", 3)},
                       {"dtype", Dtype::f8e5m2},
                       {"tensor", tensor},
                       {"tensors", TensorList{tensor, std::nullopt}},
                       {"flags", std::vector<bool>{true, false}},
                       {"wholes", Integers{INT64_MIN, 0, INT64_MAX}},
                       {"reals", std::vector<double>{1e300, 0.5}}}};
    node.count = 7;
    graph.nodes.push_back(node);
    expect_same(through_bytes(graph), graph);
}

TEST(PackedGraph, CountsOnlyForTheFileItWasMadeFrom) {
    const Graph graph = read_pt2(zoo / "alexnet.pt2");
    const std::string bytes = file_bytes(zoo / "alexnet.pt2");
    const std::string packed = pack_graph(graph, source_mark(bytes));
    EXPECT_TRUE(unpack_graph(packed, source_mark(bytes), "alexnet"));
    std::string changed = bytes;
    changed.back() = static_cast<char>(changed.back() ^ 1);
    EXPECT_FALSE(unpack_graph(packed, source_mark(changed), "alexnet"));
    EXPECT_FALSE(unpack_graph("something else", source_mark(bytes), "alexnet"));
    EXPECT_FALSE(unpack_graph("", source_mark(bytes), "alexnet"));
}

TEST(PackedGraph, IsFoundBesideTheZooWhileTheZooIsTheSame) {
    const fs::path folder = fs::path(::testing::TempDir()) / "packed_graph_test";
    fs::remove_all(folder);
    fs::create_directories(folder / "zoo");
    fs::create_directories(folder / "zoo-packed");
    fs::copy_file(zoo / "alexnet.pt2", folder / "zoo" / "alexnet.pt2");
    EXPECT_FALSE(read_packed(folder / "zoo", "alexnet"));
    // One that says something else than the file, so that what was read can be told.
    Graph other = read_pt2(zoo / "alexnet.pt2");
    other.nodes.resize(1);
    std::ofstream(folder / "zoo-packed" / "alexnet.graph", std::ios::binary)
        << pack_graph(other, source_mark(file_bytes(zoo / "alexnet.pt2")));
    EXPECT_EQ(open_model("alexnet", folder / "zoo").nodes.size(), 1U);
    fs::copy_file(zoo / "resnet18.pt2", folder / "zoo" / "alexnet.pt2", fs::copy_options::overwrite_existing);
    EXPECT_GT(open_model("alexnet", folder / "zoo").nodes.size(), 50U);
    fs::remove_all(folder);
}

TEST(PackedGraph, RefusesEveryTruncationAndEveryFlippedBit) {
    Graph graph = read_pt2(zoo / "alexnet.pt2");
    graph.nodes.resize(3);
    const SourceMark source{3, 4};
    const std::string packed = pack_graph(graph, source);
    const auto is_harmless = [&](const std::string& bytes) {
        try {
            return !unpack_graph(bytes, source, "test");  // of other bytes: not taken
        } catch (const FormatError& error) {
            return std::string(error.what()).find("packed graph test is damaged") != std::string::npos;
        }
    };
    for (std::size_t size = 0; size < packed.size(); ++size) EXPECT_TRUE(is_harmless(packed.substr(0, size))) << size;
    for (std::size_t at = 0; at < packed.size(); ++at) {
        std::string flipped = packed;
        flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
        EXPECT_TRUE(is_harmless(flipped)) << at;
    }
}

TEST(PackedGraph, RefusesAGraphThatIsMadeAnew) {
    Graph graph;
    graph.shape_anew = std::make_shared<const ShapeAnew>([](const SymbolValues&) { return Graph(); });
    EXPECT_THROW(pack_graph(graph, {}), Error);
}

}  // namespace
}  // namespace joulecast
