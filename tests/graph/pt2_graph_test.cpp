#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

TEST(Pt2Tensors, KeepTheirStrides) {
    const auto strides = [](std::vector<json> sizes, std::vector<std::int64_t> given) {
        json program = small_program();
        tensors_of(program)["x"] = tensor(std::move(sizes), std::move(given));
        return read(program).inputs[0].type.strides;
    };
    EXPECT_EQ(strides({2, 3, 4, 5}, {60, 20, 5, 1}), Strides{});
    EXPECT_EQ(strides({2, 3, 4, 5}, {60, 1, 15, 3}), (Strides{60, 1, 15, 3}));
    EXPECT_EQ(strides({2, 3, 4, 5}, {60, 20, 1, 4}), (Strides{60, 20, 1, 4}));
    EXPECT_EQ(strides({4, 3}, {9, 1}), (Strides{9, 1}));  // with gaps
    EXPECT_EQ(strides({4, 3}, {0, 1}), (Strides{0, 1}));  // expanded
    // Dimensions of size 1 are neutral: one channel in NHWC order is contiguous.
    EXPECT_EQ(strides({2, 1, 4, 5}, {20, 1, 5, 1}), Strides{});
    EXPECT_EQ(strides({0, 3}, {7, 7}), Strides{});
}

TEST(Pt2Tensors, SymbolicStridesFollowTheirSymbol) {
    json program = small_program();
    // [batch, 4] read as a transposed matrix: the second stride is the batch.
    tensors_of(program)["x"] = tensor({expression("s77", 8), 4}, {});
    tensors_of(program)["x"]["strides"] = json::array({json{{"as_int", 1}}, expression("s77", 8)});
    const Graph graph = read(program);
    EXPECT_EQ(graph.inputs[0].type, strided(Dtype::f32, {8, 4}, {1, 8}));
    const Graph single = with_symbol(graph, "batch", 1);
    EXPECT_EQ(single.inputs[0].type, (TensorType{Dtype::f32, {1, 4}}));
    // One row is contiguous, but the strides come back with the rows.
    const Graph again = with_symbol(single, "batch", 3);
    EXPECT_EQ(again.inputs[0].type, strided(Dtype::f32, {3, 4}, {1, 3}));
    EXPECT_EQ(*tensors(again.nodes[0].operation)[0], again.inputs[0].type);
}

TEST(Pt2Tensors, AnUnknownDtypeIsNamedWithItsTensor) {
    json program = small_program();
    tensors_of(program)["x"]["dtype"] = 28;  // uint16
    EXPECT_THAT(failure(program), AllOf(HasSubstr("net.pt2"), HasSubstr("tensor \"x\""), HasSubstr("number 28")));
}

