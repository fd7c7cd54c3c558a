#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "joulecast/error.h"
#include "joulecast/graph/readers/onnx_names.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "tests/graph/onnx_text.h"

namespace joulecast {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::onnx_bytes;
using testing::onnx_model;

Graph read_bytes(const std::string& bytes, const SymbolValues& set = {}) {
    return read_onnx(std::as_bytes(std::span(bytes)), "net.onnx", set);
}

Graph read(const std::string& text, const SymbolValues& set = {}, int opset = 17) {
    return read_bytes(onnx_bytes(text, opset), set);
}

std::vector<std::string> signatures(const Graph& graph) {
    std::vector<std::string> result;
    for (const Node& node : graph.nodes) result.push_back(signature(node.operation));
    return result;
}

std::vector<std::string> calls(const std::string& text, const SymbolValues& set = {}, int opset = 17) {
    return signatures(read(text, set, opset));
}

Integers output_sizes(const Graph& graph) {
    return type_of(graph, graph.outputs.at(0)).sizes;
}

std::string failure(const std::function<void()>& reading) {
    try {
        reading();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

std::string failure(const std::string& text, const SymbolValues& set = {}) {
    return failure([&] { read(text, set); });
}

// --- symbols ----------------------------------------------------------------------------------------------------

const std::string relu = "g (float[batch, 4] x) => (float[batch, 4] y) { y = Relu(x) }";

TEST(OnnxSymbols, EveryOneOfAnInputNeedsAValue) {
    EXPECT_THAT(failure(relu), AllOf(HasSubstr("net.onnx"), HasSubstr("batch (dimension 0 of input \"x\")"),
                                     HasSubstr("--set batch=8")));
    EXPECT_THAT(calls(relu, {{"batch", 3}}), ElementsAre("aten::relu(self=f32[3,4])"));
    EXPECT_EQ(read(relu, {{"batch", 3}}).symbols.at("batch").value, 3);
}

TEST(OnnxSymbols, AnUnknownOneIsRefusedWithThoseThereAre) {
    EXPECT_THAT(failure(relu, {{"batch", 1}, {"size", 2}}), AllOf(HasSubstr("no symbol size"), HasSubstr("batch")));
    EXPECT_THAT(failure(relu, {{"batch", -1}}), HasSubstr("cannot be negative"));
}

TEST(OnnxSymbols, ADimensionWithoutAnyNameGetsOne) {
    auto model = onnx_model(relu);
    auto& shape = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.mutable_dim(0)->clear_dim_param();
    EXPECT_THAT(failure([&] { read_bytes(model.SerializeAsString()); }), HasSubstr("--set x_dim_0=8"));
    shape.mutable_dim(0)->set_dim_value(-1);
    EXPECT_EQ(output_sizes(read_bytes(model.SerializeAsString(), {{"x_dim_0", 5}})), (Integers{5, 4}));
}

TEST(OnnxSymbols, ExpressionsAreWorkedOutAndOtherTextsAreNames) {
    auto model = onnx_model(relu);
    auto& shape = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape.mutable_dim(1)->set_dim_param("2*batch + 1");
    EXPECT_EQ(output_sizes(read_bytes(model.SerializeAsString(), {{"batch", 3}})), (Integers{3, 7}));
    shape.mutable_dim(1)->set_dim_param("batch-size");
    EXPECT_EQ(output_sizes(read_bytes(model.SerializeAsString(), {{"batch", 3}, {"batch-size", 9}})), (Integers{3, 9}));
}

TEST(OnnxSymbols, TheWholeNetworkIsShapedAnew) {
    // [batch, 3, 8] to [batch * 3, 8] by the shape that the network works out itself.
    const Graph graph = read(R"(g (float[batch, 3, 8] x) => (float[n, 8] y)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[1] rest = {-1}>
        { s = Shape(x)  b = Gather(s, zero)  c = Gather(s, one)  n = Mul(b, c)
          shape = Concat<axis = 0>(n, rest)  y = Reshape(x, shape) })",
                             {{"batch", 2}});
    EXPECT_THAT(signatures(graph), ElementsAre("aten::reshape(self=f32[2,3,8], shape=[6,8])"));
    EXPECT_THAT(signatures(with_symbol(graph, "batch", 5)),
                ElementsAre("aten::reshape(self=f32[5,3,8], shape=[15,8])"));
    EXPECT_EQ(with_symbol(with_symbol(graph, "batch", 5), "batch", 7).symbols.at("batch").value, 7);
}

TEST(OnnxSymbols, WhatWasDoneToTheGraphStaysDoneAtOtherSizes) {
    const std::string text = "g (float[batch, 4] x) => (float[batch, 2] y) <float[4, 2] w> { y = MatMul(x, w) }";
    const Graph training = to_training(with_dtype(read(text, {{"batch", 2}}), Dtype::bf16));
    const Graph larger = with_symbol(training, "batch", 16);
    EXPECT_EQ(larger.mode, Mode::training);
    EXPECT_THAT(signatures(larger), ElementsAre("aten::linear(input=bf16[16,4], weight=bf16[2,4]~)"));
}

// --- weights ----------------------------------------------------------------------------------------------------

TEST(OnnxWeights, KeepTheirNamesAndKinds) {
    const Graph graph = read(R"(g (float[1, 3, 8, 8] x) => (float[1, 3, 8, 8] y)
        <float[3] scale, float[3] shift, float[3] mean, float[3] spread>
        { y = BatchNormalization(x, scale, shift, mean, spread) })");
    std::map<std::string, GraphInput::Kind> kinds;
    for (const GraphInput& input : graph.inputs) kinds[input.name] = input.kind;
    EXPECT_EQ(kinds.at("x"), GraphInput::Kind::user_input);
    EXPECT_EQ(kinds.at("scale"), GraphInput::Kind::parameter);
    EXPECT_EQ(kinds.at("mean"), GraphInput::Kind::buffer);
    EXPECT_THAT(signature(graph.nodes.at(0).operation),
                AllOf(HasSubstr("weight=f32[3]"), HasSubstr("training=false"), HasSubstr("eps=1e-05")));
}

TEST(OnnxWeights, ListedAmongTheInputsTheyAreStillWeights) {
    auto model = onnx_model("g (float[2, 4] x, float[4, 2] w) => (float[2, 2] y) { y = MatMul(x, w) }");
    auto& weight = *model.mutable_graph()->add_initializer();
    weight.set_name("w");
    weight.set_data_type(1);
    weight.add_dims(4);
    weight.add_dims(2);
    const Graph graph = read_bytes(model.SerializeAsString());
    ASSERT_EQ(graph.inputs.size(), 2);
    EXPECT_EQ(graph.inputs[1].kind, GraphInput::Kind::parameter);
}

TEST(OnnxWeights, RawNumbersOfShapesAreReadAndThoseOfWeightsAreNot) {
    auto model = onnx_model("g (float[2, 6] x) => (float[3, 4] y) <int64[2] s> { y = Reshape(x, s) }");
    auto& shape = *model.mutable_graph()->mutable_initializer(0);
    shape.clear_data_location();
    shape.set_raw_data(std::string("\x03\0\0\0\0\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 16));  // 3, -1
    EXPECT_EQ(output_sizes(read_bytes(model.SerializeAsString())), (Integers{3, 4}));
    shape.set_raw_data("short");
    EXPECT_THAT(failure([&] { read_bytes(model.SerializeAsString()); }), HasSubstr("tensor \"s\""));
}

TEST(OnnxWeights, OfAProductWithTwoUsesIsOneParameter) {
    const Graph graph = read(R"(g (float[2, 4] x) => (float[2, 4] y) <float[4, 4] w>
        { a = MatMul(x, w)  b = MatMul(a, w)  c = MatMul(w, w)  y = MatMul(b, c) })");
    EXPECT_EQ(graph.inputs.size(), 2);
    EXPECT_THAT(signatures(graph)[0], HasSubstr("aten::linear"));
}

// --- structure --------------------------------------------------------------------------------------------------

TEST(OnnxGraph, NodesOutOfOrderAndCyclesAreNamed) {
    EXPECT_THAT(failure("g (float[2] x) => (float[2] y) { a = Relu(b)  b = Relu(x)  y = Add(a, b) }"),
                AllOf(HasSubstr("node 0 (Relu \"a\")"), HasSubstr("input \"b\"")));
    EXPECT_THAT(failure("g (float[2] x) => (float[2] y) { y = Add(y, x) }"), HasSubstr("input \"y\""));
    EXPECT_THAT(failure("g (float[2] x) => (float[2] y) { a = Relu(x) }"), HasSubstr("output \"y\""));
    EXPECT_THAT(failure("g (float[2] x) => (float[2] x) { x = Relu(x) }"), HasSubstr("a second time"));
}

TEST(OnnxGraph, AnOperatorWithoutTranslationKeepsItsNameAndBytes) {
    const Graph graph = read("g (float[2, 8] x) => (float[2, 8] y) { y = com.example.Magic<depth = 3>(x) }");
    EXPECT_THAT(signatures(graph), ElementsAre("onnx::com.example.Magic(inputs=[f32[2,8]], depth=3)"));
    EXPECT_EQ(find_record(graph.nodes[0].operation.target), nullptr);
    EXPECT_EQ(forward_counts(graph.nodes[0].operation).bytes_read, 64);  // 2 * 8 * 4 bytes
    EXPECT_EQ(output_sizes(graph), (Integers{2, 8}));
}

TEST(OnnxGraph, WithoutSizesOfItsOutputsItIsRefusedWithACure) {
    EXPECT_THAT(failure("g (float[2] x) => (float[2] y) { a = com.example.Magic(x)  y = Relu(a) }"),
                AllOf(HasSubstr("node 0 (com.example.Magic"), HasSubstr("infer_shapes")));
}

TEST(OnnxGraph, ABranchWithAKnownConditionIsTaken) {
    const std::string text = R"(g (float[n, 4] x) => (float[m] y) <int64 one = {1}, int64[1] axis = {0}>
        { s = Shape<end = 1>(x)  z = Squeeze(s, axis)  c = Equal(z, one)
          y = If (c) <then_branch = a () => (float[4] p) { p = Squeeze(x, axis) },
                      else_branch = b () => (float[k, 4] q) { q = Relu(x) }> })";
    EXPECT_THAT(calls(text, {{"n", 1}}), ElementsAre("aten::squeeze.dims(self=f32[1,4], dim=[0])"));
    EXPECT_THAT(calls(text, {{"n", 2}}), ElementsAre("aten::relu(self=f32[2,4])"));
}

TEST(OnnxGraph, ABranchThatDependsOnDataIsNamedWithWhatItReads) {
    const Graph graph = read(R"(g (bool c, float[2, 4] x, float[9] other) => (float[2, 4] y)
        { y = If (c) <then_branch = a () => (float[2, 4] p) { p = Relu(x) },
                      else_branch = b () => (float[2, 4] q) { q = Tanh(x) }> })");
    EXPECT_THAT(signatures(graph), ElementsAre("onnx::If(inputs=[bool[],f32[2,4]])"));
    EXPECT_EQ(output_sizes(graph), (Integers{2, 4}));
}

// --- functions --------------------------------------------------------------------------------------------------

TEST(OnnxFunctions, AreInlinedWithTheirAttributes) {
    EXPECT_THAT(calls(R"(g (float[3] x) => (float[3] y) { y = local.f<alpha = 0.5>(x) }
        <domain: "local", opset_import: ["" : 17]>
        f <alpha> (v) => (r) { r = LeakyRelu<alpha: float = @alpha>(v) })"),
                ElementsAre("aten::leaky_relu(self=f32[3], negative_slope=0.5)"));
}

TEST(OnnxFunctions, ThatCallThemselvesAreRefused) {
    EXPECT_THAT(failure(R"(g (float[3] x) => (float[3] y) { y = local.a(x) }
        <domain: "local", opset_import: ["local" : 1]> a (v) => (r) { r = local.b(v) }
        <domain: "local", opset_import: ["local" : 1]> b (v) => (r) { r = local.a(v) })"),
                AllOf(HasSubstr("node 0 (local.a"), HasSubstr("calls itself")));
}

TEST(OnnxFunctions, ThatDoubleAtEveryLevelAreRefused) {
    // 2^40 calls of the last one.
    std::string text = "g (float[3] x) => (float[3] y) { y = local.f0(x) }\n";
    for (int i = 0; i < 40; ++i) {
        const std::string next = i == 39 ? "Relu" : "local.f" + std::to_string(i + 1);
        text += "<domain: \"local\", opset_import: [\"\" : 17, \"local\" : 1]> f" + std::to_string(i) +
                " (v) => (r) { a = " + next + "(v)  r = " + next + "(a) }\n";
    }
    EXPECT_THAT(failure(text), HasSubstr("more than 250 000 nodes"));
}

// --- the arithmetic of sizes ------------------------------------------------------------------------------------

/// Sizes of what the integers `shape`, made by `nodes` from x: float[2, 3, 5], expand a scalar to.
Integers computed(const std::string& nodes, const std::string& constants = "") {
    return output_sizes(read("g (float[2, 3, 5] x, float[1] v) => (float[k] y) <int64[1] unused = {0}" + constants +
                             "> { s = Shape(x) " + nodes + " y = Expand(v, shape) }"));
}

TEST(OnnxSizes, AreSlicedForwardsAndBackwards) {
    const std::string constants = ", int64[1] a = {-1}, int64[1] b = {-9}, int64[1] c = {-1}, int64[1] zero = {0}";
    EXPECT_EQ(computed("shape = Slice(s, a, b, zero, c)", constants), (Sizes{5, 3, 2}));
    EXPECT_EQ(computed("shape = Slice(s, one, many)", ", int64[1] one = {1}, int64[1] many = {9223372036854775807}"),
              (Sizes{3, 5}));
}

TEST(OnnxSizes, AreComputedAsOnnxDoes) {
    // 2 3 5 divided by 2 2 2, towards zero.
    EXPECT_EQ(computed("shape = Div(s, two)", ", int64 two = {2}"), (Sizes{1, 1, 2}));
    // (1 - s) mod 4: -1, -2, -4 take the divisor's sign.
    EXPECT_EQ(computed("t = Sub(one, s) shape = Mod(t, four)", ", int64 one = {1}, int64 four = {4}"),
              (Sizes{3, 2, 0}));
    EXPECT_EQ(computed("c = Equal(s, three) shape = Where(c, seven, s)", ", int64 three = {3}, int64 seven = {7}"),
              (Sizes{2, 7, 5}));
    EXPECT_EQ(computed("shape = Range(two, ten, three)", ", int64 two = {2}, int64 ten = {10}, int64 three = {3}"),
              (Sizes{2, 5, 8}));
    EXPECT_EQ(computed("n = ReduceProd(s) shape = Concat<axis = 0>(n, s)"), (Sizes{30, 2, 3, 5}));
    EXPECT_EQ(computed("a, b = Split(s, parts) shape = Concat<axis = 0>(b, a)", ", int64[2] parts = {1, 2}"),
              (Sizes{3, 5, 2}));
    EXPECT_EQ(
        computed("f = Cast<to = 1>(s) g = Mul(f, half) h = Ceil(g) shape = Cast<to = 7>(h)", ", float half = {0.5}"),
        (Sizes{1, 2, 3}));  // halves of 2 3 5, rounded up
}

/// The way in which TorchScript's exporter turns torch's paddings into ONNX' ones.
TEST(OnnxSizes, PaddingsAreTurnedRound) {
    const Graph graph = read(R"(g (float[1, 2, 3, 4] x) => (float[a, b, c, d] y)
        <int64[4] pad = {1, 2, 5, 6}, int64[1] four = {4}, int64[2] two = {-1, 2}, int64[1] zero = {0},
         int64[1] last = {-1}, int64[1] least = {-9223372036854775807}, int64[1] flat = {-1}>
        { z = ConstantOfShape<value = int64[1] {0}>(four)  all = Concat<axis = 0>(pad, z)
          pairs = Reshape(all, two)  turned = Slice(pairs, last, least, zero, last)
          t = Transpose<perm = [1, 0]>(turned)  p = Reshape(t, flat)  y = Pad(x, p) })");
    EXPECT_THAT(signatures(graph), ElementsAre("aten::pad(self=f32[1,2,3,4], pad=[1,2,5,6])"));
    EXPECT_EQ(output_sizes(graph), (Sizes{1, 2, 14, 7}));  // 3 + 5 + 6, 4 + 1 + 2
}

TEST(OnnxSizes, OfPositionsBecomeATensorOnlyWhereOneIsAskedFor) {
    const std::string text =
        R"(g (float[n, 4] x) => (float[n, 4] y) <float[9, 4] table, int64 zero = {0}, int64 one = {1}>
        { s = Shape<end = 1>(x)  k = Squeeze(s)  p = Range(zero, k, one)  e = Gather(table, p)  y = Add(x, e) })";
    EXPECT_THAT(calls(text, {{"n", 5}}), ElementsAre("aten::arange.start_step(start=0, end=5, dtype=i64)",
                                                     "aten::embedding(weight=f32[9,4], indices=i64[5])",
                                                     "aten::add.Tensor(self=f32[5,4], other=f32[5,4])"));
}

TEST(OnnxSizes, ThatDependOnDataAreNamed) {
    EXPECT_THAT(failure("g (float[8] x, int64[2] s) => (float[a, b] y) { y = Reshape(x, s) }"),
                AllOf(HasSubstr("Reshape"), HasSubstr("\"s\""), HasSubstr("only known when the network runs")));
}

TEST(OnnxSizes, ThatOnlyTheDataDecidesCanBeSet) {
    const std::string text = "g (float[4, 5] x) => (float[a, b] y) { n = NonZero(x)  y = Cast<to = 1>(n) }";
    EXPECT_THAT(failure(text), AllOf(HasSubstr("NonZero"), HasSubstr("--set n_dim_1=8")));
    const Graph graph = read(text, {{"n_dim_1", 7}});
    EXPECT_EQ(output_sizes(graph), (Sizes{2, 7}));
    EXPECT_EQ(output_sizes(with_symbol(graph, "n_dim_1", 3)), (Sizes{2, 3}));
    EXPECT_THAT(failure(text, {{"n_dim_1", 7}, {"m_dim_0", 7}}), HasSubstr("no symbol m_dim_0"));
}

TEST(OnnxSizes, NumbersOfAnInputCanBeSet) {
    const std::string text = "g (float[4, 6] x, int64[2] s) => (float[a, b] y) { y = Reshape(x, s) }";
    EXPECT_THAT(failure(text), AllOf(HasSubstr("input \"s\" can be given"), HasSubstr("--set s_value_0=1"),
                                     HasSubstr("--set s_value_1=1")));
    const Graph graph = read(text, {{"s_value_0", 8}, {"s_value_1", -1}});
    EXPECT_EQ(output_sizes(graph), (Sizes{8, 3}));
    EXPECT_EQ(output_sizes(with_symbols(graph, {{"s_value_0", 3}})), (Sizes{3, 8}));
    EXPECT_THAT(failure(text, {{"s_value_0", 8}}), HasSubstr("its number 1 is not set"));
    EXPECT_THAT(failure(text, {{"s_value_0", 8}, {"s_value_1", 3}, {"t_value_0", 8}}),
                HasSubstr("no symbol t_value_0"));
}

TEST(OnnxSizes, AnEmptyInputOfAxesNeedsNoNumbers) {
    EXPECT_EQ(output_sizes(read("g (float[4, 6] x, int64[0] a) => (float[1, 1] y) { y = ReduceSum(x, a) }")),
              (Sizes{1, 1}));
}

TEST(OnnxSizes, OfTheFileStandInForNumbersThatAreNotKnown) {
    EXPECT_EQ(output_sizes(read("g (float[4, 6] x, int64[2] s) => (float[8, 3] y) { y = Reshape(x, s) }")),
              (Sizes{8, 3}));
    EXPECT_EQ(output_sizes(read("g (float[1, 1, 4, 6] x, float[4] s) => (float[1, 1, 8, 9] y) { y = Resize(x, , s) }")),
              (Sizes{1, 1, 8, 9}));
}

TEST(OnnxInputs, ThatAreNoTensorsOfNumbersAreRefusedForWhatTheyAre) {
    EXPECT_THAT(failure("g (string[4] x) => (string[4] y) { y = Identity(x) }"), HasSubstr("it holds strings"));
    auto model = testing::onnx_model("g (float[4] x) => (float[4] y) { y = ConcatFromSequence<axis = 0>(x) }");
    model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type();
    const std::string bytes = model.SerializeAsString();
    EXPECT_THAT(failure([&] { read_onnx(std::as_bytes(std::span(bytes)), "net.onnx", {}); }),
                HasSubstr("it is a sequence"));
}

TEST(OnnxVersions, ThatNothingWasTestedWithAreReadWithANote) {
    const std::string text = "g (float[4] x) => (float[4] y) { y = Relu(x) }";
    const auto notes = [&](int opset) {
        const std::string bytes = testing::onnx_bytes(text, opset);
        return read_onnx(std::as_bytes(std::span(bytes)), "net.onnx", {}).notes;
    };
    EXPECT_THAT(notes(10), ElementsAre(HasSubstr("version 10 of ONNX's operator set")));
    EXPECT_THAT(notes(99), ElementsAre(HasSubstr("version 99 of ONNX's operator set")));
    EXPECT_TRUE(notes(11).empty());
    EXPECT_TRUE(notes(22).empty());
}

TEST(OnnxSequences, CostNothingAndAreKnown) {
    const std::string text =
        R"(g (float[4, 6] x, float[2, 6] z) => (float[a, b] y) <int64 first = {0}, int64 last = {-1}>
        { s = SplitToSequence<axis = 0>(x)  t = SequenceErase(s, first)  u = SequenceInsert(t, z)
          n = SequenceLength(u)  e = SequenceAt(u, last)  o = Optional(e)  h = OptionalHasElement(o)
          k = OptionalGetElement(o)  c = ConcatFromSequence<axis = 0>(u)  r = Concat<axis = 0>(c, k)  y = Mul(r, r) })";
    EXPECT_THAT(calls(text), ElementsAre("aten::split_with_sizes(self=f32[4,6], split_sizes=[1,1,1,1])",
                                         "aten::cat(tensors=[f32[1,6],f32[1,6],f32[1,6],f32[2,6]])",
                                         "aten::cat(tensors=[f32[5,6],f32[2,6]])",
                                         "aten::mul.Tensor(self=f32[7,6], other=f32[7,6])"));
    EXPECT_THAT(failure(R"(g (float[4] x) => (float[4] y) <int64 at = {3}>
                           { s = SequenceConstruct(x, x)  y = SequenceAt(s, at) })"),
                HasSubstr("no place 3 in a sequence of 2"));
}

TEST(OnnxLoops, OfAKnownNumberOfTurnsAreWrittenOut) {
    const std::string text =
        R"(g (float[2, 3] x) => (float[2, 3] y, float[t, 2, 3] all) <int64 turns = {3}, bool go = {1}>
        { y, all = Loop<body = b (int64 i, bool c, float[2, 3] s) => (bool d, float[2, 3] r, float[2, 3] e)
          { d = Identity(c)  r = Tanh(s)  e = Identity(r) }>(turns, go, x) })";
    EXPECT_THAT(calls(text),
                ElementsAre("aten::tanh(self=f32[2,3])", "aten::tanh(self=f32[2,3])", "aten::tanh(self=f32[2,3])",
                            "aten::stack(tensors=[f32[2,3],f32[2,3],f32[2,3]])"));
}

