// Single operators against ONNX' own shape inference, and their FLOPs against their definitions.
#include "joulecast/graph/readers/onnx_ops.h"

#include <gtest/gtest.h>

#include <set>

#include "joulecast/graph/readers/onnx_tensor.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "tests/graph/onnx_text.h"

namespace joulecast {
namespace {

Graph read(const std::string& bytes) {
    return read_onnx(std::as_bytes(std::span(bytes)), "net.onnx", {});
}

std::int64_t flops(const Graph& graph) {
    std::int64_t sum = 0;
    for (const auto& [operation, count] : count_operations(graph)) sum += count * forward_counts(operation).flop;
    return sum;
}

std::int64_t flops(const std::string& text, int opset = 20) {
    return flops(read(testing::onnx_bytes(text, opset)));
}

struct Case {
    std::string name;
    /// Inputs, outputs without types, and the nodes; ONNX finds the outputs' types.
    std::string text;
};

class OnnxOperator : public ::testing::TestWithParam<Case> {};

TEST_P(OnnxOperator, HasTheSizesThatOnnxInfers) {
    ::onnx::ModelProto model = testing::onnx_model(GetParam().text, 20);
    auto& outputs = *model.mutable_graph()->mutable_output();
    for (auto& output : outputs) output.clear_type();
    ::onnx::shape_inference::InferShapes(model);
    const Graph graph = read(model.SerializeAsString());
    ASSERT_EQ(static_cast<std::size_t>(outputs.size()), graph.outputs.size());
    for (int i = 0; i < outputs.size(); ++i) {
        const auto& expected = outputs[i].type().tensor_type();
        const TensorType& type = type_of(graph, graph.outputs[static_cast<std::size_t>(i)]);
        EXPECT_EQ(type.dtype, onnx::required_dtype(expected.elem_type()));
        ASSERT_TRUE(expected.has_shape()) << "ONNX infers nothing";
        ASSERT_EQ(std::ssize(type.sizes), expected.shape().dim_size());
        // Some sizes ONNX leaves open: those of Einsum and the depth of OneHot.
        Integers sizes = type.sizes;
        for (int d = 0; d < expected.shape().dim_size(); ++d)
            if (expected.shape().dim(d).has_dim_value())
                sizes[static_cast<std::size_t>(d)] = expected.shape().dim(d).dim_value();
        EXPECT_EQ(type.sizes, sizes);
    }
    EXPECT_NE(onnx::find_row("", model.graph().node(0).op_type(), 20), nullptr);
}

const std::string image = "g (float[2, 8, 6, 6] x) => (float y) ";

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const char* name : {"Tan",
                             "Asin",
                             "Acos",
                             "Atan",
                             "Sinh",
                             "Cosh",
                             "Asinh",
                             "Acosh",
                             "Atanh",
                             "Shrink",
                             "Hardmax",
                             "Relu",
                             "Erf",
                             "HardSwish",
                             "Softsign",
                             "Celu",
                             "Elu",
                             "Selu",
                             "Softplus",
                             "ThresholdedRelu",
                             "Sign",
                             "LpNormalization",
                             "MeanVarianceNormalization",
                             "GlobalMaxPool",
                             "GlobalLpPool",
                             "GlobalAveragePool",
                             "Bernoulli",
                             "RandomNormalLike",
                             "RandomUniformLike",
                             "IsNaN",
                             "IsInf",
                             "LogSoftmax",
                             "Softmax",
                             "Det"})
        all.push_back({name, image + "{ y = " + name + "(x) }"});
    const std::vector<std::pair<std::string, std::string>> on_images{
        {"LRN", "{ y = LRN<size = 5>(x) }"},
        {"LpPool", "{ y = LpPool<kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>(x) }"},
        {"DepthToSpace", "{ y = DepthToSpace<blocksize = 2>(x) }"},
        {"DepthToSpaceByColumns", "{ y = DepthToSpace<blocksize = 2, mode = \"CRD\">(x) }"},
        {"SpaceToDepth", "{ y = SpaceToDepth<blocksize = 3>(x) }"},
        {"Trilu", "{ y = Trilu<upper = 0>(x) }"},
        {"ReduceLogSumExp", "<int64[2] axes = {1, 2}> { y = ReduceLogSumExp<keepdims = 0>(x, axes) }"},
        {"ReduceL1", "<int64[1] axes = {3}> { y = ReduceL1(x, axes) }"},
        {"ReduceSumSquare", "<int64[1] axes = {3}> { y = ReduceSumSquare(x, axes) }"},
        {"ReduceLogSum", "<int64[1] axes = {-1}> { y = ReduceLogSum(x, axes) }"},
        {"RandomNormal", "{ y = RandomNormal<shape = [3, 4]>() }"},
        {"ArgMin", "{ y = ArgMin<axis = 2, keepdims = 0>(x) }"},
        {"CumSum", "<int64 axis = {1}> { y = CumSum(x, axis) }"},
        {"Resize", "<float[4] s = {1.0, 1.0, 2.0, 1.5}> { y = Resize<mode = \"cubic\">(x, , s) }"},
        {"ResizeLinear", "<int64[4] s = {2, 8, 9, 13}> { y = Resize<mode = \"linear\">(x, , , s) }"},
        {"QuantizeLinear", "<float s = {0.1}, uint8 z = {3}> { y = QuantizeLinear(x, s, z) }"},
        {"Einsum", "{ y = Einsum<equation = \"bchw,bcwk->bchk\">(x, x) }"},
        {"EinsumOfAll", "{ y = Einsum<equation = \"b...w->bw...\">(x) }"},
    };
    for (const auto& [name, nodes] : on_images) all.push_back({name, image + nodes});
    const std::vector<Case> others{
        {"GatherND", "g (float[4, 5, 6] x, int64[3, 2] i) => (float y) { y = GatherND(x, i) }"},
        {"GatherNDOfBatches",
         "g (float[4, 5, 6] x, int64[4, 7, 1] i) => (float y) { y = GatherND<batch_dims = 1>(x, i) }"},
        {"ScatterND", "g (float[4, 5, 6] x, int64[3, 2] i, float[3, 6] u) => (float y) { y = ScatterND(x, i, u) }"},
        {"ScatterNDAdding",
         "g (float[4, 5] x, int64[3, 1] i, float[3, 5] u) => (float y) { y = ScatterND<reduction = \"add\">(x, i, u) "
         "}"},
        {"ScatterNDLargest",
         "g (float[4, 5] x, int64[3, 1] i, float[3, 5] u) => (float y) { y = ScatterND<reduction = \"max\">(x, i, u) "
         "}"},
        {"ScatterElements",
         "g (float[4, 5] x, int64[2, 5] i, float[2, 5] u) => (float y) { y = ScatterElements(x, i, u) }"},
        {"ScatterElementsLargest",
         "g (float[4, 5] x, int64[2, 5] i, float[2, 5] u) => (float y) "
         "{ y = ScatterElements<reduction = \"max\">(x, i, u) }"},
        {"GatherElements", "g (float[4, 5] x, int64[2, 5] i) => (float y) { y = GatherElements(x, i) }"},
        {"OneHot",
         "g (int64[4, 3] x) => (float y) <int64 d = {7}, float[2] v = {0.0, 1.0}> { y = OneHot<axis = 1>(x, d, v) }"},
        {"GridSample", "g (float[2, 3, 8, 8] x, float[2, 5, 4, 2] i) => (float y) { y = GridSample(x, i) }"},
        {"RoiAlign",
         "g (float[2, 3, 8, 8] x, float[5, 4] r, int64[5] b) => (float y) "
         "{ y = RoiAlign<output_height = 7, output_width = 6>(x, r, b) }"},
        {"MaxRoiPool",
         "g (float[2, 3, 8, 8] x, float[5, 5] r) => (float y) { y = MaxRoiPool<pooled_shape = [7, 6]>(x, r) }"},
        {"EyeLike", "g (float[4, 5] x) => (float y) { y = EyeLike(x) }"},
        {"Multinomial", "g (float[4, 5] x) => (int32 y) { y = Multinomial<sample_size = 3>(x) }"},
        {"BitShift", "g (uint8[4, 5] x, uint8[5] s) => (uint8 y) { y = BitShift<direction = \"LEFT\">(x, s) }"},
        {"Mod", "g (int64[4, 5] x, int64[5] s) => (int64 y) { y = Mod(x, s) }"},
        {"TopK", "g (float[4, 5] x) => (float y, int64 i) <int64[1] k = {2}> { y, i = TopK(x, k) }"},
        {"ReverseSequence", "g (float[4, 5] x, int64[5] s) => (float y) { y = ReverseSequence(x, s) }"},
        {"SoftmaxCrossEntropyLoss", "g (float[4, 5] x, int64[4] t) => (float y) { y = SoftmaxCrossEntropyLoss(x, t) }"},
        {"NegativeLogLikelihoodLoss",
         "g (float[4, 5] x, int64[4] t) => (float y) { y = NegativeLogLikelihoodLoss<reduction = \"none\">(x, t) }"},
        {"LSTM",
         "g (float[7, 2, 3] x) => (float y, float h, float c) <float[2, 20, 3] w, float[2, 20, 5] r, float[2, 40] b> "
         "{ y, h, c = LSTM<hidden_size = 5, direction = \"bidirectional\">(x, w, r, b) }"},
        {"LSTMBatchFirst",
         "g (float[2, 7, 3] x) => (float y, float h) <float[1, 20, 3] w, float[1, 20, 5] r> "
         "{ y, h = LSTM<hidden_size = 5, layout = 1>(x, w, r) }"},
        {"GRU",
         "g (float[7, 2, 3] x, float[1, 2, 5] s) => (float y, float h) <float[1, 15, 3] w, float[1, 15, 5] r> "
         "{ y, h = GRU<hidden_size = 5>(x, w, r, , , s) }"},
        {"RNN",
         "g (float[7, 2, 3] x) => (float y, float h) <float[1, 5, 3] w, float[1, 5, 5] r, float[1, 10] b> "
         "{ y, h = RNN<hidden_size = 5>(x, w, r, b) }"},
        {"DequantizeLinear", "g (int8[4, 5] x) => (float y) <float s = {0.1}> { y = DequantizeLinear(x, s) }"},
        {"DynamicQuantizeLinear",
         "g (float[4, 5] x) => (uint8 y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear(x) }"},
        {"MatMulInteger", "g (uint8[2, 4, 5] x) => (int32 y) <int8[5, 6] w> { y = MatMulInteger(x, w) }"},
        {"ConvInteger", "g (uint8[2, 4, 9, 9] x) => (int32 y) <int8[6, 4, 3, 3] w> { y = ConvInteger(x, w) }"},
        {"QLinearMatMul",
         "g (uint8[4, 5] x) => (uint8 y) <int8[5, 6] w, float s = {0.1}, uint8 z = {0}, int8 n = {0}> "
         "{ y = QLinearMatMul(x, s, z, w, s, n, s, z) }"},
        {"QLinearConv",
         "g (uint8[2, 4, 9, 9] x) => (uint8 y) <int8[6, 2, 3, 3] w, int32[6] b, float s = {0.1}, uint8 z = "
         "{0}, int8 n = {0}> { y = QLinearConv<group = 2, pads = [1, 1, 1, 1]>(x, s, z, w, s, n, s, z, b) }"},
    };
    all.insert(all.end(), others.begin(), others.end());
    return all;
}

