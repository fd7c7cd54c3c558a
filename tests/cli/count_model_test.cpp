#include "cli/count_model.h"

#include <gtest/gtest.h>

#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

Graph bag(const std::string& operation, std::int64_t count) {
    Graph graph;
    graph.name = "bag";
    graph.has_edges = false;
    Node node;
    node.operation = parse_operation(operation);
    node.count = count;
    node.module_path = "a.b.c";
    graph.nodes = {node};
    return graph;
}

TEST(CountModel, CallsAreMultiplied) {
    const ModelCount model = count_model(bag("aten::linear(input=f32[8,4], weight=f32[5,4])", 3));
    EXPECT_EQ(flops(model.total), 3 * 2 * 8 * 4 * 5);
    // Read 8x4 and 5x4, written 8x5 floats of 4 bytes.
    EXPECT_EQ(bytes(model.total), 3 * 4 * (8 * 4 + 5 * 4 + 8 * 5));
    EXPECT_EQ(model.total.count, 3);
}

TEST(CountModel, SumsThatDoNotFitAreRefused) {
    EXPECT_THROW(count_model(bag("aten::linear(input=f32[8,4], weight=f32[5,4])", std::int64_t{1} << 60)), FormatError);
}

TEST(CountModel, ModulesAreCutAtTheirDepth) {
    const ModelCount model = count_model(bag("aten::relu(self=f32[8])", 2));
    EXPECT_EQ(count_modules(model, 1).at(0).op, "a");
    EXPECT_EQ(count_modules(model, 2).at(0).op, "a.b");
    EXPECT_EQ(count_modules(model, 9).at(0).op, "a.b.c");
    EXPECT_EQ(bytes(count_modules(model, 2).at(0)), bytes(model.total));
}

TEST(CountModel, WhatHasNoRecordIsNamedOnce) {
    const ModelCount model = count_model(bag("made_up::fizz(self=f32[8])", 2));
    EXPECT_EQ(model.nodes_without_record, 2);
    EXPECT_NE(missing_records_text({&model, &model}).find("made_up::fizz (4 calls) has no record"), std::string::npos);
    // A bag does not say what comes out.
    EXPECT_EQ(bytes(model.total), 2 * 4 * 8);
    const ModelCount known = count_model(bag("aten::relu(self=f32[8])", 2));
    EXPECT_EQ(missing_records_text({&known}), "");
}

TEST(CountModel, WhatHasNoRecordMovesTheTensorsThatTheGraphKnows) {
    Graph graph = bag("made_up::fizz(self=f32[8])", 2);
    graph.nodes.front().outputs = {{Dtype::f32, {8, 3}}, {Dtype::i64, {3}}};
    const ModelCount model = count_model(graph);
    // 8 floats in; 8x3 floats and 3 integers of 8 bytes out; twice.
    EXPECT_EQ(model.total.forward.bytes_read, 2 * 32);
    EXPECT_EQ(model.total.forward.bytes_written, 2 * (96 + 24));
    EXPECT_EQ(bytes(count_modules(model, 1).at(0)), bytes(model.total));
}

}  // namespace
}  // namespace joulecast::cli