TEST(OnnxLoops, WithoutEndAreRefused) {
    EXPECT_THAT(failure(R"(g (float[2] x) => (float[2] y) <int64 turns = {4096}, bool go = {1}>
        { y = Loop<body = b (int64 i, bool c, float[2] s) => (bool d, float[2] r) { d = Identity(c)
          r = Loop<body = k (int64 j, bool e, float[2] t) => (bool f, float[2] u) { f = Identity(e)  u = Tanh(t) }>
          (turns, go, s) }>(turns, go, x) })"),
                HasSubstr("more than 250 000 nodes"));
}

TEST(OnnxLoops, ScansSeeASliceEachTurn) {
    const std::string text = R"(g (float[2] s, float[3, 2] x) => (float[2] y, float[3, 2] all)
        { y, all = Scan<num_scan_inputs = 1, body = b (float[2] a, float[2] v) => (float[2] r, float[2] e)
          { r = Add(a, v)  e = Identity(r) }>(s, x) })";
    const Graph graph = read(text);
    EXPECT_EQ(type_of(graph, graph.outputs.at(1)).sizes, (Sizes{3, 2}));
    EXPECT_EQ(graph.nodes.size(), 3U * 2 + 1);
}

TEST(OnnxSizes, OverflowAndDivisionByZeroAreRefused) {
    EXPECT_THAT(failure([] { computed("shape = Div(s, zero)", ", int64 zero = {0}"); }), HasSubstr("divides by zero"));
    EXPECT_THAT(failure([] { computed("shape = Mul(s, most)", ", int64 most = {9223372036854775807}"); }),
                HasSubstr("overflows"));
    EXPECT_THAT(failure([] { computed("shape = Mul(s, much)", ", int64 much = {4611686018427387904}"); }),
                HasSubstr("overflow"));
    EXPECT_THAT(failure([] { computed("shape = Mul(s, much)", ", int64 much = {1000000000000}"); }), HasSubstr("2^"));
}

