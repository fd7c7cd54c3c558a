#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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

TEST(Pt2Symbols, TheOnlySymbolInFrontOfAnInputIsTheBatch) {
    const Graph graph = read(small_program());
    EXPECT_EQ(graph.symbols.at("batch").value, 2);
    EXPECT_EQ(graph.symbols.at("batch").low, 1);
    EXPECT_EQ(graph.symbols.at("batch").high, 64);
    EXPECT_EQ(only_signature(with_symbol(graph, "batch", 8)), "aten::relu(self=f32[8,4])");
}

TEST(Pt2Symbols, ASymbolElsewhereKeepsItsName) {
    json program = small_program();
    tensors_of(program)["x"] = tensors_of(program)["relu"] = tensor({4, expression("s77", 2)}, {2, 1});
    EXPECT_TRUE(read(program).symbols.contains("s77"));
}

TEST(Pt2Symbols, OfTwoTheOneInFrontIsTheBatch) {
    json program = small_program();
    json shape = tensor({expression("s77", 2), expression("s5", 4)}, {4, 1});
    shape["strides"][0] = expression("s5", 4);
    tensors_of(program)["x"] = tensors_of(program)["relu"] = shape;
    const Graph graph = read(program);
    EXPECT_EQ(graph.symbols.at("batch").value, 2);
    EXPECT_EQ(graph.symbols.at("s5").value, 4);
    EXPECT_EQ(graph.symbols.at("s5").place, "dimension 1 of input x");
    EXPECT_EQ(only_signature(read(program, {{"batch", 3}, {"s5", 9}})), "aten::relu(self=f32[3,9])");
}

/// relu of x and a second input.
json two_inputs(const json& second) {
    json program = small_program();
    graph_of(program)["inputs"].push_back(tensor_argument("y"));
    tensors_of(program)["y"] = second;
    return program;
}

TEST(Pt2Symbols, TwoInFrontOfInputsKeepTheirNames) {
    const Graph graph = read(two_inputs(tensor({expression("s5", 7)}, {1})));
    EXPECT_EQ(graph.symbols.at("s77").place, "dimension 0 of input x");
    EXPECT_EQ(graph.symbols.at("s5").place, "dimension 0 of input y");
    EXPECT_FALSE(graph.symbols.contains("batch"));
}

TEST(Pt2Symbols, SumsAndMultiplesFollowTheirSymbols) {
    json program = two_inputs(tensor({expression("2*s77 + s5", 11), expression("s5", 7)}, {7, 1}));
    const Graph graph = read(program, {{"batch", 5}, {"s5", 3}});
    EXPECT_EQ(graph.inputs[1].type.sizes, (Integers{13, 3}));
    // A length that is negative at these values is refused.
    program = two_inputs(tensor({expression("s77 - 2", 0)}, {1}));
    EXPECT_THROW(read(program, {{"batch", 1}}), Error);
}

TEST(Pt2Symbols, TheNameOfTheFileIsAcceptedToo) {
    EXPECT_EQ(only_signature(read(small_program(), {{"s77", 8}})), "aten::relu(self=f32[8,4])");
    EXPECT_EQ(only_signature(with_symbol(read(small_program()), "s77", 8)), "aten::relu(self=f32[8,4])");
}

TEST(Pt2Symbols, TheFileMayNameThem) {
    const std::string named = zip_of({{"net/models/model.json", small_program().dump()},
                                      {"net/extra/joulecast.json", R"({"symbols": {"images": "s77"}})"}});
    EXPECT_TRUE(read_pt2(bytes_of(named), "x.pt2").symbols.contains("images"));
    const std::string unusable = zip_of({{"net/models/model.json", small_program().dump()},
                                         {"net/extra/joulecast.json", R"({"symbols": {"1 + 1": "s77"}})"}});
    EXPECT_THAT(failure([&] { read_pt2(bytes_of(unusable), "x.pt2"); }), HasSubstr("not a free name"));
}

TEST(Pt2Symbols, AHintOfAMultipleIsSolved) {
    json program = small_program();
    tensors_of(program)["x"] = tensors_of(program)["relu"] = tensor({4, expression("2*s1", 6)}, {6, 1});
    EXPECT_EQ(read(program).symbols.at("s1").value, 3);  // 2 * 3 = 6
}

TEST(Pt2Symbols, OneWithoutValueIsNamedWithTheWayToSetIt) {
    json program = small_program();
    json data_dependent{{"as_expr", {{"expr_str", "u0"}, {"hint", nullptr}}}};
    tensors_of(program)["relu"] = tensor({data_dependent, 4}, {4, 1});
    EXPECT_THAT(failure(program),
                AllOf(HasSubstr("net.pt2"), HasSubstr("size u0 has no value"), HasSubstr("--set u0=8")));
    const Graph graph = read(program, {{"u0", 8}});
    EXPECT_EQ(graph.nodes[0].outputs[0].sizes, (Integers{8, 4}));
}

