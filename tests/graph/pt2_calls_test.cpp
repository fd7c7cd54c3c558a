#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "tests/graph/pt2_program_text.h"

namespace joulecast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;

/// A sub-graph of one call on f32[s77, 4]: relu of `a`.
json body(const std::string& target = "torch.ops.aten.relu.default") {
    json graph = small_program()["graph_module"]["graph"];
    graph["inputs"] = json::array({tensor_argument("a")});
    graph["outputs"] = json::array({tensor_argument("b")});
    graph["nodes"][0]["target"] = target;
    graph["nodes"][0]["inputs"] = json::array({argument("self", tensor_argument("a"))});
    graph["nodes"][0]["outputs"] = json::array({tensor_argument("b")});
    graph["tensor_values"] = {{"a", graph["tensor_values"]["x"]}, {"b", graph["tensor_values"]["x"]}};
    return graph;
}

json graph_argument(const std::string& name, json graph) {
    return argument("", {{"as_graph", {{"name", name}, {"graph", std::move(graph)}}}});
}

/// x, then the higher-order call, whose result "relu" is the output.
json with_call(const std::string& name, const std::vector<json>& inputs) {
    json program = small_program();
    node_of(program)["target"] = "torch.ops.higher_order." + name;
    node_of(program)["inputs"] = inputs;
    node_of(program)["metadata"]["nn_module_stack"] = "L__self__,,Net;L__self___part,part,Part";
    return program;
}

const json flag = argument("", {{"as_bool", false}});
const json x = argument("", tensor_argument("x"));

TEST(Pt2Calls, OneThatRunsItsGraphUnchangedIsInlined) {
    const std::vector<std::pair<std::string, std::vector<json>>> calls{
        {"wrap_with_set_grad_enabled", {flag, graph_argument("g", body()), x}},
        {"hints_wrapper",
         {graph_argument("g", body()), argument("", {{"as_tensors", {{{"name", "x"}}}}}),
          argument("", {{"as_string_to_argument", json::object()}}),
          argument("hints", {{"as_string_to_argument", json::object()}})}},
        {"run_const_graph", {graph_argument("g", body()), argument("", {{"as_tensors", {{{"name", "x"}}}}})}},
        {"tag_activation_checkpoint",
         {graph_argument("g", body()), x, argument("use_reentrant", {{"as_bool", false}})}},
        {"invoke_subgraph", {graph_argument("g", body()), argument("", {{"as_string", "region"}}), x}}};
    for (const auto& [name, inputs] : calls) {
        const Graph graph = read(with_call(name, inputs), {{"batch", 6}});
        EXPECT_THAT(signatures(graph), ElementsAre("aten::relu(self=f32[6,4])")) << name;
        EXPECT_THAT(graph.nodes[0].inputs, ElementsAre(ValueRef{-1, 0})) << name;
        EXPECT_THAT(graph.outputs, ElementsAre(ValueRef{0, 0})) << name;
        EXPECT_EQ(graph.nodes[0].module_path, "part") << name;  // the call's, since the node has none
    }
}

TEST(Pt2Calls, AnInlinedGraphMayInlineAnother) {
    json outer = body("torch.ops.higher_order.wrap_with_set_grad_enabled");
    outer["nodes"][0]["inputs"] = {flag, graph_argument("inner", body("torch.ops.aten.sigmoid.default")),
                                   argument("", tensor_argument("a"))};
    const json program = with_call("wrap_with_set_grad_enabled", {flag, graph_argument("g", outer), x});
    EXPECT_THAT(signatures(read(program)), ElementsAre("aten::sigmoid(self=f32[2,4])"));
}

TEST(Pt2Calls, NamesOfASubGraphAreItsOwn) {
    json inner = body();
    // The parent's "x" is f32[s77, 4]; here it is the result.
    inner["outputs"] = json::array({tensor_argument("x")});
    inner["nodes"][0]["outputs"] = json::array({tensor_argument("x")});
    inner["tensor_values"]["x"] = tensor({3}, {1});
    const Graph graph = read(with_call("wrap_with_set_grad_enabled", {flag, graph_argument("g", inner), x}));
    EXPECT_EQ(type_of(graph, graph.outputs[0]).sizes, (Integers{3}));
    EXPECT_EQ(graph.inputs[0].type.sizes, (Integers{2, 4}));
}

TEST(Pt2Calls, OneWhoseOperandsDoNotMatchIsNamed) {
    const Graph graph = read(with_call("wrap_with_set_grad_enabled", {flag, graph_argument("g", body()), x, x}));
    EXPECT_EQ(graph.nodes.at(0).operation.target, "higher_order::wrap_with_set_grad_enabled");
    EXPECT_EQ(graph.nodes[0].inputs.size(), 2);
}