// --- operators --------------------------------------------------------------------------------------------------

TEST(OnnxOperators, PaddingOfTwoSidesIsMadeFirst) {
    EXPECT_THAT(calls(R"(g (float[1, 3, 7, 7] x) => (float[1, 8, 4, 4] y) <float[8, 3, 3, 3] w>
        { y = Conv<strides = [2, 2], pads = [0, 0, 1, 1]>(x, w) })"),
                ElementsAre(HasSubstr("aten::constant_pad_nd(self=f32[1,3,7,7], pad=[0,1,0,1]"),
                            "aten::conv2d(input=f32[1,3,8,8], weight=f32[8,3,3,3], stride=[2,2])"));
}

TEST(OnnxOperators, SamePaddingKeepsAsManyOutputsAsStridesFit) {
    const Graph graph = read(R"(g (float[1, 3, 8, 7] x) => (float[a, b, c, d] y) <float[8, 3, 3, 3] w>
        { y = Conv<strides = [2, 2], auto_pad = "SAME_UPPER">(x, w) })");
    EXPECT_EQ(output_sizes(graph), (Sizes{1, 8, 4, 4}));  // ceil(8 / 2), ceil(7 / 2)
}

TEST(OnnxOperators, TransposedConvolutionHasTheSizesOfItsDefinition) {
    const Graph graph = read(R"(g (float[1, 4, 5, 5] x) => (float[a, b, c, d] y) <float[4, 2, 3, 3] w>
        { y = ConvTranspose<strides = [2, 2], pads = [0, 1, 1, 1], output_padding = [1, 1]>(x, w) })");
    // (5 - 1) 2 + (3 - 1) + 1 + 1 - pads: 12 - 1, 12 - 2
    EXPECT_EQ(output_sizes(graph), (Sizes{1, 2, 11, 10}));
}

