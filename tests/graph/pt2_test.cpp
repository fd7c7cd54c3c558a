#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "tests/graph/pt2_program_text.h"
#include "tests/graph/zip_of.h"

namespace joulecast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;

const std::string source = JOULECAST_SOURCE_DIR;

std::string file_content(const std::string& path) {
    std::ifstream file(source + "/" + path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Pt2Reader, ReadsFilesOfTorch26AndOf213Alike) {
    const Graph old_layout = read_pt2(source + "/tests/graph/data/old_layout.pt2");
    const Graph genuine = read_pt2(source + "/tests/graph/data/genuine_small.pt2");
    ASSERT_EQ(old_layout.nodes.size(), genuine.nodes.size());
    for (std::size_t i = 0; i < genuine.nodes.size(); ++i)
        EXPECT_EQ(signature(old_layout.nodes[i].operation), signature(genuine.nodes[i].operation));
    EXPECT_EQ(signature(genuine.nodes[0].operation),
              "aten::conv2d(input=f32[2,3,32,32], weight=f32[8,3,3,3], stride=[2,2], padding=[1,1])");
    EXPECT_EQ(genuine.nodes[0].module_path, "conv");
    EXPECT_THAT(genuine.nodes[0].source_line, ::testing::MatchesRegex(".*torch/nn/modules/conv\\.py:[0-9]+"));
    EXPECT_EQ(genuine.name, "genuine_small");
    for (const Graph& graph : {old_layout, genuine}) {
        EXPECT_EQ(graph.symbols.at("batch").value, 2);
        EXPECT_EQ(graph.symbols.at("batch").high, 4096);
    }
}

TEST(Pt2Reader, ReadsDecomposedGraphsInThePlainForm) {
    const Graph graph = read_pt2(source + "/tests/graph/data/decomposed_small.pt2");
    const Graph genuine = read_pt2(source + "/tests/graph/data/genuine_small.pt2");
    EXPECT_EQ(signatures(graph), signatures(genuine));
}

std::int64_t flop(const Graph& graph, const std::set<std::string>& left_out) {
    std::int64_t sum = 0;
    for (const Node& node : graph.nodes)
        if (!left_out.contains(node.operation.target)) sum += forward_counts(node.operation).flop;
    return sum;
}

/// Of the network in tools/make_pt2_samples.py, 2 per multiply-add: a 3x3 convolution of 3 to 8 channels at 16x16, a
/// linear of 16 to 16 on every token, one of 16 to 4 on twice as many, attention of 2 heads of 8.
std::int64_t rich_flop(std::int64_t batch, std::int64_t sequence) {
    return 2 * batch * 8 * 16 * 16 * 3 * 9 + 2 * batch * sequence * 16 * 16 + 2 * batch * 2 * sequence * 16 * 4 +
           2 * 2 * batch * 2 * sequence * sequence * 8;
}

const std::set<std::string> lstm = {"aten::lstm.input"};

class EveryTorch : public ::testing::TestWithParam<const char*> {};

TEST_P(EveryTorch, IsReadWhole) {
    const Graph graph = read_pt2(source + "/tests/graph/data/rich_torch_" + GetParam() + ".pt2");
    ASSERT_EQ(graph.symbols.size(), 2);
    EXPECT_EQ(graph.symbols.at("batch").high, 4096);
    EXPECT_EQ(graph.symbols.at("batch").place, "dimension 0 of input image");
    const auto sequence = std::ranges::find_if(graph.symbols, [](const auto& s) { return s.first != "batch"; });
    EXPECT_EQ(sequence->second.place, "dimension 1 of input tokens");
    EXPECT_EQ(sequence->second.low, 2);
    EXPECT_EQ(flop(graph, lstm), rich_flop(2, 8));
    const Graph reshaped = with_symbols(graph, {{"batch", 3}, {sequence->first, 11}});
    EXPECT_EQ(flop(reshaped, lstm), rich_flop(3, 11));
    EXPECT_EQ(graph.outputs.size(), 3);
    EXPECT_EQ(type_of(reshaped, graph.outputs[0]).sizes, (Integers{3, 22, 4}));
    expect_edges_agree(reshaped);
}

TEST_P(EveryTorch, KeepsModulePathsAndSourceLines) {
    const Graph graph = read_pt2(source + "/tests/graph/data/rich_torch_" + GetParam() + ".pt2");
    std::map<std::string, std::string> modules;
    for (const Node& node : graph.nodes)
        if (forward_counts(node.operation).flop > 0) {
            modules[node.operation.target + " " + node.module_path] = node.source_line;
            EXPECT_THAT(node.source_line, ::testing::MatchesRegex(".*\\.py:[0-9]+"));
        }
    EXPECT_TRUE(modules.contains("aten::conv2d conv"));
    EXPECT_TRUE(modules.contains("aten::linear project"));  // inside of wrap_with_autocast
    EXPECT_TRUE(modules.contains("aten::linear head"));
}

TEST_P(EveryTorch, HasItsHigherOrderCallsInlinedOrNamed) {
    const Graph graph = read_pt2(source + "/tests/graph/data/rich_torch_" + GetParam() + ".pt2");
    std::vector<std::string> calls;
    for (const Node& node : graph.nodes)
        if (node.operation.target.starts_with("higher_order::")) calls.push_back(signature(node.operation));
    ASSERT_EQ(calls.size(), 1);
    EXPECT_THAT(calls[0], AllOf(HasSubstr("higher_order::cond(pred=bool[], true_graph=\"true_graph_0: aten::sigmoid #"),
                                HasSubstr("aten::sin, aten::mul.Tensor #"), HasSubstr("operands=[f32[2,8]]")));
}

INSTANTIATE_TEST_SUITE_P(Pt2Reader, EveryTorch,
                         ::testing::Values("2.6", "2.7", "2.8", "2.9", "2.10", "2.11", "2.12", "2.13", "2.13_strict"));

TEST(Pt2Reader, ReadsTheDecomposedFormWithTheSameWork) {
    const Graph graph = read_pt2(source + "/tests/graph/data/rich_torch_2.13_decomposed.pt2");
    // The LSTM of 8 to 16 is 16 steps of 4 gates here, 2 * batch * steps * gates * (inputs + states).
    EXPECT_EQ(flop(graph, {}), rich_flop(2, 8) + 2 * 2 * 16 * (4 * 16) * (8 + 16));
    expect_edges_agree(graph);
    EXPECT_EQ(graph.outputs.size(), 3);  // the buffer that counts calls is no output of the network
}

TEST(Pt2Reader, CastsWhereAutocastDoes) {
    const Graph graph = read_pt2(source + "/tests/graph/data/rich_torch_2.13.pt2");
    const auto project = std::ranges::find_if(
        graph.nodes, [](const Node& n) { return n.operation.target == "aten::linear" && n.module_path == "project"; });
    EXPECT_EQ(signature(project->operation), "aten::linear(input=bf16[2,8,16], weight=bf16[16,16], bias=bf16[16])");
    for (const ValueRef input : project->inputs)
        EXPECT_EQ(graph.nodes[static_cast<std::size_t>(input.node)].operation.target, "aten::to.dtype");
}

TEST(Pt2Reader, TellsParametersBuffersAndInputsApart) {
    const Graph graph = read_pt2(source + "/tests/graph/data/genuine_small.pt2");
    std::map<std::string, GraphInput::Kind> kinds;
    for (const GraphInput& input : graph.inputs) kinds[input.name] = input.kind;
    EXPECT_EQ(kinds.at("conv.weight"), GraphInput::Kind::parameter);
    EXPECT_EQ(kinds.at("norm.running_mean"), GraphInput::Kind::buffer);
    EXPECT_EQ(kinds.at("image"), GraphInput::Kind::user_input);
}

TEST(Pt2Reader, EdgesLeadFromTheInputToTheOutput) {
    const Graph graph = read_pt2(source + "/tests/graph/data/genuine_small.pt2");
    // relu takes the output of batch norm, which is node 1; linear is the last node.
    EXPECT_THAT(graph.nodes[2].inputs, ElementsAre(ValueRef{1, 0}));
    EXPECT_THAT(graph.outputs, ElementsAre(ValueRef{4, 0}));
}

TEST(Pt2Reader, NeverReadsWeights) {
    std::string bytes = file_content("tests/graph/data/genuine_small.pt2");
    const std::string weight = "genuine_small/data/weights/weight_0";
    // The weight's bytes follow its name; with them changed its checksum is wrong, and nobody minds.
    const std::size_t start = bytes.find(weight) + weight.size() + 64;
    for (std::size_t i = start; i < start + 400; ++i) bytes[i] = static_cast<char>(~bytes[i]);
    EXPECT_EQ(read_pt2(bytes_of(bytes), "x.pt2").nodes.size(), 5);
}

TEST(Pt2Reader, TakesDeflatedEntriesAndAnyRootName) {
    const std::string model = small_program().dump();
    for (const char* entry :
         {"a/models/b.json", "models/model.json", "deep/er/models/net.json", "serialized_exported_program.json"})
        EXPECT_EQ(read_pt2(bytes_of(zip_of({{"other.json", "{"}, {entry, model}}, true)), "x.pt2").nodes.size(), 1);
}

}  // namespace
}  // namespace joulecast
