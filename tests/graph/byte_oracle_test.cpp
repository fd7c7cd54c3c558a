// Bytes that each call of the zoo's networks reads and writes, against a count over torch's own tensors
// (tests/graph/oracles_bytes, written by tools/make_byte_oracles.py; docs/counting.md has the rules).
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "byte_oracles.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

const std::string zoo = std::string(JOULECAST_SOURCE_DIR) + "/zoo";

/// x * x: an operation does not tell that two operands are one tensor, the oracle reads it once.
bool passes_one_tensor_twice(const Node& node) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (std::find(node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(i), node.inputs[i]) !=
            node.inputs.begin() + static_cast<std::ptrdiff_t>(i))
            return true;
    }
    return false;
}

class Bytes : public ::testing::TestWithParam<std::string> {
  protected:
    static void compare(Mode form) {
        const ByteOracle oracle(GetParam(), form);
        for (std::size_t setting = 0; setting < oracle.settings().size(); ++setting) {
            const Graph graph = open_model(GetParam(), zoo, oracle.settings()[setting], form);
            std::size_t call = 0;
            std::set<std::string> told;
            for (const Node& node : graph.nodes) {
                if (node.outputs.empty()) continue;  // the oracle leaves those out
                ASSERT_LT(call, oracle.calls());
                const auto [read, written] = oracle.bytes(call++, setting);
                if (passes_one_tensor_twice(node) || find_record(node.operation.target) == nullptr) continue;
                const Counts counts = forward_counts(node.operation);
                if (counts.bytes_read == read && counts.bytes_written == written) continue;
                const std::string text = signature(node.operation);
                if (!told.insert(text).second) continue;
                ADD_FAILURE() << text << " reads " << counts.bytes_read << " and writes " << counts.bytes_written
                              << ", torch " << read << " and " << written;
            }
            EXPECT_EQ(call, oracle.calls());
        }
    }
};

TEST_P(Bytes, OfEveryCallAreThoseOfTheTensorsThatTorchTouches) {
    compare(Mode::inference);
}

TEST_P(Bytes, OfEveryCallAreThoseOfTheTensorsThatTorchTouchesInTraining) {
    compare(Mode::training);
}

INSTANTIATE_TEST_SUITE_P(Networks, Bytes, ::testing::ValuesIn(networks_with_byte_oracle()), [](const auto& parameter) {
    std::string text = parameter.param;
    std::ranges::replace_if(
        text, [](char c) { return std::string_view("-.@").find(c) != std::string_view::npos; }, '_');
    return text;
});

}  // namespace
}  // namespace joulecast