TEST(OnnxOperators, SoftmaxOfOldSetsIsTakenOverAllThatFollows) {
    const std::string text = "g (float[2, 3, 4] x) => (float[2, 3, 4] y) { y = Softmax<axis = 1>(x) }";
    EXPECT_THAT(calls(text, {}, 13), ElementsAre("aten::softmax.int(self=f32[2,3,4], dim=1)"));
    EXPECT_THAT(calls(text, {}, 11),
                ElementsAre("aten::reshape(self=f32[2,3,4], shape=[2,12])", "aten::softmax.int(self=f32[2,12], dim=1)",
                            "aten::reshape(self=f32[2,12], shape=[2,3,4])"));
}

TEST(OnnxOperators, AxesComeAsAttributeOrAsInput) {
    const std::string call = "aten::mean.dim(self=f32[2,3,4], dim=[2], keepdim=true)";
    EXPECT_THAT(calls("g (float[2, 3, 4] x) => (float[2, 3, 1] y) { y = ReduceMean<axes = [-1]>(x) }"),
                ElementsAre(call));
    EXPECT_THAT(
        calls("g (float[2, 3, 4] x) => (float[2, 3, 1] y) <int64[1] a = {-1}> { y = ReduceMean(x, a) }", {}, 18),
        ElementsAre(call));
}

