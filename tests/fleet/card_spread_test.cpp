#include "joulecast/fleet/card_spread.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace joulecast {
namespace {

/// What each card takes for `operations` operations, whose own times lie far apart; each measurement errs by `noise`.
std::vector<CardValue> measured(const std::vector<std::pair<std::string, double>>& cards, int operations,
                                double noise = 0) {
    std::mt19937 random(1);
    std::normal_distribution<double> error(0, noise);
    std::vector<CardValue> values;
    for (int i = 0; i < operations; ++i) {
        for (const auto& [card, ratio] : cards)
            values.push_back({card, "operation " + std::to_string(i),
                              std::pow(1.7, i % 20) * 1e-6 * ratio * std::exp(noise > 0 ? error(random) : 0)});
    }
    return values;
}

const CardRatio& of(const CardComparison& comparison, const std::string& card) {
    for (const CardRatio& one : comparison.cards)
        if (one.card == card) return one;
    throw std::out_of_range(card);
}

TEST(CardSpread, NamesTheCardThatIsSlower) {
    const auto found = compare_cards(measured({{"a", 1}, {"b", 1.004}, {"c", 0.996}, {"d", 1.05}}, 32));
    ASSERT_EQ(found.size(), 1u);
    // Logarithms -0.004, 0, 0.004, 0.0488: the median card lies at 0.002.
    EXPECT_NEAR(of(found[0], "d").ratio, 1.05 / std::exp(0.002), 1e-4);
    EXPECT_TRUE(of(found[0], "d").is_outlier);
    for (const char* card : {"a", "b", "c"}) EXPECT_FALSE(of(found[0], card).is_outlier) << card;
    EXPECT_EQ(of(found[0], "d").operations, 32u);
    EXPECT_NEAR(found[0].widest, 1.05 / 0.996, 1e-9);
}

TEST(CardSpread, TellsHowFarTwoCardsLieApart) {
    const auto found = compare_cards(measured({{"a", 1}, {"b", 1.05}}, 5));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(found[0].widest, 1.05, 1e-9);
    EXPECT_NEAR(of(found[0], "b").ratio, std::sqrt(1.05), 1e-9);
}

TEST(CardSpread, IsNotMovedBySomeBadMeasurements) {
    auto values = measured({{"a", 1}, {"b", 1}, {"c", 1}}, 20);
    for (std::size_t i = 0; i < 8; ++i) {
        if (values[3 * i].card == "a") values[3 * i].value *= 3;
    }
    const auto found = compare_cards(values);
    EXPECT_NEAR(of(found.at(0), "a").ratio, 1, 1e-9);
}

TEST(CardSpread, ComparesCardsThatMeasuredDifferentThings) {
    // b and c share nothing with each other; a joins them.
    auto values = measured({{"a", 1}, {"b", 1.04}}, 10);
    for (CardValue one : measured({{"a", 1}, {"c", 0.98}}, 10)) {
        one.what += " at another clock";
        values.push_back(one);
    }
    const auto found = compare_cards(values);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NEAR(of(found[0], "b").ratio / of(found[0], "c").ratio, 1.04 / 0.98, 1e-6);
}

TEST(CardSpread, KeepsApartWhatNothingConnects) {
    auto values = measured({{"a", 1}, {"b", 1}}, 3);
    for (CardValue one : measured({{"c", 1}, {"d", 9}}, 3)) {
        one.what += " of others";
        values.push_back(one);
    }
    values.push_back({"alone", "something else", 1});
    EXPECT_EQ(compare_cards(values).size(), 2u);
}

TEST(CardSpread, CallsNoNoiseAnOutlier) {
    const std::vector<std::pair<std::string, double>> equal{{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}};
    const auto found = compare_cards(measured(equal, 32, 0.006));
    for (const CardRatio& card : found.at(0).cards) EXPECT_FALSE(card.is_outlier) << card.card << " " << card.ratio;
    // The same with one that is 2 % slower: within 3 %, but far beyond three sigmas of the others.
    auto cards = equal;
    cards[2].second = 1.02;
    EXPECT_TRUE(of(compare_cards(measured(cards, 32, 0.006)).at(0), "c").is_outlier);
    cards.resize(4);  // of four cards nobody knows sigma well enough
    EXPECT_FALSE(of(compare_cards(measured(cards, 32, 0.006)).at(0), "c").is_outlier);
}

TEST(CardSpread, TakesNoValuesThatCannotBe) {
    const std::vector<CardValue> values{{"a", "x", 1}, {"b", "x", 0}, {"c", "x", std::nan("")}, {"", "x", 2}};
    EXPECT_TRUE(compare_cards(values).empty());
}

}  // namespace
}  // namespace joulecast