Sizes sizes(const std::string& text, int opset = 20) {
    const Graph graph = read(testing::onnx_bytes(text, opset));
    return type_of(graph, graph.outputs.at(0)).sizes;
}

// An image of 2 x 4 to at most, or at least, 7 x 8: scales 3.5 and 2, of which one counts for both.
TEST(OnnxResize, KeepsTheAspectRatio) {
    const auto resized = [](const std::string& policy) {
        return sizes(
            "g (float[1, 1, 2, 4] x) => (float[1, 1, a, b] y) <int64[2] s = {7, 8}> { y = Resize<axes = [2, 3], "
            "keep_aspect_ratio_policy = \"" +
            policy + "\">(x, , , s) }");
    };
    EXPECT_EQ(resized("stretch"), (Sizes{1, 1, 7, 8}));
    EXPECT_EQ(resized("not_larger"), (Sizes{1, 1, 4, 8}));
    EXPECT_EQ(resized("not_smaller"), (Sizes{1, 1, 7, 14}));
}

TEST(OnnxResize, CutsTheRegionBeforeItScales) {
    EXPECT_EQ(sizes("g (float[1, 1, 8, 8] x) => (float[1, 1, a, b] y) <float[8] r = {0.0, 0.0, 0.25, 0.5, 1.0, 1.0, "
                    "0.75, 1.0}, "
                    "float[4] s = {1.0, 1.0, 2.0, 3.0}> "
                    "{ y = Resize<coordinate_transformation_mode = \"tf_crop_and_resize\">(x, r, s) }"),
              (Sizes{1, 1, 8, 12}));
}

