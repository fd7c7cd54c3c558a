// Bytes that autograd keeps from forward to backward, against torch.autograd.graph.saved_tensors_hooks
// (tests/graph/oracles_bytes, written by tools/make_byte_oracles.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "byte_oracles.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/memory.h"

namespace joulecast {
namespace {

const std::string zoo = std::string(JOULECAST_SOURCE_DIR) + "/zoo";

class Saved : public ::testing::TestWithParam<std::string> {};

TEST_P(Saved, BytesAreWithinOnePercentOfWhatTheHooksSee) {
    const ByteOracle oracle(GetParam(), Mode::training);
    const auto settings = oracle.settings();
    const auto expected = oracle.saved("cuda");
    for (std::size_t i = 0; i < settings.size(); ++i) {
        const Graph graph = to_training(open_model(GetParam(), zoo, settings[i], Mode::training));
        const double planned = plan_memory(graph)->saved_bytes;
        EXPECT_NEAR(planned / static_cast<double>(expected[i]), 1.0, 0.01) << planned << " and " << expected[i];
    }
}

INSTANTIATE_TEST_SUITE_P(Networks, Saved, ::testing::ValuesIn(networks_with_byte_oracle()), [](const auto& parameter) {
    std::string text = parameter.param;
    std::ranges::replace_if(
        text, [](char c) { return std::string_view("-.@").find(c) != std::string_view::npos; }, '_');
    return text;
});

}  // namespace
}  // namespace joulecast
