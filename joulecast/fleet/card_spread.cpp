#include "joulecast/fleet/card_spread.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

constexpr int polishing_rounds = 20;
constexpr double sigmas_of_median_distance = 1.4826;

/// By what was measured: the logarithm of each card's median.
using LogValues = std::map<std::string, std::map<std::string, double>>;

/// What at least two cards have measured.
LogValues shared(std::span<const CardValue> values) {
    std::map<std::string, std::map<std::string, std::vector<double>>> samples;
    for (const CardValue& one : values) {
        if (one.value > 0 && std::isfinite(one.value) && !one.card.empty())
            samples[one.what][one.card].push_back(std::log(one.value));
    }
    LogValues logs;
    for (const auto& [what, cards] : samples) {
        if (cards.size() < 2) continue;
        for (const auto& [card, list] : cards) logs[what][card] = median(list);
    }
    return logs;
}

/// Cards that something connects, each set once.
std::vector<std::set<std::string>> connected(const LogValues& logs) {
    std::vector<std::set<std::string>> groups;
    for (const auto& [what, cards] : logs) {
        std::set<std::string> together;
        for (const auto& [card, value] : cards) together.insert(card);
        std::vector<std::set<std::string>> others;
        for (auto& group : groups) {
            const bool meets = std::ranges::any_of(group, [&](const auto& card) { return together.contains(card); });
            if (meets)
                together.merge(group);
            else
                others.push_back(std::move(group));
        }
        others.push_back(std::move(together));
        groups = std::move(others);
    }
    return groups;
}

double median_of(const std::map<std::string, double>& effects) {
    std::vector<double> list;
    for (const auto& [card, effect] : effects) list.push_back(effect);
    return median(list);
}

/// By card: the median over what it shares of how far it lies from the others there, the median card at 0.
std::map<std::string, double> polished(const LogValues& logs, const std::set<std::string>& group) {
    std::map<std::string, double> effects;
    for (const std::string& card : group) effects[card] = 0;
    for (int round = 0; round < polishing_rounds; ++round) {
        std::map<std::string, std::vector<double>> distances;
        for (const auto& [what, cards] : logs) {
            if (!group.contains(cards.begin()->first)) continue;
            std::vector<double> levels;
            for (const auto& [card, value] : cards) levels.push_back(value - effects[card]);
            const double level = median(levels);
            for (const auto& [card, value] : cards) distances[card].push_back(value - level);
        }
        for (auto& [card, effect] : effects) effect = median(distances[card]);
        const double middle = median_of(effects);
        for (auto& [card, effect] : effects) effect -= middle;
    }
    return effects;
}

}  // namespace

std::vector<CardComparison> compare_cards(std::span<const CardValue> values) {
    const LogValues logs = shared(values);
    std::vector<CardComparison> comparisons;
    for (const auto& group : connected(logs)) {
        CardComparison comparison;
        std::vector<double> distances;
        const auto effects = polished(logs, group);
        for (const auto& [card, effect] : effects) {
            std::size_t operations = 0;
            for (const auto& [what, cards] : logs) operations += cards.contains(card) ? 1 : 0;
            comparison.cards.push_back({card, std::exp(effect), operations, false});
            distances.push_back(std::abs(effect));
        }
        comparison.sigma = sigmas_of_median_distance * median(distances);
        const auto [low, high] = std::ranges::minmax(comparison.cards, {}, &CardRatio::ratio);
        comparison.widest = high.ratio / low.ratio;
        for (CardRatio& card : comparison.cards) {
            const double off = std::abs(card.ratio - 1);
            card.is_outlier =
                off > outlier_share || (comparison.cards.size() >= fewest_cards_for_sigma &&
                                        off > smallest_outlier_share && off > outlier_sigmas * comparison.sigma);
        }
        comparisons.push_back(std::move(comparison));
    }
    return comparisons;
}

}  // namespace joulecast
