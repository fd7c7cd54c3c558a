// The zoo against what PyTorch says of it (tests/graph/oracles, written by tools/make_oracles.py), every network as it
// infers and as it trains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "tests/graph/tested_networks.h"

namespace joulecast {
namespace {

const std::string source = JOULECAST_SOURCE_DIR;

struct Form {
    std::string network;
    Mode mode = Mode::inference;
};

void PrintTo(const Form& form, std::ostream* out) {
    *out << form.network << ", " << name(form.mode);
}

std::vector<Form> forms() {
    std::vector<Form> all;
    for (const std::string& network : testing::tested_networks())
        for (const Mode mode : {Mode::inference, Mode::training}) all.push_back({network, mode});
    return all;
}

/// What a test's name may hold.
std::string identifier(const Form& form) {
    std::string text = form.network + "_" + std::string(name(form.mode));
    std::ranges::replace_if(
        text, [](char c) { return std::string_view("-.@").find(c) != std::string_view::npos; }, '_');
    return text;
}

/// The graph as the file holds it; only its form depends on the mode.
Graph open(const Form& form, const SymbolValues& set = {}) {
    return open_model(form.network, source + "/zoo", set, form.mode);
}

/// One of the sizes of "2|1|5", which stand for the three settings; "64" is the same in all.
std::int64_t size_at(std::string_view text, std::size_t setting) {
    for (; setting > 0 && text.find('|') != std::string_view::npos; --setting) text.remove_prefix(text.find('|') + 1);
    std::int64_t size = -1;
    std::from_chars(text.data(), text.data() + text.size(), size);
    return size;
}

/// "float32[2|1|5,64,112,112]" at one setting.
TensorType tensor_at(const std::string& text, std::size_t setting) {
    const std::size_t open = text.find('[');
    TensorType type;
    type.dtype = parse_dtype(text.substr(0, open)).value();
    std::istringstream sizes(text.substr(open + 1, text.size() - open - 2));
    for (std::string size; std::getline(sizes, size, ',');) type.sizes.push_back(size_at(size, setting));
    return type;
}

/// What PyTorch says of one form of a network.
class Oracle {
  public:
    explicit Oracle(const Form& form) {
        std::ifstream file(source + "/tests/graph/oracles/" + form.network + ".json");
        document_ = nlohmann::json::parse(file);
        form_ = document_.at("forms").at(form.mode == Mode::training ? "train" : "eval");
    }

    std::vector<SymbolValues> settings() const { return form_.at("settings"); }
    /// Forward, and forward and backward, at each of the first settings.
    std::vector<std::pair<std::int64_t, std::int64_t>> flops() const { return form_.at("flops"); }
    std::size_t calls() const { return form_.at("nodes").size(); }
    /// "aten.conv2d.default float32[2|1|5,64,112,112]"
    std::string call(std::size_t number) const {
        return document_.at("lines").at(form_.at("nodes").at(number).get<std::size_t>());
    }

    static std::vector<TensorType> outputs(const std::string& call, std::size_t setting) {
        std::istringstream words(call);
        std::vector<TensorType> tensors;
        std::string word;
        words >> word;  // the target
        while (words >> word) tensors.push_back(tensor_at(word, setting));
        return tensors;
    }

