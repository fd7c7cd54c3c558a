#include "joulecast/recommend/objective.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace joulecast {
namespace {

/// Device and electricity together; what no price was given of is free.
double price(const SampleCost& cost, const Prices& prices) {
    const double device = std::isnan(cost.device_per_hour) ? 0 : cost.device_per_hour * cost.time_s / seconds_per_hour;
    if (std::isnan(prices.electricity_per_kwh)) return std::isnan(cost.device_per_hour) ? Candidate::unknown : device;
    return device + prices.electricity_per_kwh * cost.energy_j / joules_per_kwh;
}

constexpr std::array objective_rules{
    ObjectiveRule{Objective::energy, "energy", "J", "energy",
                  [](const SampleCost& c, const Prices&) { return c.energy_j; }},
    ObjectiveRule{Objective::time, "time", "s", "time", [](const SampleCost& c, const Prices&) { return c.time_s; }},
    ObjectiveRule{Objective::edp, "edp", "J s", "energy-delay product",
                  [](const SampleCost& c, const Prices&) { return c.energy_j * c.time_s; }},
    ObjectiveRule{Objective::ed2p, "ed2p", "J s2", "energy-delay-squared product",
                  [](const SampleCost& c, const Prices&) { return c.energy_j * c.time_s * c.time_s; }},
    ObjectiveRule{Objective::price, "price", "", "price", price},
    ObjectiveRule{
        Objective::carbon, "carbon", "g", "carbon",
        [](const SampleCost& c, const Prices& p) { return p.carbon_g_per_kwh * c.energy_j / joules_per_kwh; }},
};

}  // namespace

std::span<const ObjectiveRule> objectives() {
    return objective_rules;
}

const ObjectiveRule& rule(Objective objective) {
    return *std::ranges::find(objective_rules, objective, &ObjectiveRule::objective);
}

std::optional<Objective> parse_objective(std::string_view word) {
    const auto* const found = std::ranges::find(objective_rules, word, &ObjectiveRule::name);
    if (found == objective_rules.end()) return std::nullopt;
    return found->objective;
}

std::string objective_words() {
    std::string words;
    for (const ObjectiveRule& rule : objective_rules) words += (words.empty() ? "" : ", ") + std::string(rule.name);
    return words;
}

SampleCost sample_cost(const Candidate& candidate) {
    return {candidate.time.value.value() / candidate.samples, candidate.energy.value.value() / candidate.samples,
            candidate.device_per_hour};
}

double per_sample(const Candidate& candidate, Objective objective, const Prices& prices) {
    return rule(objective).per_sample(sample_cost(candidate), prices);
}

std::optional<std::string> missing_prices(Objective objective, const Prices& prices, bool device_prices) {
    if (objective == Objective::carbon && std::isnan(prices.carbon_g_per_kwh))
        return "carbon needs grams of CO2 per kWh: --carbon G_PER_KWH";
    if (objective == Objective::price && std::isnan(prices.electricity_per_kwh) && !device_prices)
        return "a price needs --electricity-price PER_KWH, --device-price PER_HOUR, or both";
    return std::nullopt;
}

}  // namespace joulecast
