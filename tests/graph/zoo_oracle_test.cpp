// The twelve networks of the zoo against what PyTorch says of them (tests/graph/oracles, written by
// tools/make_oracles.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

const std::string source = JOULECAST_SOURCE_DIR;

nlohmann::json oracle(const std::string& network) {
    std::ifstream file(source + "/tests/graph/oracles/" + network + ".json");
    return nlohmann::json::parse(file);
}

Graph network_at(const std::string& network, std::int64_t batch) {
    return with_symbol(open_model(network, source + "/zoo"), "batch", batch);
}

struct Flops {
    std::int64_t forward = 0;
    std::int64_t backward = 0;
};

Flops flops(const Graph& graph) {
    Flops sum;
    for (const auto& [operation, count] : count_operations(graph)) {
        sum.forward += count * forward_counts(operation).flop;
        sum.backward += count * backward_counts(operation).flop;
    }
    return sum;
}

class Zoo : public testing::TestWithParam<std::string> {};

TEST_P(Zoo, EveryNodeHasARecord) {
    for (const auto& [operation, count] : count_operations(network_at(GetParam(), 2)))
        EXPECT_NE(find_record(operation.target), nullptr) << operation.target;
}

TEST_P(Zoo, ForwardFlopsAreThoseOfTheFlopCounter) {
    const auto flop_counter = oracle(GetParam());
    for (const auto& expected : flop_counter.at("flops"))
        EXPECT_EQ(flops(network_at(GetParam(), expected.at("batch"))).forward, expected.at("forward"))
            << "batch " << expected.at("batch");
}

// The backward pass of attention is that of the fused kernels, five matrix products, since scores are computed again.
TEST_P(Zoo, TrainingFlopsAreThoseOfTheFlopCounter) {
    const auto flop_counter = oracle(GetParam());
    for (const auto& expected : flop_counter.at("flops")) {
        const Flops counted = flops(to_training(network_at(GetParam(), expected.at("batch"))));
        EXPECT_EQ(counted.forward, expected.at("forward")) << "batch " << expected.at("batch");
        EXPECT_EQ(counted.forward + counted.backward, expected.at("forward_backward_fused_attention"))
            << "batch " << expected.at("batch");
    }
}

TEST_P(Zoo, RecordsComputeTheOutputsThatTheFileTells) {
    const Graph graph = open_model(GetParam(), source + "/zoo");
    for (const Node& node : graph.nodes) {
        const std::vector<TensorType> computed = find_record(node.operation.target)->outputs(node.operation);
        ASSERT_EQ(computed.size(), node.outputs.size()) << signature(node.operation);
        for (std::size_t i = 0; i < computed.size(); ++i) {
            EXPECT_EQ(computed[i].sizes, node.outputs[i].sizes) << signature(node.operation);
            EXPECT_EQ(computed[i].dtype, node.outputs[i].dtype) << signature(node.operation);
        }
    }
}

TEST_P(Zoo, ReshapedItIsAFreshExportAtThatBatch) {
    const nlohmann::json expected = oracle(GetParam());
    const Graph graph = network_at(GetParam(), expected.at("shapes_at").at("batch"));
    auto fresh = expected.at("nodes").begin();
    for (const Node& node : graph.nodes) {
        if (node.outputs.empty()) continue;  // the oracle leaves those out
        ASSERT_NE(fresh, expected.at("nodes").end());
        // ["aten.conv2d.default", [[5, 64, 112, 112], "float32"], ...]
        ASSERT_EQ(fresh->size(), node.outputs.size() + 1) << signature(node.operation) << " against " << *fresh;
        const std::vector<TensorType> computed = find_record(node.operation.target)->outputs(node.operation);
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const auto& [sizes, dtype] = fresh->at(i + 1).get<std::pair<std::vector<std::int64_t>, std::string>>();
            EXPECT_EQ(node.outputs[i].sizes, sizes) << signature(node.operation);
            EXPECT_EQ(node.outputs[i].dtype, parse_dtype(dtype)) << signature(node.operation);
            EXPECT_EQ(computed.at(i).sizes, sizes) << signature(node.operation);
        }
        ++fresh;
    }
    EXPECT_EQ(fresh, expected.at("nodes").end());
}

TEST_P(Zoo, OperationsAreInCanonicalFormAndSurviveTheirText) {
    const Graph graph = open_model(GetParam(), source + "/zoo");
    for (const Node& node : graph.nodes) {
        EXPECT_EQ(canonical(node.operation), node.operation) << signature(node.operation);
        EXPECT_EQ(parse_operation(signature(node.operation)), node.operation) << signature(node.operation);
    }
}

TEST_P(Zoo, EveryOperandIsTheTensorItsEdgePointsTo) {
    const Graph graph = network_at(GetParam(), 3);
    for (const Node& node : graph.nodes) {
        const auto operands = tensors(node.operation);
        ASSERT_EQ(operands.size(), node.inputs.size()) << signature(node.operation);
        for (std::size_t i = 0; i < operands.size(); ++i) EXPECT_EQ(type_of(graph, node.inputs[i]), *operands[i]);
    }
}

TEST_P(Zoo, NodesSayWhichModuleAndLineMadeThem) {
    const Graph graph = open_model(GetParam(), source + "/zoo");
    const auto named = std::ranges::count_if(graph.nodes, [](const Node& node) { return !node.module_path.empty(); });
    EXPECT_GT(named, std::ssize(graph.nodes) * 8 / 10);
    for (const Node& node : graph.nodes) EXPECT_THAT(node.source_line, testing::MatchesRegex(".+\\.py:[0-9]+"));
}

INSTANTIATE_TEST_SUITE_P(Networks, Zoo, testing::ValuesIn(zoo_names(source + "/zoo")), [](const auto& parameter) {
    std::string name = parameter.param;
    std::ranges::replace(name, '-', '_');
    return name;
});

TEST(ZooNames, AreTheTwelve) {
    EXPECT_THAT(zoo_names(source + "/zoo"),
                testing::ElementsAre("alexnet", "bert-base", "convnext_tiny", "densenet121", "efficientnet_b0", "gpt2",
                                     "mobilenet_v2", "resnet18", "resnet50", "swin_t", "vgg11", "vit_b_16"));
}

}  // namespace
}  // namespace joulecast
