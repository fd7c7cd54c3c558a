#include "joulecast/graph/fp8.h"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::StartsWith;

const std::string zoo = std::string(JOULECAST_SOURCE_DIR) + "/zoo";

/// A network of an input x and parameters weight and bias, all bf16.
Graph small(const std::string& x, const std::string& weight, const std::string& bias, const std::string& nodes,
            const std::string& outputs) {
    const auto input = [](const std::string& name, const std::string& kind, const std::string& type) {
        return "{\"name\":\"" + name + "\",\"kind\":\"" + kind + "\",\"type\":\"bf16[" + type + "]\"}";
    };
    return read_graph_json(R"({"schema":"joulecast.graph/1","name":"small","mode":"inference","has_edges":true,
        "symbols":{},"inputs":[)" +
                               input("x", "user_input", x) + "," + input("weight", "parameter", weight) + "," +
                               input("bias", "parameter", bias) + R"(],"nodes":[)" + nodes + R"(],"outputs":[)" +
                               outputs + "]}",
                           "small");
}

std::string call(const std::string& operation, const std::string& inputs, const std::string& output) {
    return "{\"operation\":\"" + operation + "\",\"inputs\":[" + inputs + "],\"outputs\":[\"" + output + "\"]}";
}

std::vector<std::string> operations(const Graph& graph) {
    std::vector<std::string> texts;
    for (const Node& node : graph.nodes) texts.push_back(signature(node.operation));
    return texts;
}

const std::string linear = call("aten::linear(input=bf16[2,8,32], weight=bf16[48,32], bias=bf16[48])",
                                "\"input.0\",\"input.1\",\"input.2\"", "bf16[2,8,48]");

TEST(Fp8, TurnsALinearLayerIntoAProductOfEightBits) {
    const Graph graph = with_fp8_linears(small("2,8,32", "48,32", "48", linear, "\"0.0\""));
    EXPECT_THAT(operations(graph),
                ElementsAre("aten::reshape(self=bf16[2,8,32], shape=[16,32])",
                            "aten::div.Tensor(self=bf16[16,32], other=f32[])",
                            "aten::clamp(self=bf16[16,32], min=-448.0, max=448.0)",
                            "aten::_to_copy(self=bf16[16,32], dtype=f8e4m3fn)", "aten::t(self=f8e4m3fn[48,32])",
                            "aten::_scaled_mm(self=f8e4m3fn[16,32], mat2=f8e4m3fn[32,48]{1,32}, scale_a=f32[], "
                            "scale_b=f32[], bias=bf16[48], out_dtype=bf16, use_fast_accum=true)",
                            "aten::view(self=bf16[16,48], size=[2,8,48])"));
    EXPECT_EQ(graph.inputs[1].type, (TensorType{Dtype::f8e4m3fn, {48, 32}}));
    EXPECT_EQ(graph.inputs[3].name, "weight.activation_scale");
    EXPECT_EQ(type_of(graph, graph.outputs.at(0)), (TensorType{Dtype::bf16, {2, 8, 48}}));
}

TEST(Fp8, StoresAWeightThatIsMultipliedRowByRowColumnByColumn) {
    const std::string addmm = call("aten::addmm(self=bf16[48], mat1=bf16[16,32], mat2=bf16[32,48])",
                                   "\"input.2\",\"input.0\",\"input.1\"", "bf16[16,48]");
    const Graph graph = with_fp8_linears(small("16,32", "32,48", "48", addmm, "\"0.0\""));
    EXPECT_EQ(graph.inputs[1].type, strided(Dtype::f8e4m3fn, {32, 48}, {1, 32}));
    EXPECT_EQ(operations(graph).back(),
              "aten::_scaled_mm(self=f8e4m3fn[16,32], mat2=f8e4m3fn[32,48]{1,32}, scale_a=f32[], scale_b=f32[], "
              "bias=bf16[48], out_dtype=bf16, use_fast_accum=true)");
    // The last call's tensors: the activation, the weight, the two scales, the bias.
    EXPECT_THAT(graph.nodes.back().inputs,
                ElementsAre(ValueRef{2, 0}, ValueRef{-1, 1}, ValueRef{-1, 3}, ValueRef{-1, 4}, ValueRef{-1, 2}));
}

TEST(Fp8, LeavesAWeightThatSomethingElseUses) {
    const std::string sum = call("aten::sum(self=bf16[48,32])", "\"input.1\"", "bf16[]");
    EXPECT_THROW(with_fp8_linears(small("2,8,32", "48,32", "48", linear + "," + sum, "\"0.0\"")), Error);
    EXPECT_THROW(with_fp8_linears(small("2,8,32", "48,32", "48", linear, "\"0.0\",\"input.1\"")), Error);
}

TEST(Fp8, LeavesSizesThatTheKernelDoesNotTake) {
    const std::string odd = call("aten::linear(input=bf16[2,8,32], weight=bf16[40,32], bias=bf16[40])",
                                 "\"input.0\",\"input.1\",\"input.2\"", "bf16[2,8,40]");
    EXPECT_THROW(with_fp8_linears(small("2,8,32", "40,32", "40", odd, "\"0.0\"")), Error);
}

TEST(Fp8, NeedsEdges) {
    EXPECT_THROW(with_fp8_linears(without_edges(small("2,8,32", "48,32", "48", linear, "\"0.0\""))), Error);
}

std::int64_t flop(const Graph& graph) {
    std::int64_t sum = 0;
    for (const Node& node : graph.nodes) sum += forward_counts(node.operation).flop * node.count;
    return sum;
}

class Fp8Network : public ::testing::TestWithParam<std::string> {};

/// bert's linear layers are aten::linear, gpt2's aten::addmm with weights stored the other way round.
TEST_P(Fp8Network, MultipliesAsMuchAndGivesTheSameTypes) {
    const Graph before = with_dtype(open_model(GetParam(), zoo, {{"batch", 2}}), Dtype::bf16);
    const Graph after = with_fp8_linears(before);
    EXPECT_EQ(flop(after), flop(before));
    ASSERT_EQ(after.outputs.size(), before.outputs.size());
    for (std::size_t i = 0; i < before.outputs.size(); ++i)
        EXPECT_EQ(type_of(after, after.outputs[i]), type_of(before, before.outputs[i]));
    for (const Node& node : after.nodes) {
        const auto all = tensors(node.operation);
        for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(*all[i], type_of(after, node.inputs.at(i)));
    }
    const Graph larger = with_symbol(after, "batch", 4);
    EXPECT_EQ(flop(larger), 2 * flop(after));
    EXPECT_THAT(operations(larger), Contains(StartsWith("aten::_scaled_mm")));
}

INSTANTIATE_TEST_SUITE_P(Networks, Fp8Network, ::testing::Values("bert-base", "gpt2", "vit_b_32", "t5-small"),
                         [](const auto& parameter) {
                             std::string text = parameter.param;
                             std::ranges::replace(text, '-', '_');
                             return text;
                         });

}  // namespace
}  // namespace joulecast
