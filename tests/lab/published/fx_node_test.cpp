#include "lab/published/fx_node.h"

#include <gmock/gmock.h>

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

FxNode node(const std::string& target, std::vector<Sizes> inputs, Sizes output,
            const std::string& call = "call_function") {
    return {call, target, std::move(inputs), std::move(output), Dtype::f32};
}

std::string call_of(const FxNode& node, const FxGraph& graph = {}) {
    const FxCall call = aten_call(node, graph);
    if (!call.operation) return call.why_none;
    const Operation operation = canonical(*call.operation);
    total_counts(operation);  // throws where the sizes do not fit
    return signature(operation);
}

FxNode trained(FxNode node) {
    node.training = node.has_backward = true;
    return node;
}

TEST(FxNode, IsNoOperationWhereNoTensorComesOutOrOnlyATupleIsTakenApart) {
    FxNode size = node("size", {{16, 512}}, {1}, "call_method");
    size.dtype.reset();
    EXPECT_THAT(call_of(size), HasSubstr("python"));
    EXPECT_THAT(call_of(node("getitem", {{1}}, {4, 1024, 1280})), HasSubstr("python"));
    EXPECT_THAT(call_of(node("getitem", {{16, 512}}, {16, 1, 1, 512})), HasSubstr("a view"));
    EXPECT_THAT(call_of(node("view", {{2, 8, 32}, {1}}, {16, 32}, "call_method")), HasSubstr("a view"));
}

TEST(FxNode, CallsFunctionsAsTheGraphReadersWriteThem) {
    EXPECT_EQ(call_of(node("add", {{2, 8}, {2, 8}}, {2, 8})), "aten::add.Tensor(self=f32[2,8], other=f32[2,8])");
    EXPECT_EQ(call_of(node("truediv", {{2, 8}, {1}}, {2, 8})), "aten::div.Tensor(self=f32[2,8], other=2.0)");
    EXPECT_EQ(call_of(node("pow", {{2, 8}}, {2, 8})), "aten::pow.Tensor_Scalar(self=f32[2,8], exponent=3.0)");
    EXPECT_EQ(call_of(node("matmul", {{2, 3, 8, 4}, {2, 3, 4, 8}}, {2, 3, 8, 8})),
              "aten::matmul(self=f32[2,3,8,4], other=f32[2,3,4,8])");
    EXPECT_EQ(call_of(node("bmm", {{6, 8, 4}, {6, 4, 8}}, {6, 8, 8})), "aten::bmm(self=f32[6,8,4], mat2=f32[6,4,8])");
    EXPECT_EQ(call_of(node("addmm", {{48}, {16, 12}, {12, 48}}, {16, 48})),
              "aten::addmm(self=f32[48], mat1=f32[16,12], mat2=f32[12,48])");
    EXPECT_EQ(call_of(node("softmax", {{2, 8, 8}}, {2, 8, 8})), "aten::softmax.int(self=f32[2,8,8], dim=-1)");
    EXPECT_EQ(call_of(node("where", {{1, 1, 8, 8}, {2, 3, 8, 8}, {1}}, {2, 3, 8, 8})),
              "aten::where.self(condition=bool[1,1,8,8], self=f32[2,3,8,8], other=f32[])");
    EXPECT_EQ(call_of(node("embedding", {{2, 8}, {100, 16}}, {2, 8, 16})),
              "aten::embedding(weight=f32[100,16], indices=i64[2,8])");
    EXPECT_EQ(call_of(node("max", {{2, 8}, {1}}, {2, 8})), "aten::max.other(self=f32[2,8], other=f32[])");
    EXPECT_EQ(call_of(node("full", {{1}}, {1})), "aten::full(size=[], fill_value=-3.4028234663852886e+38)");
    FxNode cast = node("to", {{2, 8}}, {2, 8}, "call_method");
    EXPECT_THAT(call_of(cast), HasSubstr("a view"));
    cast.dtype = Dtype::boolean;
    EXPECT_EQ(call_of(cast), "aten::to.dtype(self=f32[2,8], dtype=bool)");
}