TEST(Pt2Calls, BranchesAndLoopsAreNamedWithTheirGraphsAndBytes) {
    const json operands = argument("", {{"as_tensors", {{{"name", "x"}}}}});
    const json none = argument("", {{"as_tensors", json::array()}});
    const json relu = graph_argument("first", body());
    const json sine = graph_argument("second", body("torch.ops.aten.sin.default"));
    const std::vector<std::pair<std::string, std::vector<json>>> calls{{"cond", {x, relu, sine, operands}},
                                                                       {"while_loop", {relu, sine, operands, none}},
                                                                       {"scan", {sine, operands, operands, none}},
                                                                       {"map_impl", {sine, operands, operands}},
                                                                       {"unheard_of", {sine, x}}};
    for (const auto& [name, inputs] : calls) {
        const Graph graph = read(with_call(name, inputs));
        ASSERT_EQ(graph.nodes.size(), 1) << name;
        const Operation& operation = graph.nodes[0].operation;
        EXPECT_EQ(operation.target, "higher_order::" + name);
        EXPECT_EQ(find_record(operation.target), nullptr);
        EXPECT_THAT(signature(operation), HasSubstr("second: aten::sin #")) << name;
        EXPECT_GE(forward_counts(operation).bytes_read, 2 * 4 * 4) << name;  // x is f32[2,4]
        EXPECT_EQ(signature(parse_operation(signature(operation))), signature(operation)) << name;
    }
}

TEST(Pt2Calls, DifferentGraphsAreDifferentOperations) {
    const auto text = [](const json& graph) {
        const json operands = argument("", {{"as_tensors", {{{"name", "x"}}}}});
        return only_signature(read(with_call("map_impl", {graph_argument("g", graph), operands, operands})));
    };
    json narrow = body();
    narrow["tensor_values"]["a"] = tensor({1, 4}, {4, 1});
    json scaled = body();
    scaled["nodes"][0]["inputs"].push_back(argument("factor", {{"as_float", 2.0}}));
    EXPECT_EQ(text(body()), text(body()));
    EXPECT_NE(text(body()), text(narrow));
    EXPECT_NE(text(body()), text(scaled));
}

TEST(Pt2Calls, AutocastInsertsTheCastsThatTheFileLeavesOut) {
    json inner = body("torch.ops.aten.mm.default");
    inner["nodes"][0]["inputs"].push_back(argument("mat2", tensor_argument("w")));
    inner["inputs"].push_back(tensor_argument("w"));
    inner["tensor_values"]["w"] = tensor({4, 4}, {4, 1});
    inner["tensor_values"]["b"]["dtype"] = 13;  // bfloat16
    const auto call = [&](bool enabled) {
        json program = with_call("wrap_with_autocast",
                                 {argument("", {{"as_string", "cuda"}}), argument("", {{"as_scalar_type", 13}}),
                                  argument("", {{"as_bool", enabled}}), argument("", {{"as_none", true}}),
                                  graph_argument("g", inner), x, argument("", tensor_argument("w"))});
        graph_of(program)["inputs"].push_back(tensor_argument("w"));
        tensors_of(program)["w"] = inner["tensor_values"]["w"];
        return program;
    };
    EXPECT_THAT(signatures(read(call(true), {{"batch", 3}})),
                ElementsAre("aten::to.dtype(self=f32[3,4], dtype=bf16)", "aten::to.dtype(self=f32[4,4], dtype=bf16)",
                            "aten::mm(self=bf16[3,4], mat2=bf16[4,4])"));
    EXPECT_THAT(signatures(read(call(false))), ElementsAre("aten::mm(self=f32[2,4], mat2=f32[4,4])"));
}

TEST(Pt2Calls, DeepNestingOfSubGraphsIsRefused) {
    json nested = body();
    for (int i = 0; i < 40; ++i) {
        json outer = body("torch.ops.higher_order.wrap_with_set_grad_enabled");
        outer["nodes"][0]["inputs"] = {flag, graph_argument("g", std::move(nested)),
                                       argument("", tensor_argument("a"))};
        nested = std::move(outer);
    }
    EXPECT_THAT(failure(with_call("wrap_with_set_grad_enabled", {flag, graph_argument("g", nested), x})),
                AllOf(HasSubstr("net.pt2"), HasSubstr("JSON")));
}

}  // namespace
}  // namespace joulecast
