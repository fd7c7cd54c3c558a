#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "tests/graph/zip_of.h"

/// The smallest exported program, for tests that change it.
namespace joulecast::testing {

using nlohmann::json;

inline json expression(const std::string& text, std::int64_t hint) {
    return {{"as_expr", {{"expr_str", text}, {"hint", {{"as_int", hint}}}}}};
}

inline json tensor(std::vector<json> sizes, std::vector<std::int64_t> strides) {
    json described{{"dtype", 7}, {"sizes", json::array()}, {"strides", json::array()}, {"layout", 7}};
    for (json& size : sizes) described["sizes"].push_back(size.is_number() ? json{{"as_int", size}} : size);
    for (const std::int64_t stride : strides) described["strides"].push_back({{"as_int", stride}});
    return described;
}

inline json argument(const std::string& name, json arg) {
    return {{"name", name}, {"arg", std::move(arg)}, {"kind", 1}};
}

inline json tensor_argument(const std::string& name) {
    return {{"as_tensor", {{"name", name}}}};
}

/// relu of x, f32[s77, 4] with s77 = 2: the smallest program, which the tests then change.
inline json small_program() {
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

inline json& graph_of(json& program) {
    return program["graph_module"]["graph"];
}
inline json& node_of(json& program) {
    return graph_of(program)["nodes"][0];
}
inline json& tensors_of(json& program) {
    return graph_of(program)["tensor_values"];
}

inline Graph read_text(const std::string& model, const SymbolValues& set = {}) {
    return read_pt2(bytes_of(zip_of({{"net/models/model.json", model}})), "net.pt2", set);
}

inline Graph read(const json& program, const SymbolValues& set = {}) {
    return read_text(program.dump(), set);
}

inline std::string only_signature(const Graph& graph) {
    return signature(graph.nodes.at(0).operation);
}

inline std::vector<std::string> signatures(const Graph& graph) {
    std::vector<std::string> texts;
    for (const Node& node : graph.nodes) texts.push_back(signature(node.operation));
    return texts;
}

/// Every edge leads to an input or an earlier node, with the same type at both ends.
inline void expect_edges_agree(const Graph& graph) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        const auto held = tensors(node.operation);
        ASSERT_EQ(held.size(), node.inputs.size()) << node.operation.target;
        for (std::size_t k = 0; k < held.size(); ++k) {
            EXPECT_LT(node.inputs[k].node, static_cast<std::int32_t>(i)) << node.operation.target;
            EXPECT_EQ(type_of(graph, node.inputs[k]).sizes, held[k]->sizes) << signature(node.operation);
            EXPECT_EQ(type_of(graph, node.inputs[k]).dtype, held[k]->dtype) << signature(node.operation);
        }
    }
    for (const ValueRef output : graph.outputs) type_of(graph, output);
}

/// The message of the FormatError that reading throws.
template <class F>
inline std::string failure(const F& reading) {
    try {
        reading();
    } catch (const FormatError& error) {
        return error.what();
    }
    return "nothing was thrown";
}

inline std::string failure(const json& program) {
    return failure([&] { read(program); });
}

}  // namespace joulecast::testing