TEST(Pt2Tensors, SizesThatNoMemoryHoldsAreRefused) {
    for (const std::int64_t size :
         {std::int64_t{1} << 61, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
        json program = small_program();
        tensors_of(program)["x"] = tensor({size, 4}, {4, 1});
        EXPECT_THAT(failure(program), HasSubstr("tensor \"x\"")) << size;
    }
    json program = small_program();
    tensors_of(program)["x"] = tensor({expression("9223372036854775807*s77", 2), 4}, {4, 1});
    EXPECT_THAT(failure(program), HasSubstr("tensor \"x\""));
}

TEST(Pt2Tensors, SparseOnesAndWrongStridesAreRefused) {
    json sparse = small_program();
    tensors_of(sparse)["x"]["layout"] = 1;
    EXPECT_THAT(failure(sparse), HasSubstr("sparse"));
    json strides = small_program();
    tensors_of(strides)["x"]["strides"].push_back({{"as_int", 1}});
    EXPECT_THAT(failure(strides), HasSubstr("strides"));
}

TEST(Pt2Tensors, NothingMayBeUsedBeforeItIsMade) {
    json program = small_program();
    node_of(program)["inputs"][0] = argument("self", tensor_argument("relu"));
    EXPECT_THAT(failure(program), AllOf(HasSubstr("node 0"), HasSubstr("nothing before makes it")));
    node_of(program)["inputs"][0] = argument("self", tensor_argument("ghost"));
    EXPECT_THAT(failure(program), HasSubstr("\"ghost\" is not among tensor_values"));
}

TEST(Pt2Arguments, DefaultsAndPlacesAreLeftOut) {
    json program = small_program();
    node_of(program)["target"] = "torch.ops.aten.arange.default";
    node_of(program)["inputs"] = {argument("end", {{"as_int", 8}}),
                                  argument("device", {{"as_device", {{"type", "cpu"}}}}),
                                  argument("layout", {{"as_layout", 7}}), argument("pin_memory", {{"as_bool", false}})};
    EXPECT_EQ(only_signature(read(program)), "aten::arange(end=8)");
    node_of(program) = small_program()["graph_module"]["graph"]["nodes"][0];
    node_of(program)["target"] = "torch.ops.aten.add.Tensor";
    node_of(program)["inputs"] = {argument("alpha", {{"as_int", 1}}), argument("other", {{"as_float", 0.5}}),
                                  argument("self", tensor_argument("x"))};
    EXPECT_EQ(only_signature(read(program)), "aten::add.Tensor(self=f32[2,4], other=0.5)");
}

TEST(Pt2Arguments, BareNanAndInfinityAreNumbersAndInTextsStayText) {
    json program = small_program();
    node_of(program)["target"] = "torch.ops.aten.masked_fill.Scalar";
    node_of(program)["inputs"].push_back(argument("value", {{"as_float", "TOKEN"}}));
    node_of(program)["metadata"]["stack_trace"] = "File \"a NaN \\\" -Infinity.py\", line 3, in f";
    for (const auto& [token, value] : {std::pair("-Infinity", -HUGE_VAL), std::pair("Infinity", HUGE_VAL)}) {
        std::string text = program.dump();
        text.replace(text.find("\"TOKEN\""), 7, token);
        const Graph graph = read_text(text);
        EXPECT_EQ(std::get<double>(*find_argument(graph.nodes[0].operation, "value")), value);
        EXPECT_EQ(graph.nodes[0].source_line, "a NaN \\\" -Infinity.py:3");
    }
    std::string text = program.dump();
    text.replace(text.find("\"TOKEN\""), 7, "NaN");
    EXPECT_TRUE(std::isnan(std::get<double>(*find_argument(read_text(text).nodes[0].operation, "value"))));
    text = program.dump();
    text.replace(text.find("\"TOKEN\""), 7, "\"Infinity\"");  // newer torch writes texts
    EXPECT_EQ(std::get<double>(*find_argument(read_text(text).nodes[0].operation, "value")), HUGE_VAL);
}

TEST(Pt2Arguments, AnUnknownVariantMakesItsNodeUnsupportedByName) {
    json program = small_program();
    node_of(program)["inputs"].push_back(argument("magic", {{"as_magic_wand", 1}}));
    const Graph graph = read(program);
    const Operation& operation = graph.nodes[0].operation;
    EXPECT_EQ(operation.target, "aten::relu.default.unsupported_as_magic_wand");
    EXPECT_EQ(find_record(operation.target), nullptr);
    EXPECT_EQ(graph.nodes[0].outputs.size(), 1);
}

TEST(Pt2Arguments, AnArgumentThatTheSchemaHasNotMakesItsNodeUnsupported) {
    json program = small_program();
    node_of(program)["inputs"].push_back(argument("faster", {{"as_bool", true}}));
    EXPECT_EQ(read(program).nodes[0].operation.target, "aten::relu.default.unsupported_faster");
}

TEST(Pt2Arguments, ThoseWithoutANameGetTheirNumber) {
    json program = small_program();
    node_of(program)["target"] = "torch._functorch.predispatch._add_batch_dim";
    node_of(program)["inputs"] = {argument("", tensor_argument("x")), argument("", {{"as_int", 0}})};
    EXPECT_EQ(only_signature(read(program)), "torch._functorch.predispatch::_add_batch_dim(arg0=f32[2,4], arg1=0)");
}

TEST(Pt2Arguments, AListOfOutputsHasOneNumberEach) {
    json program = small_program();
    node_of(program)["target"] = "torch.ops.aten.split.Tensor";
    node_of(program)["inputs"].push_back(argument("split_size", {{"as_int", 1}}));
    node_of(program)["outputs"] = {{{"as_tensors", {{{"name", "a"}}, {{"name", "relu"}}}}}};
    tensors_of(program)["a"] = tensors_of(program)["relu"];
    const Graph graph = read(program);
    EXPECT_EQ(graph.nodes[0].outputs.size(), 2);
    EXPECT_THAT(graph.outputs, ElementsAre(ValueRef{0, 1}));
}

TEST(Pt2Arguments, GivenTwiceIsRefused) {
    json program = small_program();
    node_of(program)["inputs"].push_back(argument("self", tensor_argument("x")));
    EXPECT_THAT(failure(program), HasSubstr("argument self is given twice"));
}

TEST(Pt2Arguments, ATargetMustBeAName) {
    for (const char* target : {"", "relu", "torch.ops.", "torch.ops.aten", "torch.ops.aten.relu(x)", ".x"}) {
        json program = small_program();
        node_of(program)["target"] = target;
        EXPECT_THAT(failure(program), HasSubstr("is not a name of an operation")) << target;
    }
}

TEST(Pt2Metadata, TheDeepestModuleAndTheLastFrameCount) {
    json program = small_program();
    node_of(program)["metadata"] = {
        {"nn_module_stack", "L__self__,,Net;L__self___a,a,torch.nn.Sequential;L__self___a_0,a.0@2,torch.nn.ReLU"},
        {"stack_trace", "File \"net.py\", line 7, in forward\n    self.a(x)\n  File \"b.py\", line 12, in relu\n"}};
    const Graph graph = read(program);
    EXPECT_EQ(graph.nodes[0].module_path, "a.0");
    EXPECT_EQ(graph.nodes[0].source_line, "b.py:12");
}

}  // namespace
}  // namespace joulecast
