#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "joulecast/error.h"
#include "joulecast/graph/graph_json.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/memory.h"
#include "tests/graph/equal_graphs.h"

namespace joulecast {
namespace {

using nlohmann::json;
using ::testing::AllOf;
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

Graph read_file(const std::string& text, const SymbolValues& set = {}) {
    return read_graph_json(text, "written.graph.json", set);
}

TEST(GraphJson, ABagOfAZooNetworkHasItsOperationsAtEveryBatch) {
    const std::filesystem::path zoo = JOULECAST_SOURCE_DIR "/zoo";
    for (const char* name : {"resnet18", "gpt2", "swin_t"}) {
        SCOPED_TRACE(name);
        const std::string text = graph_to_json(without_edges(open_model(name, zoo)), GraphText::file);
        for (const std::int64_t batch : {3, 8}) {
            const Graph network = open_model(name, zoo, {{"batch", batch}});
            const Graph bag = read_file(text, {{"batch", batch}});
            EXPECT_FALSE(bag.has_edges);
            expect_same_costs(bag, network);
            EXPECT_FALSE(plan_memory(bag).has_value());
        }
    }
}

/// As somebody writes it by hand.
json bag() {
    return json::parse(R"json({"schema": "joulecast.graph/1", "has_edges": false, "symbols": {"batch": 8}, "nodes": [
        {"operation": "aten::conv2d(weight=f32[64,3,7,7], input=f32[batch,3,224,224], stride=[2,2])", "count": 2},
        {"operation": "aten::view(self=f32[batch,64], size=[batch//2, 128])"},
        {"operation": "aten::relu(self=f32[8,10])"}]})json");
}

TEST(GraphJson, ABagWrittenByHandIsReadInItsCanonicalForm) {
    const Graph graph = read_graph_json(bag().dump(), "nets/mine.graph.json");
    EXPECT_EQ(graph.name, "mine");
    EXPECT_EQ(graph.mode, Mode::inference);
    EXPECT_FALSE(graph.has_edges);
    ASSERT_EQ(graph.nodes.size(), 3);
    EXPECT_EQ(graph.nodes[0].count, 2);
    // The schema's order of arguments.
    EXPECT_EQ(signature(graph.nodes[0].operation),
              "aten::conv2d(input=f32[8,3,224,224], weight=f32[64,3,7,7], stride=[2,2])");
    EXPECT_EQ(signature(graph.nodes[1].operation), "aten::view(self=f32[8,64], size=[4,128])");
}

TEST(GraphJson, SizesThatAreExpressionsFollowTheirSymbol) {
    const Graph graph = read_file(bag().dump(), {{"batch", 32}});
    EXPECT_EQ(signature(graph.nodes[0].operation),
              "aten::conv2d(input=f32[32,3,224,224], weight=f32[64,3,7,7], stride=[2,2])");
    EXPECT_EQ(signature(graph.nodes[1].operation), "aten::view(self=f32[32,64], size=[16,128])");
    // Written as a number, it stays.
    EXPECT_EQ(signature(graph.nodes[2].operation), "aten::relu(self=f32[8,10])");
    EXPECT_EQ(read_file(graph_to_json(graph, GraphText::file)).symbols.at("batch").value, 32);
}

TEST(GraphJson, ARepeatedArgumentFollowsItsSymbolInEveryPlace) {
    json changed = bag();
    // [2] stands for [2,2] in the schema of conv2d.
    changed["nodes"][0]["operation"] = "aten::conv2d(input=f32[1,3,64,64], weight=f32[8,3,3,3], stride=[batch//4])";
    EXPECT_THAT(signature(read_file(changed.dump(), {{"batch", 16}}).nodes[0].operation), HasSubstr("stride=[4,4]"));
}

TEST(GraphJson, EdgesMoveWithTheirArguments) {
    json changed = small_graph();
    changed["nodes"][0]["operation"] = "aten::linear(weight=f32[10,64], input=f32[8,64])";
    changed["nodes"][0]["inputs"] = {"input.1", "input.0"};
    const Graph graph = graph_from_json(changed.dump());
    EXPECT_EQ(signature(graph.nodes[0].operation), "aten::linear(input=f32[8,64], weight=f32[10,64])");
    EXPECT_EQ(graph.nodes[0].inputs, (std::vector<ValueRef>{{-1, 0}, {-1, 1}}));
}

