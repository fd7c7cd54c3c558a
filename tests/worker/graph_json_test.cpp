#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/worker/protocol.h"

namespace joulecast::protocol {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// The example of docs/graph-json.md: linear, then relu.
json small_graph() {
    return json::parse(R"json({"schema": "joulecast.graph/1", "name": "two", "mode": "inference", "has_edges": true,
        "symbols": {"batch": 8},
        "inputs": [{"name": "x", "kind": "user_input", "type": "f32[8,64]"},
                   {"name": "head.weight", "kind": "parameter", "type": "f32[10,64]"}],
        "nodes": [{"operation": "aten::linear(input=f32[8,64], weight=f32[10,64])", "inputs": ["input.0", "input.1"],
                   "outputs": ["f32[8,10]"], "module": "head", "source": "net.py:12"},
                  {"operation": "aten::relu(self=f32[8,10])", "inputs": ["0.0"], "outputs": ["f32[8,10]"]}],
        "outputs": ["1.0"]
})json");
}

std::string failure(const std::string& text) {
    try {
        graph_from_json(text);
    } catch (const FormatError& error) {
        return error.what();
    }
    return "nothing was thrown";
}

std::string failure(const json& changed) {
    return failure(changed.dump());
}

TEST(GraphJson, ReadsTheExampleOfTheDocumentation) {
    const Graph graph = graph_from_json(small_graph().dump());
    EXPECT_EQ(graph.name, "two");
    EXPECT_EQ(graph.symbols.at("batch").value, 8);
    EXPECT_EQ(graph.inputs.at(1).kind, GraphInput::Kind::parameter);
    ASSERT_EQ(graph.nodes.size(), 2);
    EXPECT_EQ(graph.nodes[0].inputs, (std::vector<ValueRef>{{-1, 0}, {-1, 1}}));
    EXPECT_EQ(graph.nodes[1].inputs, (std::vector<ValueRef>{{0, 0}}));
    EXPECT_EQ(graph.nodes[0].module_path, "head");
    EXPECT_EQ(graph.nodes[0].source_line, "net.py:12");
    EXPECT_EQ(graph.outputs, (std::vector<ValueRef>{{1, 0}}));
}

/// Everything but where the symbols stand, which the text form leaves out.
void expect_equal(const Graph& a, const Graph& b) {
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.mode, b.mode);
    EXPECT_EQ(a.has_edges, b.has_edges);
    EXPECT_EQ(a.outputs, b.outputs);
    ASSERT_EQ(a.inputs.size(), b.inputs.size());
    for (std::size_t i = 0; i < a.inputs.size(); ++i) {
        EXPECT_EQ(a.inputs[i].name, b.inputs[i].name);
        EXPECT_EQ(a.inputs[i].kind, b.inputs[i].kind);
        EXPECT_EQ(a.inputs[i].type, b.inputs[i].type);
    }
    ASSERT_EQ(a.nodes.size(), b.nodes.size());
    for (std::size_t i = 0; i < a.nodes.size(); ++i) {
        EXPECT_EQ(a.nodes[i].operation, b.nodes[i].operation);
        EXPECT_EQ(a.nodes[i].inputs, b.nodes[i].inputs);
        EXPECT_EQ(a.nodes[i].outputs, b.nodes[i].outputs);
        EXPECT_EQ(a.nodes[i].module_path, b.nodes[i].module_path);
        EXPECT_EQ(a.nodes[i].source_line, b.nodes[i].source_line);
        EXPECT_EQ(a.nodes[i].count, b.nodes[i].count);
    }
}

TEST(GraphJson, EveryZooNetworkComesBackInEveryForm) {
    const std::filesystem::path zoo = JOULECAST_SOURCE_DIR "/zoo";
    for (const std::string& name : zoo_names(zoo)) {
        SCOPED_TRACE(name);
        const Graph inference = with_symbol(open_model(name, zoo), "batch", 3);
        for (const Graph& graph : {inference, to_training(inference), with_dtype(inference, Dtype::bf16),
                                   to_training(with_dtype(inference, Dtype::bf16))})
            expect_equal(graph_from_json(graph_to_json(graph)), graph);
    }
}

TEST(GraphJson, ABagOfOperationsKeepsItsCounts) {
    Graph bag;
    bag.name = "bag";
    bag.has_edges = false;
    Node node;
    node.operation = parse_operation("aten::relu(self=f32[8,10])");
    node.outputs = {{Dtype::f32, {8, 10}}};
    node.count = 12;
    bag.nodes = {node};
    expect_equal(graph_from_json(graph_to_json(bag)), bag);
}

