#include "joulecast/graph/symbol_values.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

const SymbolValues two{{"sequence", 128}, {"batch", 8}};

TEST(SymbolValues, StandSideBySideByName) {
    EXPECT_EQ(values_text(two), "batch=8, sequence=128");
    EXPECT_EQ(values_text(two, ";"), "batch=8;sequence=128");
    EXPECT_EQ(values_text({}), "");
}

TEST(SymbolValues, StandBehindAText) {
    EXPECT_EQ(with_values("gpt2", two), "gpt2, batch=8, sequence=128");
    EXPECT_EQ(with_values("gpt2", two, "@"), "gpt2@batch=8@sequence=128");
    EXPECT_EQ(with_values("alexnet", {}), "alexnet");
}

TEST(SymbolValues, AreThoseThatTheGraphHasNow) {
    Graph graph;
    graph.symbols = {{"batch", {8, 1, 64}}, {"sequence", {128}}};
    EXPECT_EQ(symbol_values(graph), two);
}

}  // namespace
}  // namespace joulecast