TEST(OnnxOperators, NumbersStandWhereTorchPutsThem) {
    const std::string start = "g (float[2, 3] x) => (float[2, 3] y) <float two = {2.0}> { y = ";
    EXPECT_THAT(calls(start + "Mul(two, x) }"), ElementsAre("aten::mul.Tensor(self=f32[2,3], other=2.0)"));
    EXPECT_THAT(calls(start + "Sub(two, x) }"), ElementsAre("aten::rsub.Scalar(self=f32[2,3], other=2.0)"));
    EXPECT_THAT(calls(start + "Pow(x, two) }"), ElementsAre("aten::pow.Tensor_Scalar(self=f32[2,3], exponent=2.0)"));
    EXPECT_THAT(calls(start + "Clip(x, , two) }"), ElementsAre("aten::clamp(self=f32[2,3], max=2.0)"));
    EXPECT_THAT(calls(start + "Max(x, two) }"), ElementsAre("aten::clamp_min(self=f32[2,3], min=2.0)"));
}

TEST(OnnxOperators, ASliceBackwardsIsFlippedFirst) {
    EXPECT_THAT(calls(R"(g (float[2, 9] x) => (float[2, 3] y)
        <int64[1] s = {7}, int64[1] e = {1}, int64[1] a = {1}, int64[1] st = {-2}> { y = Slice(x, s, e, a, st) })"),
                // Elements 7, 5, 3 of nine are 1, 3, 5 of the flipped.
                ElementsAre("aten::flip(self=f32[2,9], dims=[1])",
                            "aten::slice.Tensor(self=f32[2,9], dim=1, start=1, end=7, step=2)"));
}

