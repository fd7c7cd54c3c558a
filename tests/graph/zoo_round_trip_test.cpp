#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "joulecast/graph/graph_json.h"
#include "joulecast/graph/readers/read_graph.h"
#include "tests/graph/equal_graphs.h"
#include "tests/graph/tested_networks.h"

namespace joulecast {
namespace {

const std::filesystem::path zoo = JOULECAST_SOURCE_DIR "/zoo";

Graph read_file(const std::string& text, const SymbolValues& set = {}) {
    return read_graph_json(text, "written.graph.json", set);
}

class ZooRoundTrip : public ::testing::TestWithParam<std::string> {};

TEST_P(ZooRoundTrip, ThroughJsonGivesEveryFormBack) {
    const Graph inference = with_symbol(open_model(GetParam(), zoo), "batch", 3);
    for (const Graph& graph : {inference, to_training(inference), with_dtype(inference, Dtype::bf16),
                               to_training(with_dtype(inference, Dtype::bf16))})
        expect_equal(graph_from_json(graph_to_json(graph)), graph);
}

TEST_P(ZooRoundTrip, WrittenToAFileItIsReshapedAsBefore) {
    const Graph network = open_model(GetParam(), zoo);
    ASSERT_TRUE(network.symbols.contains("batch"));
    const std::string text = graph_to_json(network, GraphText::file);
    expect_equal(read_file(text), network);
    for (const std::int64_t batch : {network.symbols.at("batch").low + 1, std::int64_t{7}}) {
        const Graph reshaped = open_model(GetParam(), zoo, {{"batch", batch}});
        expect_equal(read_file(text, {{"batch", batch}}), reshaped);
        expect_same_costs(read_file(text, {{"batch", batch}}), reshaped);
        const Graph training = to_training(reshaped);
        expect_same_costs(read_file(graph_to_json(training, GraphText::file)), training);
    }
    // What is written again is the same text.
    EXPECT_EQ(graph_to_json(read_file(text), GraphText::file), text);
}

std::string identifier(const ::testing::TestParamInfo<std::string>& parameter) {
    std::string name = parameter.param;
    for (char& letter : name) {
        if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
    }
    return name;
}

#ifdef WHOLE_ZOO
INSTANTIATE_TEST_SUITE_P(Whole, ZooRoundTrip, ::testing::ValuesIn(testing::tested_networks()), identifier);
#else
INSTANTIATE_TEST_SUITE_P(Some, ZooRoundTrip, ::testing::ValuesIn(testing::tested_networks()), identifier);
#endif

}  // namespace
}  // namespace joulecast
