#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "tests/graph/zip_of.h"

namespace joulecast {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::bytes_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::zip_of;

const std::string source = JOULECAST_SOURCE_DIR;

std::string file_content(const std::string& path) {
    std::ifstream file(source + "/" + path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

json expression(const std::string& text, std::int64_t hint) {
    return {{"as_expr", {{"expr_str", text}, {"hint", {{"as_int", hint}}}}}};
}

json tensor(std::vector<json> sizes, std::vector<std::int64_t> strides) {
    json described{{"dtype", 7}, {"sizes", json::array()}, {"strides", json::array()}, {"layout", 7}};
    for (json& size : sizes) described["sizes"].push_back(size.is_number() ? json{{"as_int", size}} : size);
    for (const std::int64_t stride : strides) described["strides"].push_back({{"as_int", stride}});
    return described;
}

json argument(const std::string& name, json arg) {
    return {{"name", name}, {"arg", std::move(arg)}, {"kind", 1}};
}

json tensor_argument(const std::string& name) {
    return {{"as_tensor", {{"name", name}}}};
}

/// relu of x, f32[s77, 4] with s77 = 2: the smallest program, which the tests then change.
json small_program() {
    const json shape = tensor({expression("Symbol('s77', positive=True, integer=True)", 2), 4}, {4, 1});
    const json node{{"target", "torch.ops.aten.relu.default"},
                    {"inputs", {argument("self", tensor_argument("x"))}},
                    {"outputs", {tensor_argument("relu")}},
                    {"metadata", json::object()}};
    return {{"schema_version", {{"major", 8}, {"minor", 20}}},
            {"range_constraints", {{"s77", {{"min_val", 1}, {"max_val", 64}}}}},
            {"graph_module",
             {{"graph",
               {{"inputs", {tensor_argument("x")}},
                {"outputs", {tensor_argument("relu")}},
                {"nodes", {node}},
                {"tensor_values", {{"x", shape}, {"relu", shape}}},
                {"sym_int_values", json::object()}}},
              {"signature", {{"input_specs", {{{"user_input", {{"arg", tensor_argument("x")}}}}}}}}}}};
}

json& graph_of(json& program) {
    return program["graph_module"]["graph"];
}
json& node_of(json& program) {
    return graph_of(program)["nodes"][0];
}
json& tensors_of(json& program) {
    return graph_of(program)["tensor_values"];
}

Graph read_text(const std::string& model, const SymbolValues& set = {}) {
    return read_pt2(bytes_of(zip_of({{"net/models/model.json", model}})), "net.pt2", set);
}

Graph read(const json& program, const SymbolValues& set = {}) {
    return read_text(program.dump(), set);
}

std::string only_signature(const Graph& graph) {
    return signature(graph.nodes.at(0).operation);
}

/// The message of the FormatError that reading throws.
template <class F>
std::string failure(const F& reading) {
    try {
        reading();
    } catch (const FormatError& error) {
        return error.what();
    }
    return "nothing was thrown";
}

std::string failure(const json& program) {
    return failure([&] { read(program); });
}

// --- files of torch ---------------------------------------------------------------------------------------------

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

TEST(Pt2Reader, ReadsDecomposedGraphs) {
    const Graph graph = read_pt2(source + "/tests/graph/data/decomposed_small.pt2");
    EXPECT_EQ(graph.nodes[0].operation.target, "aten::convolution");
    EXPECT_EQ(signature(graph.nodes.back().operation), "aten::addmm(self=f32[10], mat1=f32[2,8], mat2=f32[8,10]{t})");
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

// --- symbols ----------------------------------------------------------------------------------------------------

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

TEST(Pt2Symbols, TwoSymbolsKeepTheirNames) {
    json program = small_program();
    tensors_of(program)["x"] = tensors_of(program)["relu"] =
        tensor({expression("s77", 2), expression("s5", 4)}, {4, 1});
    const Graph graph = read(program);
    EXPECT_EQ(graph.symbols.at("s77").value, 2);
    EXPECT_EQ(graph.symbols.at("s5").value, 4);
}

TEST(Pt2Symbols, TheFileMayNameThem) {
    const std::string named = zip_of({{"net/models/model.json", small_program().dump()},
                                      {"net/extra/joulecast.json", R"({"symbols": {"images": "s77"}})"}});
    EXPECT_TRUE(read_pt2(bytes_of(named), "x.pt2").symbols.contains("images"));
    const std::string unusable = zip_of({{"net/models/model.json", small_program().dump()},
                                         {"net/extra/joulecast.json", R"({"symbols": {"1 + 1": "s77"}})"}});
    EXPECT_THAT(failure([&] { read_pt2(bytes_of(unusable), "x.pt2"); }), HasSubstr("no free name"));
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
    EXPECT_EQ(graph.nodes[0].outputs[0].sizes, (std::vector<std::int64_t>{8, 4}));
}

TEST(Pt2Symbols, SettingOneThatIsNotThereNamesThoseThatAre) {
    try {
        read(small_program(), {{"s77", 8}});
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("s77"), HasSubstr("batch")));
    }
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

// --- tensors ----------------------------------------------------------------------------------------------------

TEST(Pt2Tensors, StridesTellTheLayout) {
    const auto layout = [](std::vector<json> sizes, std::vector<std::int64_t> strides) {
        json program = small_program();
        tensors_of(program)["x"] = tensor(std::move(sizes), std::move(strides));
        return read(program).inputs[0].type.layout;
    };
    EXPECT_EQ(layout({2, 3, 4, 5}, {60, 20, 5, 1}), Layout::contiguous);
    EXPECT_EQ(layout({2, 3, 4, 5}, {60, 1, 15, 3}), Layout::channels_last);
    EXPECT_EQ(layout({2, 3, 4, 5}, {60, 20, 1, 4}), Layout::transposed);
    EXPECT_EQ(layout({4, 3}, {1, 4}), Layout::transposed);
    EXPECT_EQ(layout({4, 3}, {0, 1}), Layout::transposed);  // expanded
    // Dimensions of size 1 are neutral: one channel in NHWC order is contiguous.
    EXPECT_EQ(layout({2, 1, 4, 5}, {20, 1, 5, 1}), Layout::contiguous);
    EXPECT_EQ(layout({0, 3}, {7, 7}), Layout::contiguous);
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

// --- arguments --------------------------------------------------------------------------------------------------

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

TEST(Pt2Arguments, AHigherOrderCallKeepsItsName) {
    json program = small_program();
    node_of(program)["target"] = "torch.ops.higher_order.wrap_with_set_grad_enabled";
    node_of(program)["inputs"] = {argument("", {{"as_bool", false}}),
                                  argument("body", {{"as_graph", {{"name", "g"}, {"graph", json::object()}}}}),
                                  argument("x", tensor_argument("x"))};
    const Graph graph = read(program);
    EXPECT_EQ(graph.nodes[0].operation.target, "higher_order::wrap_with_set_grad_enabled");
    EXPECT_EQ(find_record(graph.nodes[0].operation.target), nullptr);
    EXPECT_EQ(graph.nodes[0].inputs.size(), 1);
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
        EXPECT_THAT(failure(program), HasSubstr("is no name of an operation")) << target;
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

// --- damaged and hostile files ----------------------------------------------------------------------------------

TEST(HostilePt2, AnotherSchemaSaysToReExport) {
    json program = small_program();
    program["schema_version"]["major"] = 7;
    EXPECT_THAT(failure(program), AllOf(HasSubstr("net.pt2"), HasSubstr("schema version is 7"),
                                        HasSubstr("re-export with torch >= 2.6")));
    program["schema_version"] = {{"major", 8}, {"minor", 4000}};
    EXPECT_EQ(read(program).nodes.size(), 1);
    program.erase("schema_version");
    EXPECT_THAT(failure(program), HasSubstr("no schema_version"));
}

TEST(HostilePt2, TruncatedAnywhereIsAFormatError) {
    const std::string whole = file_content("zoo/resnet18.pt2");
    ASSERT_GT(whole.size(), 1000);
    for (std::size_t length = 0; length < whole.size(); length += 1 + length / 40) {
        const std::string part = whole.substr(0, length);
        EXPECT_THROW(read_pt2(bytes_of(part), "part.pt2"), FormatError) << length;
    }
}

TEST(HostilePt2, MutatedBytesGiveAGraphOrAnError) {
    const std::string whole = file_content("zoo/alexnet.pt2");
    std::mt19937 random(1);
    std::size_t refused = 0;
    for (int trial = 0; trial < 400; ++trial) {
        std::string mutated = whole;
        for (int i = 0; i < 4; ++i) mutated[random() % mutated.size()] = static_cast<char>(random());
        try {
            read_pt2(bytes_of(mutated), "mutated.pt2");
        } catch (const Error&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 300);  // deflated entries have a checksum
}

TEST(HostilePt2, MutatedJsonGivesAGraphOrAnError) {
    const std::string whole = small_program().dump();
    std::mt19937 random(2);
    const std::string alphabet = "0129-{}[]\",:.eENaIs \\\n";
    for (int trial = 0; trial < 4000; ++trial) {
        std::string mutated = whole;
        for (int i = 0; i < 3; ++i) mutated[random() % mutated.size()] = alphabet[random() % alphabet.size()];
        try {
            read_text(mutated);
        } catch (const Error&) {
            continue;
        }
    }
}

TEST(HostilePt2, EveryValueOfAnyOtherKindGivesAGraphOrAnError) {
    const json whole = small_program();
    const std::vector<json> others{
        nullptr, true, -1, 1e300, "text", json::array(), json::object(), json{{"as_int", -5}}, 18446744073709551615U};
    const json flat = whole.flatten();
    for (const auto& [pointer, value] : flat.items()) {
        for (const json& other : others) {
            json changed = whole;
            changed[json::json_pointer(pointer)] = other;
            try {
                read(changed);
            } catch (const Error&) {
                continue;
            }
        }
    }
}

TEST(HostilePt2, DeepNestingIsRefused) {
    const std::string deep(100'000, '[');
    EXPECT_THAT(failure([&] { read_text(deep); }), HasSubstr("net.pt2"));
    const std::string balanced = std::string(2000, '[') + std::string(2000, ']');
    std::string text = small_program().dump();
    text.replace(text.find("\"metadata\":{}"), 13, "\"metadata\":{\"x\":" + balanced + "}");
    EXPECT_THAT(failure([&] { read_text(text); }), HasSubstr("JSON"));
    json program = small_program();
    std::string nested = "s77";
    for (int i = 0; i < 100'000; ++i) nested = "(" + nested;
    tensors_of(program)["x"] = tensor({expression(nested, 2), 4}, {4, 1});
    EXPECT_THAT(failure(program), HasSubstr("net.pt2"));
}

TEST(HostilePt2, AZipBombIsStoppedWhileUnpacking) {
    // Deflate packs spaces 1000 times: 64 MB come out of 64 kB.
    const std::string bomb = zip_of({{"net/models/model.json", std::string(std::size_t{64} << 20, ' ')}}, true);
    ASSERT_LT(bomb.size(), 100'000);
    EXPECT_THAT(failure([&] { read_pt2(bytes_of(bomb), "bomb.pt2"); }), HasSubstr("zip bomb"));
}

TEST(HostilePt2, ADeclaredSizeIsNotBelieved) {
    const std::string model = small_program().dump();
    const std::string whole = zip_of({{"net/models/model.json", model}});
    // The central directory entry begins with PK\1\2; packed and unpacked size stand at 20 and 24.
    const std::size_t entry = whole.find("PK\x01\x02");
    ASSERT_NE(entry, std::string::npos);
    for (const std::size_t field : {20, 24}) {
        for (const char byte : {'\x7f', '\xfe'}) {
            std::string lying = whole;
            for (std::size_t i = 0; i < 4; ++i) lying[entry + field + i] = byte;
            try {
                EXPECT_EQ(read_pt2(bytes_of(lying), "lying.pt2").nodes.size(), 1);
            } catch (const FormatError&) {
                continue;
            }
        }
    }
}

TEST(HostilePt2, WhatIsNoExportedProgramSaysWhatToWrite) {
    EXPECT_THAT(failure([] { read_pt2(bytes_of("not a zip"), "x.pt2"); }), HasSubstr("not a whole zip archive"));
    const std::string state = zip_of({{"archive/data.pkl", "x"}});
    EXPECT_THAT(failure([&] { read_pt2(bytes_of(state), "x.pt2"); }), HasSubstr("torch.export.save"));
    const std::string two = zip_of({{"a/models/b.json", "{}"}, {"a/models/c.json", "{}"}});
    EXPECT_THAT(failure([&] { read_pt2(bytes_of(two), "x.pt2"); }), HasSubstr("several models"));
    EXPECT_THAT(failure([] { read_pt2(std::filesystem::path("/nowhere/x.pt2")); }), HasSubstr("no such file"));
    EXPECT_THAT(failure([] { read_pt2(std::filesystem::path("/")); }), HasSubstr("not a file"));
}

}  // namespace
}  // namespace joulecast
