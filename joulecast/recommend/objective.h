#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "joulecast/recommend/candidate.h"

namespace joulecast {

/// What energy and devices cost. NaN: not given.
struct Prices {
    double electricity_per_kwh = std::numeric_limits<double>::quiet_NaN();
    double carbon_g_per_kwh = std::numeric_limits<double>::quiet_NaN();
};

/// What may be minimised, each per sample: energy, time, energy * time, energy * time^2, price, carbon.
enum class Objective { energy, time, edp, ed2p, price, carbon };

/// Per sample: seconds, joules (NaN: not known) and the price of the device for an hour (NaN: not given).
struct SampleCost {
    double time_s = 0;
    double energy_j = 0;
    double device_per_hour = std::numeric_limits<double>::quiet_NaN();
};

/// An objective is one line of this table.
struct ObjectiveRule {
    Objective objective;
    std::string_view name;  ///< the word of --minimise, and its key
    std::string_view unit;  ///< of a sample; of price the currency of the prices given
    std::string_view noun;  ///< "energy-delay product": for sentences
    /// NaN where something that it needs is not known.
    double (*per_sample)(const SampleCost& cost, const Prices& prices);
};

std::span<const ObjectiveRule> objectives();
const ObjectiveRule& rule(Objective objective);
/// By its word; absent for another.
std::optional<Objective> parse_objective(std::string_view word);
/// "energy, time, ...", for messages and help.
std::string objective_words();

inline constexpr double joules_per_kwh = 3.6e6;
inline constexpr double seconds_per_hour = 3600;

/// Of a sample of the candidate, and the objective's value of it.
SampleCost sample_cost(const Candidate& candidate);
double per_sample(const Candidate& candidate, Objective objective, const Prices& prices);

/// Why the objective cannot be had of these candidates whatever they cost: prices that are missing. Absent: it can.
std::optional<std::string> missing_prices(Objective objective, const Prices& prices, bool device_prices);

}  // namespace joulecast