TEST(OnnxResize, SmoothedIsTorchsSmoothedOne) {
    const Graph graph = read(testing::onnx_bytes(
        "g (float[1, 1, 8, 8] x) => (float[1, 1, 4, 4] y) <int64[4] s = {1, 1, 4, 4}> { y = Resize<mode = \"linear\", "
        "antialias = 1>(x, , , s) }"));
    EXPECT_EQ(graph.nodes.at(0).operation.target, "aten::_upsample_bilinear2d_aa.vec");
}

TEST(OnnxPow, HasTheTypeOfItsBase) {
    for (const std::string exponent : {"float[3] e", "float e"}) {
        const Graph graph =
            read(testing::onnx_bytes("g (int64[3] x, " + exponent + ") => (int64[3] y) { y = Pow(x, e) }"));
        EXPECT_EQ(type_of(graph, graph.outputs.at(0)).dtype, Dtype::i64);
    }
}

// Kernel 3 at distance 2 spans 5 of 9; the windows at 0, 2, 4.
TEST(OnnxPooling, WithDilationAveragesViews) {
    const std::string text =
        "g (float[1, 2, 9, 9] x) => (float[1, 2, a, b] y) { y = AveragePool<kernel_shape = [3, 3], dilations = [2, 2], "
        "strides = [2, 2]>(x) }";
    EXPECT_EQ(sizes(text), (Sizes{1, 2, 3, 3}));
    EXPECT_EQ(read(testing::onnx_bytes(text, 20)).nodes.back().operation.target, "aten::mean.dim");
}