TEST(OnnxOperators, GemmIsLinearWhereItsBiasIsAVector) {
    EXPECT_THAT(calls("g (float[2, 4] x) => (float[2, 3] y) <float[3, 4] w, float[3] b> "
                      "{ y = Gemm<transB = 1>(x, w, b) }"),
                ElementsAre("aten::linear(input=f32[2,4], weight=f32[3,4], bias=f32[3])"));
    EXPECT_THAT(calls("g (float[2, 4] x, float[4, 3] w) => (float[2, 3] y) <float[2, 1] b> { y = Gemm(x, w, b) }"),
                ElementsAre("aten::addmm(self=f32[2,1], mat1=f32[2,4], mat2=f32[4,3])"));
}

// --- patterns ---------------------------------------------------------------------------------------------------

TEST(OnnxPatterns, ProductAndSumAreLinear) {
    const std::string call = "aten::linear(input=f32[2,7,4], weight=f32[3,4], bias=f32[3])";
    EXPECT_THAT(calls("g (float[2, 7, 4] x) => (float[2, 7, 3] y) <float[4, 3] w, float[3] b> "
                      "{ t = MatMul(x, w)  y = Add(b, t) }"),
                ElementsAre(call));
    EXPECT_THAT(calls("g (float[2, 7, 4] x) => (float[2, 7, 3] y) <float[3, 4] w, float[3] b> "
                      "{ v = Transpose<perm = [1, 0]>(w)  t = MatMul(x, v)  y = Add(t, b) }"),
                ElementsAre(call));
}

