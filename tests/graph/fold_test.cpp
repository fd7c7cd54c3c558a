#include "joulecast/graph/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "tests/graph/pt2_program_text.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using namespace testing;

const std::string data = std::string(JOULECAST_SOURCE_DIR) + "/tests/graph/data/";

// --- networks exported as written and decomposed by torch itself (tools/make_pt2_samples.py) -------------------------

struct Work {
    std::int64_t flop = 0;
    std::int64_t backward_flop = 0;
};

Work work(const Graph& graph) {
    Work sum;
    for (const Node& node : graph.nodes) sum.flop += forward_counts(node.operation).flop;
    for (const Node& node : to_training(graph).nodes) sum.backward_flop += backward_counts(node.operation).flop;
    return sum;
}

/// What computes something, as one calls it: in place or not, by one name or another.
std::vector<std::string> calls(const Graph& graph) {
    static const std::map<std::string, std::string> spellings = {{"aten::relu_", "aten::relu"},
                                                                 {"aten::relu6", "aten::hardtanh"},
                                                                 {"aten::conv1d.padding", "aten::conv1d"},
                                                                 {"aten::flatten.using_ints", "aten::reshape"},
                                                                 {"aten::adaptive_avg_pool2d", "aten::mean.dim"}};
    std::vector<std::string> found;
    for (const Node& node : graph.nodes) {
        const Family kind = family(node.operation);
        // A dropout that is switched off becomes a clone.
        if (kind == Family::view || kind == Family::symbolic || node.operation.target == "aten::clone") continue;
        const auto spelling = spellings.find(node.operation.target);
        found.push_back(spelling == spellings.end() ? node.operation.target : spelling->second);
    }
    return found;
}

class Pair : public ::testing::TestWithParam<const char*> {
  protected:
    Graph plain = read_pt2(data + "pairs_" + GetParam() + ".pt2");
    Graph folded = read_pt2(data + "pairs_" + GetParam() + "_decomposed.pt2");
};

TEST_P(Pair, DoesTheSameWork) {
    EXPECT_EQ(work(folded).flop, work(plain).flop);
    EXPECT_EQ(work(folded).backward_flop, work(plain).backward_flop);
    const SymbolValues larger{{"batch", 5}};
    EXPECT_EQ(work(with_symbols(folded, larger)).flop, work(with_symbols(plain, larger)).flop);
}

TEST_P(Pair, HasTheSameOutputsAndWholeEdges) {
    ASSERT_EQ(folded.outputs.size(), plain.outputs.size());
    for (std::size_t i = 0; i < plain.outputs.size(); ++i)
        EXPECT_EQ(type_of(folded, folded.outputs[i]), type_of(plain, plain.outputs[i]));
    expect_edges_agree(folded);
    expect_edges_agree(with_symbols(folded, {{"batch", 5}}));
}

TEST_P(Pair, MakesTheSameCalls) {
    if (std::string(GetParam()) == "language" || std::string(GetParam()) == "normalizations")
        GTEST_SKIP() << "a masked_fill is spelled where, a softmax in another type casts first";
    EXPECT_EQ(calls(folded), calls(plain));
}

TEST_P(Pair, FoldingAgainChangesNothing) {
    EXPECT_EQ(signatures(fold_decomposed(folded)), signatures(folded));
    EXPECT_EQ(signatures(fold_decomposed(plain)), signatures(plain));
}

INSTANTIATE_TEST_SUITE_P(FoldDecomposed, Pair,
                         ::testing::Values("convolutions", "residual", "encoder", "normalizations", "mobile",
                                           "language", "products"));

// --- single patterns ------------------------------------------------------------------------------------------------

/// A graph of calls in the text form; inputs are "i<number>", results "<node>.<output>" or "<node>".
struct Sketch {
    Graph graph;

    Sketch() { graph.name = "sketch"; }
    void input(const std::string& type, GraphInput::Kind kind = GraphInput::Kind::user_input) {
        const Operation holder = parse_operation("aten::relu(self=" + type + ")");
        graph.inputs.push_back({"i" + std::to_string(graph.inputs.size()), kind, *tensors(holder)[0], {}});
    }
    void call(const std::string& text, std::vector<ValueRef> inputs, const std::vector<std::string>& outputs) {
        Node node;
        node.operation = parse_operation(text);
        node.inputs = std::move(inputs);
        for (const std::string& output : outputs) {
            const Operation holder = parse_operation("aten::relu(self=" + output + ")");
            node.outputs.push_back(*tensors(holder)[0]);
        }
        graph.nodes.push_back(std::move(node));
        graph.outputs = {{static_cast<std::int32_t>(graph.nodes.size()) - 1, 0}};
    }
};

constexpr auto parameter = GraphInput::Kind::parameter;
ValueRef in(std::int32_t number) {
    return {-1, number};
}
ValueRef of(std::int32_t node, std::int32_t output = 0) {
    return {node, output};
}

