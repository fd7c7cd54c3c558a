#include "joulecast/learn/forest.h"

#include <gtest/gtest.h>

#include <limits>

#include "joulecast/error.h"

namespace joulecast {
namespace {

/// x0 <= 1 ? (x1 <= 5 ? 10 : 20) : 30, and a second tree that always says 40.
Forest sample() {
    return {{{0, 1, 4}, {1, 5, 3}, {-1, 10, 0}, {-1, 20, 0}, {-1, 30, 0}, {-1, 40, 0}}, {0, 5}};
}

TEST(Forest, WalksLeftWhenTheValueIsAtMostTheThreshold) {
    const auto tree = [](float a, float b) { return predict_tree(sample(), 0, std::vector{a, b}); };
    EXPECT_EQ(tree(1, 5), 10);
    EXPECT_EQ(tree(1, 5.5), 20);
    EXPECT_EQ(tree(1.5, 0), 30);
}

TEST(Forest, SendsMissingValuesToTheRight) {
    constexpr float missing = std::numeric_limits<float>::quiet_NaN();
    EXPECT_EQ(predict_tree(sample(), 0, std::vector{missing, 0.0F}), 30);
}

TEST(Forest, IsTheMeanOfItsTrees) {
    EXPECT_EQ(predict(sample(), std::vector{0.0F, 0.0F}), 25);  // (10 + 40) / 2
    EXPECT_THROW(predict(Forest{}, std::vector{0.0F}), Error);
}

TEST(CheckForest, TakesOnlyCompleteTreesInPreorder) {
    EXPECT_NO_THROW(check(sample(), 2));
    EXPECT_THROW(check(sample(), 1), FormatError);  // compares column 1
    const auto broken = [](auto change) {
        Forest forest = sample();
        change(forest);
        EXPECT_THROW(check(forest, 2), FormatError);
    };
    broken([](Forest& f) { f.nodes[0].right = 0; });  // would walk for ever
    broken([](Forest& f) { f.nodes[0].right = 3; });
    broken([](Forest& f) { f.nodes.resize(4); });
    broken([](Forest& f) { f.nodes[5].feature = 0; });
    broken([](Forest& f) { f.nodes[3].feature = -2; });
    broken([](Forest& f) { f.nodes[2].value = std::numeric_limits<float>::infinity(); });
    broken([](Forest& f) { f.roots[1] = 4; });
    broken([](Forest& f) { f.roots.pop_back(); });
}

}  // namespace
}  // namespace joulecast