TEST(GraphJson, TheRangeOfASymbolIsKept) {
    json changed = bag();
    changed["symbols"]["batch"] = {{"value", 8}, {"low", 2}, {"high", 64}};
    EXPECT_THROW(read_file(changed.dump(), {{"batch", 65}}), Error);
    EXPECT_THROW(read_file(changed.dump(), {{"batch", 1}}), Error);
    EXPECT_EQ(read_file(changed.dump(), {{"batch", 64}}).symbols.at("batch").value, 64);
    changed["symbols"]["batch"]["high"] = 7;
    EXPECT_THAT(failure(changed), HasSubstr("symbol batch: its value 8 is out of its own range"));
}

TEST(GraphJson, ASizeOfAnUndeclaredSymbolIsRefused) {
    json changed = bag();
    changed.erase("symbols");
    EXPECT_THAT(failure(changed),
                AllOf(HasSubstr("nodes 0:"), HasSubstr("\"batch\" is neither a value nor a size: \"symbols\" does not "
                                                       "declare batch")));
    changed = bag();
    changed["nodes"][1]["operation"] = "aten::view(self=f32[batch,64], size=[batch//0, 128])";
    EXPECT_THAT(failure(changed), HasSubstr("nodes 1: size expression divides by zero"));
}

TEST(GraphJson, ABagIsInTrainingModeWhereItsTensorsAreMarked) {
    json changed = bag();
    changed["nodes"][0]["operation"] = "aten::conv2d(input=f32[8,3,64,64], weight=f32[64,3,7,7]~)";
    const Graph graph = graph_from_json(changed.dump());
    EXPECT_EQ(graph.mode, Mode::training);
    // The writer's marks hold: the image gets no gradient.
    EXPECT_EQ(signature(to_training(graph).nodes[0].operation), signature(graph.nodes[0].operation));
    EXPECT_THROW(in_mode(graph, Mode::inference), Error);
    changed["mode"] = "inference";
    EXPECT_THAT(failure(changed), HasSubstr("\"mode\" is inference, but there are tensors with the gradient mark"));
    // Without marks, every floating tensor that can have a gradient gets one.
    EXPECT_EQ(signature(to_training(read_file(bag().dump())).nodes[0].operation),
              "aten::conv2d(input=f32[8,3,224,224]~, weight=f32[64,3,7,7]~, stride=[2,2])");
}

TEST(GraphJson, AnOperationThatCannotBeIsRefusedInABag) {
    json changed = bag();
    changed["nodes"][0]["operation"] = "aten::conv2d(input=f32[8,3,224,224], weight=f32[64,4,7,7])";
    EXPECT_THAT(failure(changed), HasSubstr("nodes 0: "));
    changed["nodes"][0]["operation"] = "aten::conv2d(input=f32[8,3,224,224], weight=f32[64,3,7,7], strides=[2,2])";
    EXPECT_THAT(failure(changed), HasSubstr("aten::conv2d has no parameter strides"));
    changed = bag();
    changed["nodes"][0]["inputs"] = json::array();
    EXPECT_THAT(failure(changed), HasSubstr("is \"has_edges\" right?"));
}

TEST(GraphJson, CountsOutOfBoundsAreRefused) {
    for (const std::int64_t count : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) {
        json changed = bag();
        changed["nodes"][0]["count"] = count;
        EXPECT_THAT(failure(changed), HasSubstr("nodes 0: \"count\" is " + std::to_string(count))) << count;
    }
    json changed = bag();
    changed["nodes"][0]["count"] = std::int64_t{1} << 62;  // and two more calls
    EXPECT_THAT(failure(changed), HasSubstr("nodes 1: the counts sum to more than 2^62 calls"));
    changed["nodes"][0]["count"] = 2.5;
    EXPECT_THAT(failure(changed), HasSubstr("\"count\" is not a 64-bit integer"));
}

/// tools/check_graph_schema.py holds the JSON schema to the same vectors.
TEST(GraphJson, TakesAndRefusesWhatTheVectorsSay) {
    std::ifstream file(JOULECAST_SOURCE_DIR "/tests/graph/data/graph_json_vectors.json");
    const json vectors = json::parse(file);
    EXPECT_GT(vectors.size(), 40);
    for (const json& vector : vectors) {
        const bool accepted = failure(vector.at("graph")) == "nothing was thrown";
        EXPECT_EQ(accepted, vector.at("reader_accepts").get<bool>())
            << vector.at("name") << failure(vector.at("graph"));
        // Whatever the reader takes, the schema must take.
        if (accepted) {
            EXPECT_TRUE(vector.at("schema_accepts").get<bool>()) << vector.at("name");
        }
    }
}