  private:
    nlohmann::json document_;
    nlohmann::json form_;
};

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

void expect_same_types(const std::vector<TensorType>& actual, const std::vector<TensorType>& expected,
                       const std::string& message) {
    ASSERT_EQ(actual.size(), expected.size()) << message;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        EXPECT_EQ(actual[i].sizes, expected[i].sizes) << message;
        EXPECT_EQ(actual[i].dtype, expected[i].dtype) << message;
    }
}

class Zoo : public ::testing::TestWithParam<Form> {};

// The backward pass of attention is that of the fused kernels, five matrix products, since scores are computed again.
TEST_P(Zoo, FlopsAreThoseOfTheFlopCounter) {
    const Oracle oracle(GetParam());
    const auto settings = oracle.settings();
    for (std::size_t i = 0; i < oracle.flops().size(); ++i) {
        const Graph graph = open(GetParam(), settings.at(i));
        const auto [forward, with_backward] = oracle.flops()[i];
        EXPECT_EQ(flops(graph).forward, forward) << "setting " << i;
        EXPECT_EQ(flops(graph).backward, 0) << "setting " << i;
        const Flops counted = flops(to_training(graph));
        EXPECT_EQ(counted.forward, forward) << "setting " << i;
        EXPECT_EQ(counted.forward + counted.backward, with_backward) << "setting " << i;
    }
}

TEST_P(Zoo, ReshapedItHasTheShapesThatTorchComputesThere) {
    const Oracle oracle(GetParam());
    const auto settings = oracle.settings();
    ASSERT_EQ(settings.size(), 3u);
    for (std::size_t setting = 0; setting < settings.size(); ++setting) {
        std::size_t number = 0;
        const Graph graph = open(GetParam(), settings[setting]);
        for (const Node& node : graph.nodes) {
            if (node.outputs.empty()) continue;  // the oracle leaves those out
            ASSERT_LT(number, oracle.calls()) << signature(node.operation);
            const std::string call = oracle.call(number++);
            const std::string message = signature(node.operation) + " against " + call;
            const auto expected = Oracle::outputs(call, setting);
            ASSERT_NO_FATAL_FAILURE(expect_same_types(node.outputs, expected, message));
            if (const Record* record = find_record(node.operation.target))
                expect_same_types(record->outputs(node.operation), expected, "record of " + message);
        }
        EXPECT_EQ(number, oracle.calls());
    }
}

/// The files were exported with gradients enabled, which decides whether the CPU fuses attention (T5's learned bias).
TEST_P(Zoo, RecordsComputeTheStridesThatTheFileTells) {
    const Graph graph = to_training(open(GetParam()));
    for (const Node& node : graph.nodes) {
        const Record* record = find_record(node.operation.target);
        if (record == nullptr) continue;
        const std::vector<TensorType> computed = record->outputs(node.operation);
        ASSERT_EQ(computed.size(), node.outputs.size()) << signature(node.operation);
        for (std::size_t i = 0; i < computed.size(); ++i)
            EXPECT_EQ(computed[i].strides, node.outputs[i].strides) << signature(node.operation);
    }
}

TEST_P(Zoo, OperationsAreInCanonicalFormAndSurviveTheirText) {
    for (const auto& [operation, count] : count_operations(open(GetParam()))) {
        EXPECT_EQ(canonical(operation), operation) << signature(operation);
        EXPECT_EQ(parse_operation(signature(operation)), operation) << signature(operation);
    }
}

TEST_P(Zoo, EveryOperandIsTheTensorItsEdgePointsTo) {
    const Graph graph = open(GetParam(), Oracle(GetParam()).settings().at(2));
    for (const Node& node : graph.nodes) {
        const auto operands = tensors(node.operation);
        ASSERT_EQ(operands.size(), node.inputs.size()) << signature(node.operation);
        for (std::size_t i = 0; i < operands.size(); ++i) EXPECT_EQ(type_of(graph, node.inputs[i]), *operands[i]);
    }
}

TEST_P(Zoo, NodesSayWhichModuleAndLineMadeThem) {
    const Graph graph = open(GetParam());
    const auto named = std::ranges::count_if(graph.nodes, [](const Node& node) { return !node.module_path.empty(); });
    EXPECT_GT(named, std::ssize(graph.nodes) * 8 / 10);
    for (const Node& node : graph.nodes) EXPECT_THAT(node.source_line, ::testing::MatchesRegex(".+\\.py:[0-9]+"));
}

INSTANTIATE_TEST_SUITE_P(Networks, Zoo, ::testing::ValuesIn(forms()),
                         [](const auto& parameter) { return identifier(parameter.param); });

#ifdef WHOLE_ZOO
TEST(WholeZoo, OfAThousandNodes995HaveARecord) {
    std::int64_t nodes = 0;
    std::map<std::string, std::int64_t> missing;
    for (const Form& form : forms()) {
        const Graph graph = open(form);
        for (const Node& node : graph.nodes) {
            ++nodes;
            if (find_record(node.operation.target) == nullptr) ++missing[node.operation.target];
        }
    }
    std::int64_t without = 0;
    for (const auto& [target, count] : missing) {
        without += count;
        std::cout << "no record: " << target << ", " << count << " nodes\n";
    }
    std::cout << nodes - without << " of " << nodes << " nodes have a record\n";
    EXPECT_LE(without * 1000, nodes * 5);
}
#endif

// tests/graph/oracles has one file per network, so this is every network of tools/zoo_networks.py.
TEST(WholeZoo, HasTwoFormsOfEveryNetworkWithAnOracle) {
    std::vector<std::string> networks;
    for (const auto& entry : std::filesystem::directory_iterator(source + "/tests/graph/oracles"))
        networks.push_back(entry.path().stem().string());
    EXPECT_THAT(zoo_names(source + "/zoo"), ::testing::UnorderedElementsAreArray(networks));
    for (const std::string& network : networks)
        EXPECT_TRUE(std::filesystem::exists(source + "/zoo/" + network + ".train.pt2")) << network;
}

// Table 4 of Sponner et al.: layer, input and output. Where it contradicts itself (conv2d_39) its sizes hold.
TEST(WholeZoo, Darknet19OfSponnerHasTheLayersOfTheirTable) {
    const std::string conv = "aten::conv2d", pool = "aten::max_pool2d";
    const std::vector<std::tuple<std::string, Sizes, Sizes>> layers = {
        {conv, {16, 3, 224, 224}, {16, 32, 222, 222}},
        {pool, {16, 32, 222, 222}, {16, 32, 111, 111}},
        {conv, {16, 32, 111, 111}, {16, 64, 111, 111}},
        {pool, {16, 64, 111, 111}, {16, 64, 55, 55}},
        {conv, {16, 64, 55, 55}, {16, 128, 55, 55}},
        {conv, {16, 128, 55, 55}, {16, 64, 55, 55}},
        {conv, {16, 64, 55, 55}, {16, 128, 55, 55}},
        {pool, {16, 128, 55, 55}, {16, 128, 27, 27}},
        {conv, {16, 128, 27, 27}, {16, 256, 27, 27}},
        {conv, {16, 256, 27, 27}, {16, 128, 27, 27}},
        {conv, {16, 128, 27, 27}, {16, 256, 27, 27}},
        {pool, {16, 256, 27, 27}, {16, 256, 13, 13}},
        {conv, {16, 256, 13, 13}, {16, 512, 11, 11}},
        {conv, {16, 512, 11, 11}, {16, 256, 11, 11}},
        {conv, {16, 256, 11, 11}, {16, 512, 9, 9}},
        {conv, {16, 512, 9, 9}, {16, 512, 9, 9}},
        {conv, {16, 512, 9, 9}, {16, 512, 7, 7}},
        {pool, {16, 512, 7, 7}, {16, 512, 3, 3}},
        {conv, {16, 512, 3, 3}, {16, 1000, 3, 3}},
        {"aten::adaptive_avg_pool2d", {16, 1000, 3, 3}, {16, 1000, 1, 1}},
        {"aten::flatten.using_ints", {16, 1000, 1, 1}, {16, 1000}},
        {"aten::softmax.int", {16, 1000}, {16, 1000}},
    };
    const Graph graph = open({"darknet19@sponner"}, {{"batch", 16}});
    ASSERT_EQ(graph.nodes.size(), layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const auto& [target, input, output] = layers[i];
        const Operation& operation = graph.nodes[i].operation;
        EXPECT_EQ(operation.target, target) << i;
        EXPECT_EQ(tensors(operation).front()->sizes, input) << i;
        EXPECT_EQ(find_record(target)->outputs(operation).front().sizes, output) << i;
    }
}

TEST(WholeZoo, GoogLeNetTrainsWithItsAuxiliaryHeads) {
    EXPECT_EQ(open({"googlenet", Mode::inference}).nodes.size(), 197);
    EXPECT_EQ(open({"googlenet", Mode::training}).nodes.size(), 274);
}

}  // namespace
}  // namespace joulecast
