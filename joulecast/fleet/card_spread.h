#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace joulecast {

/// One number that one of several equal cards was measured to have: seconds or watts of an operation at a point.
struct CardValue {
    std::string card;
    std::string what;  ///< the same text for the same thing on every card
    double value = 0;  ///< positive
};

struct CardRatio {
    std::string card;
    double ratio = 1;            ///< to the median card
    std::size_t operations = 0;  ///< that another card has measured, too
    bool is_outlier = false;
};

/// Cards that can be compared: directly, or by way of others.
struct CardComparison {
    std::vector<CardRatio> cards;  ///< by name; two or more
    double sigma = 0;              ///< of their ratios, robust: 1.4826 times the median distance from the median card
    double widest = 1;             ///< the highest ratio over the lowest
};

/// A card that takes 3 % more or less than the median card is an outlier. Of five cards or more also one that lies
/// beyond three sigmas and 1 %: cards of one kind were seen to lie within a percent or two.
inline constexpr double outlier_share = 0.03;
inline constexpr double outlier_sigmas = 3;
inline constexpr double smallest_outlier_share = 0.01;
inline constexpr std::size_t fewest_cards_for_sigma = 5;

/// Each card's ratio is the median over all that it shares with others (Tukey's median polish of the logarithms: a card
/// need not have measured everything, and what a card measured badly does not count). A card without anything in common
/// with another is left out.
std::vector<CardComparison> compare_cards(std::span<const CardValue> values);

}  // namespace joulecast