TEST(GraphJson, StaysOnOneLineAndIsUtf8WhateverTheNames) {
    Graph graph = graph_from_json(small_graph().dump());
    graph.name = "a\nb\xff";
    const std::string text = graph_to_json(graph);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    EXPECT_EQ(graph_from_json(text).name, "a\nb\xEF\xBF\xBD");  // the replacement character
}

TEST(GraphJson, CannotBeReshapedSilently) {
    const Graph graph = graph_from_json(small_graph().dump());
    EXPECT_THROW(with_symbol(graph, "batch", 16), Error);
}

TEST(GraphJson, ReferencesMustPointBackwards) {
    for (const char* ref : {"1.0", "2.0", "99999999999.0", "0.1", "input.2", "-1.0", "0", "0.", ".0", "input", "a.b",
                            "0.0.0", "0.-1", " 0.0"}) {
        json changed = small_graph();
        changed["nodes"][1]["inputs"][0] = ref;
        EXPECT_THAT(failure(changed), HasSubstr("nodes 1: inputs 0: reference")) << ref;
    }
}

TEST(GraphJson, BothEndsOfAnEdgeMustAgree) {
    json changed = small_graph();
    changed["nodes"][1]["operation"] = "aten::relu(self=f32[8,11])";
    EXPECT_THAT(failure(changed), HasSubstr("f32[8,11] is f32[8,10] at 0.0"));
    changed = small_graph();
    changed["nodes"][0]["inputs"].erase(1);
    EXPECT_THAT(failure(changed), HasSubstr("1 inputs, its operation 2 tensors"));
}

TEST(GraphJson, EachFieldIsNamedWhenItIsMissing) {
    for (const char* key : {"schema", "name", "mode", "has_edges", "symbols", "inputs", "nodes", "outputs"}) {
        json changed = small_graph();
        changed.erase(key);
        EXPECT_THAT(failure(changed), HasSubstr(std::string("\"") + key + "\" is missing"));
    }
    for (const char* key : {"operation", "inputs", "outputs"}) {
        json changed = small_graph();
        changed["nodes"][0].erase(key);
        EXPECT_THAT(failure(changed), HasSubstr(std::string("nodes 0: \"") + key + "\" is missing"));
    }
}

TEST(GraphJson, SizesAndTypesOutOfBoundsAreRefused) {
    for (const char* type : {"f32[4611686018427387904,4]", "f32[-1]", "f99[1]", "f32[1", "f32[1], u=f32[1]", "3", "",
                             "f32[1])(", "\"f32\""}) {
        json changed = small_graph();
        changed["inputs"][0]["type"] = type;
        EXPECT_THAT(failure(changed), HasSubstr("inputs 0")) << type;
    }
    json changed = small_graph();
    changed["symbols"]["batch"] = 18446744073709551615U;
    EXPECT_THAT(failure(changed), HasSubstr("symbol batch is no integer of 64 bits"));
    changed["symbols"]["batch"] = 1.5;
    EXPECT_THAT(failure(changed), HasSubstr("symbol batch"));
    changed = small_graph();
    changed["nodes"][0]["count"] = 2;
    EXPECT_THAT(failure(changed), HasSubstr("\"count\" is 2"));
}

TEST(GraphJson, GarbageAndDepthAreRefused) {
    for (const std::string text : {"", "null", "[]", "{", "{\"schema\":\"joulecast.graph/2\"}"})
        EXPECT_THAT(failure(text), HasSubstr("cannot read graph")) << text;
    EXPECT_THAT(failure(std::string(5'000'000, '[')), HasSubstr("cannot read graph"));
    const std::string balanced = std::string(1'000'000, '[') + std::string(1'000'000, ']');
    EXPECT_THAT(failure(balanced), HasSubstr("cannot read graph"));
    EXPECT_THAT(failure(std::string(max_line_bytes + 1, ' ')), HasSubstr("longer than 64 MB"));
}

TEST(GraphJson, EveryValueOfAnyOtherKindGivesAGraphOrAnError) {
    const json whole = small_graph();
    const json flat = whole.flatten();
    const std::vector<json> others{nullptr, true, -1, 1e300, "text", json::array(), json::object(), json::array({1})};
    int refused = 0;
    for (const auto& [pointer, value] : flat.items()) {
        for (const json& other : others) {
            json changed = whole;
            changed[json::json_pointer(pointer)] = other;
            try {
                graph_from_json(changed.dump());
            } catch (const FormatError&) {
                ++refused;
            }
        }
    }
    // Only names, the module, the source line and the symbol's value take another kind of what is listed above.
    EXPECT_GT(refused, static_cast<int>(flat.size() * others.size() * 3 / 4));
}

}  // namespace
}  // namespace joulecast::protocol