TEST(OnnxPatterns, AProductUsedTwiceKeepsItsSum) {
    EXPECT_THAT(calls("g (float[2, 4] x) => (float[2, 3] y) <float[4, 3] w, float[3] b> "
                      "{ t = MatMul(x, w)  u = Add(t, b)  y = Mul(u, t) }"),
                ElementsAre("aten::linear(input=f32[2,4], weight=f32[3,4])", HasSubstr("aten::add.Tensor"),
                            HasSubstr("aten::mul.Tensor")));
}

TEST(OnnxPatterns, GeluIsSeenInEveryOrder) {
    const std::string start = R"(g (float[2, 8] x) => (float[2, 8] y)
        <float root = {1.4142135}, float one = {1.0}, float half = {0.5}> { d = Div(x, root)  e = Erf(d)  s = Add(e, one) )";
    for (const char* rest : {"m = Mul(x, s)  y = Mul(m, half) }", "m = Mul(x, half)  y = Mul(m, s) }",
                             "m = Mul(half, s)  y = Mul(x, m) }"})
        EXPECT_THAT(calls(start + rest), ElementsAre("aten::gelu(self=f32[2,8])")) << rest;
}

TEST(OnnxPatterns, GatesAreSiluAndHardSwish) {
    const std::string start = "g (float[2, 8] x) => (float[2, 8] y) ";
    EXPECT_THAT(calls(start + "{ s = Sigmoid(x)  y = Mul(x, s) }"), ElementsAre("aten::silu(self=f32[2,8])"));
    EXPECT_THAT(calls(start + "{ s = HardSigmoid(x)  y = Mul(s, x) }"), ElementsAre("aten::hardswish(self=f32[2,8])"));
    EXPECT_THAT(calls(start + "{ s = Sigmoid(x)  t = Mul(x, s)  y = Add(t, s) }"),
                ElementsAre(HasSubstr("sigmoid"), HasSubstr("mul"), HasSubstr("add")));
}

TEST(OnnxPatterns, NormalizationByMeansIsLayerNorm) {
    const std::string start = R"(g (float[2, 7, 8] x) => (float[2, 7, 8] y)
        <float[8] w, float[8] b, float two = {2.0}, float eps = {0.00001}>
        { m = ReduceMean<axes = [-1]>(x)  d = Sub(x, m)  p = Pow(d, two)  v = ReduceMean<axes = [-1]>(p)
          e = Add(v, eps)  r = Sqrt(e) )";
    EXPECT_THAT(calls(start + "n = Div(d, r)  t = Mul(n, w)  y = Add(t, b) }"),
                ElementsAre("aten::layer_norm(input=f32[2,7,8], normalized_shape=[8], weight=f32[8], bias=f32[8])"));
    EXPECT_THAT(calls(start + "y = Div(d, r) }"),
                ElementsAre("aten::layer_norm(input=f32[2,7,8], normalized_shape=[8])"));
}

TEST(OnnxPatterns, AttentionKeepsItsFlops) {
    const Graph graph =
        read(R"(g (float[2, 4, 9, 16] q, float[2, 4, 16, 7] k, float[2, 4, 7, 32] v, float[2, 1, 9, 7] mask)
        => (float[2, 4, 9, 32] y) <float root = {4.0}>
        { s = MatMul(q, k)  t = Div(s, root)  m = Add(t, mask)  p = Softmax<axis = -1>(m)  y = MatMul(p, v) })");
    EXPECT_THAT(signatures(graph),
                ElementsAre(HasSubstr("aten::transpose.int"), HasSubstr("aten::scaled_dot_product_attention")));
    // 2 batch heads (queries keys depth + queries keys value_depth)
    EXPECT_EQ(forward_counts(graph.nodes[1].operation).flop, 2 * 2 * 4 * (9 * 7 * 16 + 9 * 7 * 32));
    EXPECT_EQ(output_sizes(graph), (Sizes{2, 4, 9, 32}));
}

