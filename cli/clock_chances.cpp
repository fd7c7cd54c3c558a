#include "cli/clock_chances.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "cli/known.h"
#include "joulecast/recommend/chance.h"
#include "joulecast/recommend/objective.h"
#include "joulecast/report/table.h"
#include "joulecast/units/statistics.h"

namespace joulecast::cli {
namespace {

constexpr std::array sweep_objectives = {Objective::energy, Objective::edp};
constexpr std::size_t least_options = 3;
constexpr double as_good = 1.01;

/// The clocks of one workload that may be chosen, as forecast and as measured.
struct ClockChancesOptions {
    std::vector<Candidate> forecast;
    std::vector<Candidate> measured;
};

Candidate candidate_of(const ClockForecast& forecast, double reference_mhz) {
    Candidate candidate;
    candidate.asked = forecast.row.asked;
    candidate.asked.device = forecast.device;
    candidate.real = candidate.asked;
    candidate.real.sm_clock_mhz = forecast.sm_clock_mhz;
    candidate.time = forecast.time;
    candidate.energy = forecast.energy;
    candidate.power = forecast.power;
    candidate.reference_clock_mhz = reference_mhz;
    candidate.time_spread = forecast.spread.time;
    candidate.energy_spread = forecast.spread.energy;
    return candidate;
}

Candidate measured_candidate(Candidate candidate, const SweptRow& row) {
    const double joules = row.time_s * row.power_w;
    candidate.time = {Seconds(row.time_s), Seconds(row.time_s), Seconds(row.time_s)};
    candidate.energy = {Joules(joules), Joules(joules), Joules(joules)};
    return candidate;
}

/// `forecasts` are of one workload.
ClockChancesOptions options_of(std::span<const ClockForecast* const> forecasts) {
    ClockChancesOptions options;
    const auto reference =
        std::ranges::find_if(forecasts, [](const ClockForecast* forecast) { return forecast->is_reference; });
    if (reference == forecasts.end()) return options;
    for (const ClockForecast* forecast : forecasts) {
        const bool may_be_chosen = forecast->row.asked.sm_clock_mhz >= forecast->lowest_chosen_mhz;
        if (!may_be_chosen || !(forecast->row.power_w > 0)) continue;
        if (!is_same_memory_clock(forecast->row, (*reference)->row)) continue;
        options.forecast.push_back(candidate_of(*forecast, (*reference)->sm_clock_mhz));
        options.measured.push_back(measured_candidate(options.forecast.back(), forecast->row));
    }
    return options;
}

/// Sums over workloads.
struct Tally {
    std::int64_t workloads = 0;
    std::int64_t was_within = 0;
    double said_within = 0;
    double said_excess = 0;
    double was_excess = 0;
};

void add(Tally& tally, const ClockChancesOptions& options, Objective objective) {
    const auto value = [&](const Candidate& candidate) { return per_sample(candidate, objective, {}); };
    std::vector<std::size_t> among(options.forecast.size());
    for (std::size_t i = 0; i < among.size(); ++i) among[i] = i;
    const auto less = [&](std::size_t a, std::size_t b) {
        return value(options.forecast[a]) < value(options.forecast[b]);
    };
    std::ranges::stable_sort(among, less);
    const Chances said = chances(options.forecast, among, objective, {});
    double best = std::numeric_limits<double>::infinity();
    for (const Candidate& candidate : options.measured) best = std::min(best, value(candidate));
    const double excess = value(options.measured[among.front()]) / best;
    ++tally.workloads;
    tally.was_within += excess <= as_good ? 1 : 0;
    tally.said_within += said.within;
    tally.said_excess += said.expected_excess;
    tally.was_excess += excess - 1;
}

ClockChance chance_of(const std::string& device, Objective objective, const Tally& tally) {
    const auto n = static_cast<double>(tally.workloads);
    const ShareBounds share = binomial_bounds(tally.was_within, tally.workloads, 0.95);
    return {device,
            std::string(rule(objective).name),
            tally.workloads,
            tally.said_within / n,
            static_cast<double>(tally.was_within) / n,
            share.low,
            share.high,
            tally.said_excess / n,
            tally.was_excess / n};
}

const std::vector<Column<ClockChance>>& chance_columns() {
    using C = ClockChance;
    static const std::vector<Column<C>> list = {
        {"device", "device", Show::text, [](const C& c) { return c.device; }},
        {"objective", "objective", Show::text, [](const C& c) { return c.objective; }},
        {"workloads", "workloads", Show::count, [](const C& c) { return c.workloads; }},
        {"said_within_1_percent", "said within 1 %", Show::percent, [](const C& c) { return known(c.said_within); }},
        {"was_within_1_percent", "was within 1 %", Show::percent, [](const C& c) { return known(c.was_within); }},
        {"was_within_1_percent_low", "from", Show::percent, [](const C& c) { return known(c.was_within_low); }},
        {"was_within_1_percent_high", "to", Show::percent, [](const C& c) { return known(c.was_within_high); }},
        {"said_excess", "said excess", Show::percent, [](const C& c) { return known(c.said_excess); }},
        {"was_excess", "was excess", Show::percent, [](const C& c) { return known(c.was_excess); }},
    };
    return list;
}

}  // namespace

std::vector<ClockChance> clock_chances(std::span<const ClockForecast> forecasts) {
    std::map<std::pair<std::string, std::string>, std::vector<const ClockForecast*>> workloads;
    for (const ClockForecast& forecast : forecasts) {
        // Of power limits the working phase has the clock that is forecast, not the whole: no chance is told of them.
        const bool is_curve = forecast.model == "joulecast" && forecast.row.asked.sm_clock_mhz > 0;
        if (is_curve) workloads[{forecast.device, forecast.workload}].push_back(&forecast);
    }
    std::map<std::pair<std::string, std::size_t>, Tally> tallies;
    for (const auto& [name, of_workload] : workloads) {
        const ClockChancesOptions options = options_of(of_workload);
        if (options.forecast.size() < least_options) continue;
        for (std::size_t i = 0; i < sweep_objectives.size(); ++i)
            add(tallies[{name.first, i}], options, sweep_objectives[i]);
    }
    std::vector<ClockChance> chances;
    for (const auto& [name, tally] : tallies)
        chances.push_back(chance_of(name.first, sweep_objectives[name.second], tally));
    return chances;
}

std::string clock_chances_text(std::span<const ClockChance> chances) {
    return to_text(fill(chance_columns(), chances));
}

Table clock_chances_table(std::span<const ClockChance> chances) {
    return fill(chance_columns(), chances);
}

}  // namespace joulecast::cli