TEST(GraphJson, DuplicateKeysAreRefused) {
    const std::string twice = R"({"schema": "joulecast.graph/1", "has_edges": false, "nodes": [], "nodes": []})";
    EXPECT_THAT(failure(twice), HasSubstr("the key \"nodes\" is twice in one object"));
    const std::string inside = R"json({"schema": "joulecast.graph/1", "has_edges": false, "nodes": [
        {"operation": "aten::relu(self=f32[8])", "count": 2, "count": 3}]})json";
    EXPECT_THAT(failure(inside), HasSubstr("the key \"count\" is twice"));
}

TEST(GraphJson, NulCharactersAndEndlessNamesAreRefused) {
    for (const char* key : {"name", "comment"}) {
        json changed = small_graph();
        changed[key] = std::string("a\0b", 3);
        EXPECT_THAT(failure(changed), HasSubstr("there is a NUL character after \"a\"")) << key;
    }
    json changed = small_graph();
    changed["name"] = std::string(1 << 20, 'n');
    EXPECT_THAT(failure(changed), HasSubstr("\"name\" has 1048576 bytes, more than 4096: \"nnnn"));
    changed = small_graph();
    changed["nodes"][0]["module"] = std::string(1 << 20, 'm');
    EXPECT_THAT(failure(changed), HasSubstr("nodes 0: \"module\" has 1048576 bytes"));
    changed = small_graph();
    changed["nodes"][1]["operation"] = "aten::" + std::string(1 << 20, 'r') + "(self=f32[8,10])";
    EXPECT_THAT(failure(changed), HasSubstr("nodes 1: cannot read operation"));
    EXPECT_LT(failure(changed).size(), 400);
}

TEST(GraphJson, AFileThatIsDamagedSaysWhere) {
    EXPECT_THAT(failure(std::string("{\"schema\":\n \"joulecast.graph/1\",,}")), HasSubstr("line 2, column 22"));
}

TEST(GraphJson, AFileIsRefusedByItsName) {
    const auto refusal = [](const std::filesystem::path& path) {
        try {
            read_graph_json(path);
        } catch (const FormatError& error) {
            return std::string(error.what());
        }
        return std::string("nothing was thrown");
    };
    const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "joulecast_large.graph.json";
    EXPECT_EQ(refusal(file), "cannot read " + file.string() + ": there is no such file");
    std::ofstream(file) << "{}";
    EXPECT_EQ(refusal(file), "cannot read " + file.string() + ": \"schema\" is missing");
    std::filesystem::resize_file(file, max_graph_bytes + 1);  // a hole: takes no space
    EXPECT_EQ(refusal(file), "cannot read " + file.string() + ": it is longer than 32 MB");
    std::filesystem::remove(file);
    EXPECT_THAT(refusal(::testing::TempDir()), HasSubstr("it is not a file"));
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
    for (const char* key : {"schema", "has_edges", "inputs", "nodes", "outputs"}) {
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
    EXPECT_THAT(failure(changed), HasSubstr("symbol batch: its value is not a 64-bit integer"));
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
    EXPECT_THAT(failure(balanced), HasSubstr("nests deeper than 16 levels"));
    EXPECT_THAT(failure(std::string(max_graph_bytes + 1, ' ')), HasSubstr("longer than 32 MB"));
}

// 64 MB of small objects took 800 MB, twelve bytes for each of the text.
TEST(GraphJson, MoreValuesThanFitIntoMemoryAreRefused) {
    std::string many = R"({"schema":"joulecast.graph/1","name":"x","has_edges":false,"nodes":[],"more":[0)";
    for (int i = 0; i < 2'000'000; ++i) many += ",0";
    EXPECT_THAT(failure(many + "]}"), HasSubstr("it holds more than 2000000 values"));
    std::string nodes = R"({"schema":"joulecast.graph/1","name":"x","has_edges":false,"nodes":[0)";
    for (int i = 0; i < 500'000; ++i) nodes += ",0";
    EXPECT_THAT(failure(nodes + "]}"), HasSubstr("\"nodes\" has more than 500,000 items"));
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
}  // namespace joulecast
