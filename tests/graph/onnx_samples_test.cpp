// Networks as exporters write them against what PyTorch and onnxruntime say of them (tests/graph/data/onnx, written by
// tools/make_onnx_samples.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "joulecast/graph/readers/onnx_model.h"
#include "joulecast/graph/readers/onnx_symbols.h"
#include "joulecast/graph/readers/onnx_translation.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

const std::string folder = std::string(JOULECAST_SOURCE_DIR) + "/tests/graph/data/onnx/";

const nlohmann::json& oracle() {
    static const nlohmann::json document = [] {
        std::ifstream file(folder + "oracle.json");
        return nlohmann::json::parse(file);
    }();
    return document;
}

/// By their files: every test of this folder's program would else read what only these need.
std::vector<std::string> samples() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".onnx") names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

SymbolValues symbols_of(const nlohmann::json& setting) {
    SymbolValues values;
    for (const auto& [symbol, value] : setting.items()) values[symbol] = value;
    return values;
}

Graph sample(const std::string& name, const nlohmann::json& setting) {
    return read_onnx(folder + name + ".onnx", symbols_of(setting));
}

struct Flops {
    std::int64_t forward = 0;
    std::int64_t both = 0;
};

Flops flops(const Graph& graph) {
    Flops sum;
    for (const auto& [operation, count] : count_operations(graph)) {
        sum.forward += count * forward_counts(operation).flop;
        sum.both += count * (forward_counts(operation).flop + backward_counts(operation).flop);
    }
    return sum;
}

/// Attention is one call in ours; its fused backward computes the scores again: five products where the counter saw
/// four, a product being half of the forward pass.
std::int64_t recomputed_scores(const Graph& graph) {
    std::int64_t sum = 0;
    for (const auto& [operation, count] : count_operations(graph))
        if (operation.target == "aten::scaled_dot_product_attention" && mode(operation) == Mode::training)
            sum += count * forward_counts(operation).flop / 2;
    return sum;
}

class OnnxSample : public ::testing::TestWithParam<std::string> {};

TEST_P(OnnxSample, EveryNodeHasARecord) {
    const nlohmann::json& entry = oracle().at(GetParam());
    for (const auto& [operation, count] : count_operations(sample(GetParam(), entry.at("flops")[0].at("set"))))
        EXPECT_NE(find_record(operation.target), nullptr) << operation.target;
}

TEST_P(OnnxSample, FlopsAreThoseOfTheFlopCounterAtTwoSettings) {
    const nlohmann::json& entry = oracle().at(GetParam());
    for (const auto& expected : entry.at("flops"))
        EXPECT_EQ(flops(sample(GetParam(), expected.at("set"))).forward, expected.at("forward")) << expected.at("set");
}

TEST_P(OnnxSample, TrainingFlopsAreThoseOfTheFlopCounter) {
    const nlohmann::json& entry = oracle().at(GetParam());
    for (const auto& expected : entry.at("flops")) {
        if (!expected.contains("forward_backward")) continue;  // quantized: integers have no gradient
        const Graph graph = to_training(sample(GetParam(), expected.at("set")));
        EXPECT_EQ(flops(graph).both - recomputed_scores(graph), expected.at("forward_backward")) << expected.at("set");
    }
}

TEST_P(OnnxSample, ReshapedItIsReadAnew) {
    const nlohmann::json& settings = oracle().at(GetParam()).at("flops");
    Graph graph = sample(GetParam(), settings[0].at("set"));
    for (const auto& [symbol, value] : settings[1].at("set").items()) graph = with_symbol(graph, symbol, value);
    EXPECT_EQ(flops(graph).forward, settings[1].at("forward"));
}

/// The model with every value of its nodes among its outputs, so that their types can be seen.
Graph graph_with_all_values(const std::string& name, const SymbolValues& values, std::vector<std::string>& names) {
    onnx::Source source(folder + name + ".onnx");
    onnx::Model model = onnx::parse_model(source);
    std::map<std::string, bool> is_output;
    for (const onnx::ValueInfo& output : model.graph.outputs) is_output[output.name] = true;
    for (const onnx::Node& node : model.graph.nodes)
        for (const std::string& value : node.outputs)
            if (!value.empty() && !is_output[value]) model.graph.outputs.push_back({value, {}, {}});
    for (const onnx::ValueInfo& output : model.graph.outputs) names.push_back(output.name);
    const onnx::Symbols symbols(model.graph);
    return onnx::Translation(model, symbols, values).graph();
}

TEST_P(OnnxSample, ValuesHaveTheSizesThatOnnxruntimeComputes) {
    const nlohmann::json& entry = oracle().at(GetParam());
    for (std::size_t i = 0; i < 2; ++i) {
        std::vector<std::string> names;
        const Graph graph = graph_with_all_values(GetParam(), symbols_of(entry.at("flops")[i].at("set")), names);
        std::size_t compared = 0;
        for (std::size_t n = 0; n < names.size(); ++n) {
            const auto found = entry.at("shapes").find(names[n]);
            if (found == entry.at("shapes").end()) continue;
            ++compared;
            EXPECT_EQ(type_of(graph, graph.outputs[n]).sizes, found->at(i).get<Sizes>()) << names[n];
        }
        EXPECT_EQ(compared, entry.at("shapes").size());
    }
}

TEST_P(OnnxSample, ParametersAreTheWeightsOfTheFile) {
    const nlohmann::json& entry = oracle().at(GetParam());
    if (!entry.contains("parameters")) return;  // quantized: the weights are constants, being integers
    std::int64_t parameters = 0;
    for (const GraphInput& input : sample(GetParam(), entry.at("flops")[0].at("set")).inputs)
        if (input.kind == GraphInput::Kind::parameter) parameters += element_count(input.type);
    // Exporters fold batch normalization into convolutions and store tables of positions: 2 % around torch's count.
    const std::int64_t torch_count = entry.at("parameters");
    EXPECT_NEAR(static_cast<double>(parameters), static_cast<double>(torch_count),
                0.02 * static_cast<double>(torch_count));
}

TEST(OnnxSamples, HaveAnOracleEach) {
    std::vector<std::string> told;
    for (const auto& [name, entry] : oracle().items()) told.push_back(name);
    EXPECT_EQ(told, samples());
}

INSTANTIATE_TEST_SUITE_P(Samples, OnnxSample, ::testing::ValuesIn(samples()), [](const auto& parameter) {
    std::string name = parameter.param;
    std::ranges::replace(name, '-', '_');
    std::ranges::replace(name, '.', '_');
    return name;
});

}  // namespace
}  // namespace joulecast