TEST(Pt2Symbols, SettingOneThatIsNotThereNamesThoseThatAre) {
    const auto refusal = [](const SymbolValues& set) {
        try {
            read(small_program(), set);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("nothing was thrown");
    };
    EXPECT_THAT(refusal({{"size", 8}}),
                HasSubstr("no symbol size; it has batch (also s77; dimension 0 of input x; 1 to 64)"));
    EXPECT_THAT(refusal({{"batch", 65}}), HasSubstr("allows batch from 1 to 64, not 65"));
}

/// x, then a node that makes a size from the data: u0 rows.
json data_dependent() {
    json program = small_program();
    const json unknown{{"as_expr", {{"expr_str", "Symbol('u0', integer=True)"}, {"hint", nullptr}}}};
    json made = node_of(program);
    made["target"] = "torch.ops.aten.item.default";
    made["outputs"] = {{{"as_sym_int", {{"as_name", "count"}}}}};
    graph_of(program)["nodes"].insert(graph_of(program)["nodes"].begin(), made);
    graph_of(program)["sym_int_values"]["count"] = unknown;
    program["range_constraints"]["u0"] = {{"min_val", 1}, {"max_val", 5}};
    return program;
}

TEST(Pt2Symbols, ASizeThatDependsOnDataIsNamedWithTheNodeThatMakesIt) {
    EXPECT_THAT(failure(data_dependent()),
                AllOf(HasSubstr("u0 has no value in the file (made by node 0 (aten::item))"), HasSubstr("--set u0=5")));
    EXPECT_EQ(read(data_dependent(), {{"u0", 3}}).symbols.at("u0").value, 3);
}

TEST(Pt2Symbols, ConditionsAndRealNumbersAreEvaluated) {
    json program = small_program();
    const auto symbolic = [](const std::string& text) {
        return json{{"as_expr", {{"expr_str", text}, {"hint", nullptr}}}};
    };
    graph_of(program)["sym_bool_values"] = {{"ge", symbolic("GreaterThan(Symbol('s77'), Integer(3))")}};
    graph_of(program)["sym_float_values"] = {{"half", symbolic("FloatTrueDiv(ToFloat(Symbol('s77')), Integer(2))")},
                                             {"root", symbolic("OpaqueUnaryFn_sqrt(Symbol('s77'))")}};
    node_of(program)["target"] = "torch.ops.mine.scale.default";
    node_of(program)["inputs"].push_back(argument("large", {{"as_sym_bool", {{"as_name", "ge"}}}}));
    node_of(program)["inputs"].push_back(argument("factor", {{"as_sym_float", {{"as_name", "half"}}}}));
    node_of(program)["inputs"].push_back(argument("other", {{"as_sym_float", {{"as_name", "root"}}}}));
    EXPECT_EQ(only_signature(read(program)), "mine::scale(self=f32[2,4], large=false, factor=1.0, other=nan)");
    EXPECT_EQ(only_signature(read(program, {{"batch", 5}})),
              "mine::scale(self=f32[5,4], large=true, factor=2.5, other=nan)");
}

TEST(Pt2Symbols, AConditionOnDataIsNeverTakenForTheDefault) {
    json program = small_program();
    const json condition{{"as_expr", {{"expr_str", "GreaterThan(Symbol('u0'), Integer(3))"}, {"hint", nullptr}}}};
    graph_of(program)["sym_bool_values"] = {{"ge", condition}};
    node_of(program)["target"] = "torch.ops.aten.mean.dim";
    node_of(program)["inputs"].push_back(argument("dim", {{"as_ints", {1}}}));
    node_of(program)["inputs"].push_back(argument("keepdim", {{"as_sym_bool", {{"as_name", "ge"}}}}));
    EXPECT_EQ(only_signature(read(program)), "aten::mean.dim.unsupported_as_sym_bool(self=f32[2,4], dim=[1])");
}

TEST(Pt2Symbols, NamedIntegersBecomeArguments) {
    json program = small_program();
    graph_of(program)["sym_int_values"] = {{"mul", expression("Mul(Integer(4), Symbol('s77'))", 8)}};
    node_of(program)["target"] = "torch.ops.aten.view.default";
    node_of(program)["inputs"].push_back(argument("size", {{"as_sym_ints", {{{"as_name", "mul"}}, {{"as_int", 1}}}}}));
    tensors_of(program)["relu"] = tensor({expression("4*s77", 8), 1}, {1, 1});
    const Graph graph = read(program);
    EXPECT_EQ(only_signature(graph), "aten::view(self=f32[2,4], size=[8,1])");
    EXPECT_EQ(only_signature(with_symbol(graph, "batch", 5)), "aten::view(self=f32[5,4], size=[20,1])");
}

}  // namespace
}  // namespace joulecast