// 2 x output x channels x kernel of a convolution with the same weights.
TEST(OnnxDeformConv, HasTheFlopsOfAConvolution) {
    EXPECT_EQ(flops("g (float[1, 4, 8, 8] x, float[1, 18, 6, 6] o) => (float[1, 5, 6, 6] y) <float[5, 4, 3, 3] w> "
                    "{ y = DeformConv<kernel_shape = [3, 3]>(x, w, o) }"),
              2 * (5 * 6 * 6) * (4 * 3 * 3));
}

TEST(OnnxEinsum, HasTheSizesOfItsEquation) {
    const Graph graph =
        read(testing::onnx_bytes("g (float[2, 8, 5, 6] x, float[2, 8, 6, 3] w) => (float[2, 5, 3] y) { y = "
                                 "Einsum<equation = \"bchw,bcwk->bhk\">(x, w) }"));
    EXPECT_EQ(type_of(graph, graph.outputs[0]).sizes, (Integers{2, 5, 3}));
}

TEST(OnnxTable, NoOperatorIsBothTranslatedAndNot) {
    std::set<std::pair<std::string_view, std::string_view>> translated;
    for (const onnx::Row* row : onnx::all_rows()) translated.insert({row->domain, row->op_type});
    EXPECT_GT(translated.size(), 190U);
    for (const std::string_view name : onnx::untranslated())
        EXPECT_FALSE(translated.contains({"", name})) << name << " has a translation";
}

INSTANTIATE_TEST_SUITE_P(Nodes, OnnxOperator, ::testing::ValuesIn(cases()),
                         [](const auto& parameter) { return parameter.param.name; });

// 2 per multiply-add: 2 directions of 20 x 3 and 20 x 5 weights, applied to 7 x 2 positions.
TEST(OnnxFlops, OfRecurrentNetworksAreThoseOfTheirWeights) {
    EXPECT_EQ(flops("g (float[7, 2, 3] x) => (float[7, 2, 2, 5] y) <float[2, 20, 3] w, float[2, 20, 5] r> "
                    "{ y = LSTM<hidden_size = 5, direction = \"bidirectional\">(x, w, r) }"),
              2 * 2 * (20 * 3 + 20 * 5) * 7 * 2);
    EXPECT_EQ(flops("g (float[7, 2, 3] x) => (float[7, 1, 2, 5] y) <float[1, 15, 3] w, float[1, 15, 5] r> "
                    "{ y = GRU<hidden_size = 5>(x, w, r) }"),
              2 * (15 * 3 + 15 * 5) * 7 * 2);
}