TEST(FxNode, TellsModulesByTheirNamesAndSizes) {
    const auto module = [](const std::string& path, Sizes in, Sizes out) {
        return node(path, {std::move(in)}, std::move(out), "call_module");
    };
    EXPECT_EQ(call_of(module("bert.layer.0.query", {2, 8, 16}, {2, 8, 16})),
              "aten::linear(input=f32[2,8,16], weight=f32[16,16], bias=f32[16])");
    EXPECT_EQ(call_of(module("lm_head", {2, 8, 16}, {2, 8, 100})),
              "aten::linear(input=f32[2,8,16], weight=f32[100,16])");
    for (const char* name : {"a.LayerNorm", "h.0.ln_1", "layers.0.final_layer_norm"})
        EXPECT_EQ(call_of(module(name, {2, 8, 16}, {2, 8, 16})),
                  "aten::layer_norm(input=f32[2,8,16], normalized_shape=[16], weight=f32[16], bias=f32[16])");
    EXPECT_EQ(call_of(module("bert.pooler.activation", {2, 16}, {2, 16})), "aten::tanh(self=f32[2,16])");
    EXPECT_EQ(call_of(module("layers.0.activation_fn", {2, 16}, {2, 16})), "aten::relu(self=f32[2,16])");
    EXPECT_EQ(call_of(module("h.wpe", {1, 8}, {1, 8, 16})), "aten::embedding(weight=f32[8,16], indices=i64[1,8])");
    EXPECT_EQ(call_of(module("token_type_embeddings", {2, 8}, {2, 8, 16})),
              "aten::embedding(weight=f32[2,16], indices=i64[2,8])");
    EXPECT_EQ(call_of(module("what", {2, 8}, {3, 9})), "fx::what(input0=f32[2,8])");
}

TEST(FxNode, LooksWordsUpInTheTableThatTheHeadAnswersFrom) {
    const std::vector<FxNode> nodes = {node("wte", {{2, 8}}, {2, 8, 16}, "call_module"),
                                       node("classifier", {{2, 16}}, {2, 3}, "call_module"),
                                       node("lm_head", {{2, 8, 16}}, {2, 8, 100}, "call_module")};
    EXPECT_EQ(vocabulary(nodes), 100);
    EXPECT_EQ(call_of(nodes.at(0), {100, nullptr}), "aten::embedding(weight=f32[100,16], indices=i64[2,8])");
    EXPECT_EQ(vocabulary(std::span(nodes).first(2)), 0);
    EXPECT_EQ(call_of(nodes.at(0)), "aten::embedding(weight=f32[8,16], indices=i64[2,8])");
}

TEST(FxNode, DropsOutInTrainingOnly) {
    const FxNode dropout = node("h.0.attn_dropout", {{2, 8}}, {2, 8}, "call_module");
    EXPECT_THAT(call_of(dropout), HasSubstr("a view"));
    EXPECT_EQ(call_of(trained(dropout)), "aten::dropout(input=f32[2,8]~, p=0.1, train=true)");
}

TEST(FxNode, LetsGradientsFlowWhereTheNodeWasMeasuredBackward) {
    EXPECT_EQ(call_of(trained(node("lm_head", {{2, 8, 16}}, {2, 8, 100}, "call_module"))),
              "aten::linear(input=f32[2,8,16]~, weight=f32[100,16]~)");
    // A mask has none, and is the smaller one.
    EXPECT_EQ(call_of(trained(node("add", {{2, 3, 8, 8}, {2, 1, 1, 8}}, {2, 3, 8, 8}))),
              "aten::add.Tensor(self=f32[2,3,8,8]~, other=f32[2,1,1,8])");
    FxNode forward_only = node("mul", {{2, 8}}, {2, 8});
    forward_only.training = true;
    EXPECT_EQ(call_of(forward_only), "aten::mul.Tensor(self=f32[2,8], other=2.0)");
}

TEST(FxNode, CopiesWhatTheNodeBeforeHasSwapped) {
    // [2,3,8,4] lies in memory; [2,8,3,4] with strides 96, 4, 32, 1 is what permute(0, 2, 1, 3) makes of it.
    const FxNode permute = node("permute", {{2, 3, 8, 4}}, {2, 8, 3, 4}, "call_method");
    ASSERT_TRUE(is_transposition(permute));
    const FxNode contiguous = node("contiguous", {{2, 8, 3, 4}}, {2, 8, 3, 4}, "call_method");
    EXPECT_EQ(call_of(contiguous, {0, &permute}), "aten::contiguous(self=f32[2,8,3,4]{96,4,32,1})");
    EXPECT_EQ(call_of(node("reshape", {{2, 8, 3, 4}}, {2, 8, 12}, "call_method"), {0, &permute}),
              "aten::reshape(self=f32[2,8,3,4]{96,4,32,1}, shape=[2,8,12])");
    EXPECT_THAT(call_of(contiguous), HasSubstr("a view"));
    const FxNode other = node("contiguous", {{2, 50}}, {2, 50}, "call_method");
    EXPECT_THAT(call_of(other, {0, &permute}), HasSubstr("a view"));
}

}  // namespace
}  // namespace joulecast