TEST(OnnxPatterns, AttentionOverAnotherAxisStaysInParts) {
    EXPECT_THAT(
        calls(R"(g (float[2, 9, 16] q, float[2, 16, 9] k, float[2, 9, 5] v) => (float[2, 9, 5] y)
        { s = MatMul(q, k)  p = Softmax<axis = 1>(s)  y = MatMul(p, v) })"),
        ElementsAre(HasSubstr("aten::matmul"), "aten::softmax.int(self=f32[2,9,9], dim=1)", HasSubstr("aten::matmul")));
}

// --- names ------------------------------------------------------------------------------------------------------

TEST(OnnxNames, OfTorchScriptTellTheModule) {
    EXPECT_EQ(onnx::module_path_of_name("/layer1/layer1.0/conv1/Conv"), "layer1.0.conv1");
    EXPECT_EQ(onnx::module_path_of_name("/bert/encoder/layer.0/attention/self/query/MatMul"),
              "bert.encoder.layer.0.attention.self.query");
    EXPECT_EQ(onnx::module_path_of_name("/Relu"), "");
    EXPECT_EQ(onnx::module_path_of_name("Conv_3"), "");
}

TEST(OnnxNames, OfTheDynamoExporterTellTheModule) {
    EXPECT_EQ(onnx::module_path_of_scopes("['', 'layer1', 'layer1.0', 'layer1.0.bn1', 'batch_norm']"), "layer1.0.bn1");
    EXPECT_EQ(onnx::module_path_of_scopes("['', 'relu']"), "");
    EXPECT_EQ(onnx::module_path_of_scopes("['"), "");
}

// --- damaged and hostile files ----------------------------------------------------------------------------------

TEST(HostileOnnx, TruncatedAnywhereIsReadOrRefusedByName) {
    const std::string whole = onnx_bytes(R"(g (float[2, 4] x) => (float[2, 2] y) <float[4, 2] w, int64[1] k = {3}>
        { t = MatMul(x, w)  y = Relu(t) })");
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const std::string said = failure([&] { read_bytes(whole.substr(0, length)); });
        EXPECT_THAT(said, AnyOf("nothing was thrown", HasSubstr("net.onnx"))) << length;
    }
}

TEST(HostileOnnx, EveryFlippedByteIsReadOrRefused) {
    const std::string whole = onnx_bytes(R"(g (float[2, 4] x) => (float[2, 2] y) <float[4, 2] w, int64[2] k = {2, 2}>
        { t = MatMul(x, w)  y = Reshape(t, k) })");
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = static_cast<char>(~changed[at]);
        failure([&] { read_bytes(changed); });  // an Error or nothing, never another exception
    }
}

TEST(HostileOnnx, SizesThatNoMemoryHoldsAreRefused) {
    for (const std::int64_t size : {std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max()}) {
        auto model = onnx_model(relu);
        auto& shape = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
        shape.mutable_dim(0)->set_dim_value(size);
        EXPECT_THAT(failure([&] { read_bytes(model.SerializeAsString()); }), HasSubstr("input \"x\"")) << size;
    }
    auto model = onnx_model("g (float[2, 4] x) => (float[2, 2] y) <float[4, 2] w> { y = MatMul(x, w) }");
    model.mutable_graph()->mutable_initializer(0)->set_dims(0, -4);
    EXPECT_THAT(failure([&] { read_bytes(model.SerializeAsString()); }), HasSubstr("negative size"));
}

TEST(HostileOnnx, GraphsInGraphsHaveALimit) {
    ::onnx::ModelProto model = onnx_model(relu);
    ::onnx::GraphProto* graph = model.mutable_graph();
    for (int i = 0; i < 40; ++i) {
        auto& node = *graph->add_node();
        node.set_op_type("Loop");
        auto& attribute = *node.add_attribute();
        attribute.set_name("body");
        graph = attribute.mutable_g();
    }
    EXPECT_THAT(failure([&] { read_bytes(model.SerializeAsString(), {{"batch", 1}}); }), HasSubstr("deeper than 32"));
}

TEST(HostileOnnx, LongChainsOfEveryKindEnd) {
    std::string identities = "g (float[2] x) => (float[2] y) { v0 = Identity(x)\n";
    std::string ranges = "g (int64[1] x) => (int64[4] y) <int64[4] r0 = {1, 2, 3, 4}> {\n";
    for (int i = 1; i < 20000; ++i) {
        const std::string before = std::to_string(i - 1);
        const std::string now = std::to_string(i);
        identities += "v" + now + " = Identity(v" + before + ")\n";
        ranges += "r" + now + " = Neg(r" + before + ")\n";
    }
    EXPECT_EQ(read(identities + "y = Relu(v19999) }").nodes.size(), 1);
    // Known numbers are made a tensor from 64 calls back at most.
    EXPECT_LE(read(ranges + "y = Add(x, r19999) }").nodes.size(), 66);
}

}  // namespace
}  // namespace joulecast