TEST(OnnxFlops, OfIntegerProductsAreThoseOfFloats) {
    EXPECT_EQ(flops("g (uint8[2, 4, 5] x) => (int32[2, 4, 6] y) <int8[5, 6] w> { y = MatMulInteger(x, w) }"),
              2 * 2 * 4 * 5 * 6);
    // Two groups: every output sees two of the four channels.
    EXPECT_EQ(
        flops("g (uint8[2, 4, 9, 9] x) => (uint8[2, 6, 9, 9] y) <int8[6, 2, 3, 3] w, float s = {0.1}, uint8 z = {0}, "
              "int8 n = {0}> { y = QLinearConv<group = 2, pads = [1, 1, 1, 1]>(x, s, z, w, s, n, s, z) }"),
        2 * (2 * 6 * 9 * 9) * (2 * 3 * 3));
}

std::int64_t microsoft_flops(const std::string& text) {
    ::onnx::ModelProto model = testing::onnx_model(text, 17);
    auto& opset = *model.add_opset_import();
    opset.set_domain("com.microsoft");
    opset.set_version(1);
    return flops(read(model.SerializeAsString()));
}

// Projection to query, key and value, then scores and their product with the values.
TEST(OnnxFlops, OfOnnxruntimesAttentionAreThoseOfItsParts) {
    EXPECT_EQ(microsoft_flops("g (float[2, 7, 8] x) => (float[2, 7, 8] y) <float[8, 24] w, float[24] b> "
                              "{ y = com.microsoft.Attention<num_heads = 2>(x, w, b) }"),
              2 * (2 * 7) * 8 * 24 + 2 * 2 * (2 * 2 * 7 * 7 * 4));
    EXPECT_EQ(microsoft_flops("g (float[2, 7, 8] q, float[2, 5, 8] k, float[2, 5, 8] v) => (float[2, 7, 8] y) "
                              "{ y = com.microsoft.MultiHeadAttention<num_heads = 2>(q, k, v) }"),
              2 * 2 * (2 * 2 * 7 * 5 * 4));
    // Four heads of queries share two of keys; three positions are in the cache.
    EXPECT_EQ(
        microsoft_flops(
            "g (float[2, 1, 16] q, float[2, 1, 8] k, float[2, 1, 8] v, float[2, 2, 3, 4] p, float[2, 2, 3, 4] "
            "o, int32[2] l, int32 t) => (float[2, 1, 16] y, float[2, 2, 4, 4] a, float[2, 2, 4, 4] b) { y, a, b = "
            "com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 2>(q, k, v, p, o, l, t) }"),
        2 * 2 * (2 * 4 * 1 * 4 * 4));
}

TEST(OnnxFlops, OfOnnxruntimesFusedProductsAreThoseOfThePlain) {
    EXPECT_EQ(microsoft_flops("g (float[2, 5, 4] x, float[2, 5, 6] w) => (float[2, 4, 6] y) "
                              "{ y = com.microsoft.FusedMatMul<transA = 1>(x, w) }"),
              2 * 2 * 4 * 5 * 6);
    EXPECT_EQ(microsoft_flops("g (float[2, 4, 9, 9] x) => (float[2, 6, 7, 7] y) <float[6, 4, 3, 3] w> "
                              "{ y = com.microsoft.FusedConv<activation = \"Relu\">(x, w) }"),
              2 * (2 * 6 * 7 * 7) * (4 * 3 * 3));
    EXPECT_EQ(
        microsoft_flops("g (float[2, 4, 8] x, float[2, 4, 8] s) => (float[2, 4, 8] y) <float[8] a, float[8] b> "
                        "{ z = com.microsoft.SkipLayerNormalization(x, s, a, b) y = com.microsoft.QuickGelu(z) }"),
        0);
}

}  // namespace
}  // namespace joulecast
