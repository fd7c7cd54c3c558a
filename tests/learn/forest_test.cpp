#include "joulecast/learn/forest.h"

#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"

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

/// Trees of random shape in preorder, up to `depth` splits deep, some of them but a leaf.
std::int32_t add_branch(Forest& forest, Random& random, std::size_t columns, std::size_t depth) {
    const auto index = static_cast<std::int32_t>(forest.nodes.size());
    const auto value = static_cast<float>(random.uniform());
    forest.nodes.push_back({-1, value, 0});
    if (depth == 0 || random.below(8) == 0) return index;
    forest.nodes.back().feature = static_cast<std::int32_t>(random.below(columns));
    add_branch(forest, random, columns, depth - 1);
    const std::int32_t right = add_branch(forest, random, columns, depth - 1);
    forest.nodes[static_cast<std::size_t>(index)].right = right;
    return index;
}

Forest random_forest(std::size_t trees, std::size_t columns) {
    Forest forest;
    Random random(11);
    for (std::size_t tree = 0; tree < trees; ++tree) {
        forest.roots.push_back(add_branch(forest, random, columns, 9));
    }
    check(forest, columns);
    return forest;
}

/// Values in [0, 1), one in ten missing.
std::vector<float> random_values(std::size_t count) {
    Random random(12);
    std::vector<float> values(count);
    for (float& value : values) {
        value = random.below(10) == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(random.uniform());
    }
    return values;
}

/// One tree after the other, one step after the other: what all ways of predicting must say bit for bit.
double slow_mean(const Forest& forest, std::span<const float> row) {
    double sum = 0;
    for (std::size_t tree = 0; tree < forest.roots.size(); ++tree) sum += predict_tree(forest, tree, row);
    return sum / static_cast<double>(forest.roots.size());
}

TEST(Forest, SaysTheSameOfARowBitForBitHoweverManyTreesAreWalkedAtOnce) {
    constexpr std::size_t columns = 5;
    // Fewer trees than are walked at once, a multiple of it, and more than the places on the stack.
    for (const std::size_t trees : {1U, 7U, 8U, 30U, 300U}) {
        const Forest forest = random_forest(trees, columns);
        const auto values = random_values(20 * columns);
        std::vector<double> each(trees);
        for (std::size_t i = 0; i < 20; ++i) {
            const auto row = std::span(values).subspan(i * columns, columns);
            EXPECT_EQ(predict(forest, row), slow_mean(forest, row)) << trees;
            predict_trees(forest, row, each);
            for (std::size_t tree = 0; tree < trees; ++tree) EXPECT_EQ(each[tree], predict_tree(forest, tree, row));
        }
    }
}

TEST(Forest, SaysTheSameOfABatchAsOfItsRowsBitForBit) {
    constexpr std::size_t columns = 5;
    const Forest forest = random_forest(30, columns);
    // One row, a rest beside full groups, and more rows than a block has.
    for (const std::size_t rows : {1U, 13U, 1000U, 2500U}) {
        const auto values = random_values(rows * columns);
        std::vector<double> means(rows);
        predict(forest, {values, columns}, means);
        for (std::size_t i = 0; i < rows; ++i) {
            EXPECT_EQ(means[i], predict(forest, std::span(values).subspan(i * columns, columns)))
                << i << " of " << rows;
        }
    }
}

TEST(Forest, WalksTreesThatAreButALeafWithoutLookingAtTheRow) {
    const Forest forest{{{-1, 3, 0}, {-1, 5, 0}}, {0, 1}};
    EXPECT_EQ(predict(forest, std::span<const float>()), 4);
}

TEST(Forest, RefusesABatchThatDoesNotFitItsRows) {
    const std::vector<float> values(6);
    std::vector<double> means(3);
    EXPECT_NO_THROW(predict(sample(), {values, 2}, means));
    EXPECT_THROW(predict(sample(), {values, 3}, means), Error);
    EXPECT_THROW(predict(sample(), {values, 0}, means), Error);
    EXPECT_THROW(predict(Forest{}, {values, 2}, means), Error);
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