/// x @ w.t() + b.
Sketch layer(const std::string& scale = "") {
    Sketch sketch;
    sketch.input("f32[2,3]");
    sketch.input("f32[5,3]", parameter);
    sketch.input("f32[5]", parameter);
    sketch.call("aten::t(self=f32[5,3])", {in(1)}, {"f32[3,5]{1,3}"});
    sketch.call("aten::addmm(self=f32[5], mat1=f32[2,3], mat2=f32[3,5]{1,3}" + scale + ")", {in(2), in(0), of(0)},
                {"f32[2,5]"});
    return sketch;
}

TEST(FoldDecomposed, AnAddmmOfATransposedWeightIsALinear) {
    const Graph folded = fold_decomposed(layer().graph);
    EXPECT_THAT(signatures(folded), ElementsAre("aten::linear(input=f32[2,3], weight=f32[5,3], bias=f32[5])"));
    EXPECT_THAT(folded.nodes[0].inputs, ElementsAre(in(0), in(1), in(2)));
    EXPECT_THAT(folded.outputs, ElementsAre(of(0)));
}

TEST(FoldDecomposed, AScaledAddmmStays) {
    EXPECT_THAT(signatures(fold_decomposed(layer(", beta=0.5").graph)),
                ElementsAre("aten::t(self=f32[5,3])", ::testing::StartsWith("aten::addmm")));
}

TEST(FoldDecomposed, ATransposeThatOthersTakeStays) {
    Sketch sketch = layer();
    sketch.call("aten::relu(self=f32[3,5]{1,3})", {of(0)}, {"f32[3,5]{1,3}"});
    EXPECT_THAT(
        signatures(fold_decomposed(sketch.graph)),
        ElementsAre("aten::t(self=f32[5,3])", ::testing::StartsWith("aten::linear"), "aten::relu(self=f32[3,5]{1,3})"));
}

TEST(FoldDecomposed, AProductOfTwoActivationsIsNoLayer) {
    Sketch sketch;
    sketch.input("f32[5,3]");
    sketch.call("aten::relu(self=f32[5,3])", {in(0)}, {"f32[5,3]"});
    sketch.call("aten::t(self=f32[5,3])", {of(0)}, {"f32[3,5]{1,3}"});
    sketch.call("aten::mm(self=f32[5,3], mat2=f32[3,5]{1,3})", {in(0), of(1)}, {"f32[5,5]"});
    EXPECT_EQ(fold_decomposed(sketch.graph).nodes.back().operation.target, "aten::mm");
}

TEST(FoldDecomposed, AResultThatIsUsedKeepsItsCall) {
    Sketch sketch;
    sketch.input("f32[2,8,4,4]");
    const std::string pool = "aten::max_pool2d_with_indices(self=f32[2,8,4,4], kernel_size=[2,2], stride=[2,2])";
    sketch.call(pool, {in(0)}, {"f32[2,8,2,2]", "i64[2,8,2,2]"});
    EXPECT_EQ(fold_decomposed(sketch.graph).nodes[0].operation.target, "aten::max_pool2d");
    EXPECT_EQ(fold_decomposed(sketch.graph).nodes[0].outputs.size(), 1);
    sketch.graph.outputs.push_back(of(0, 1));
    EXPECT_EQ(fold_decomposed(sketch.graph).nodes[0].operation.target, "aten::max_pool2d_with_indices");
}

TEST(FoldDecomposed, XTimesSigmoidOfXIsSiluOnlyInADecomposedGraph) {
    const auto gated = [](bool decomposed) {
        Sketch sketch;
        sketch.input("f32[2,4]");
        if (decomposed) {
            sketch.call("aten::_softmax(self=f32[2,4], dim=-1, half_to_float=false)", {in(0)}, {"f32[2,4]"});
        } else {
            sketch.call("aten::softmax.int(self=f32[2,4], dim=-1)", {in(0)}, {"f32[2,4]"});
        }
        sketch.call("aten::sigmoid(self=f32[2,4])", {of(0)}, {"f32[2,4]"});
        sketch.call("aten::mul.Tensor(self=f32[2,4], other=f32[2,4])", {of(0), of(1)}, {"f32[2,4]"});
        return signatures(fold_decomposed(sketch.graph));
    };
    EXPECT_THAT(gated(true), ElementsAre("aten::softmax.int(self=f32[2,4], dim=-1)", "aten::silu(self=f32[2,4])"));
    EXPECT_EQ(gated(false).size(), 3);
}

TEST(FoldDecomposed, ABagOfOperationsIsLeftAlone) {
    Graph bag = layer().graph;
    bag.has_edges = false;
    for (Node& node : bag.nodes) node.inputs.clear();
    EXPECT_EQ(fold_decomposed(bag).nodes.size(), 2);
}

}  // namespace
}  // namespace joulecast
