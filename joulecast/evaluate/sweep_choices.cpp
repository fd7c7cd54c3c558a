#include "joulecast/evaluate/sweep_choices.h"

#include <cstddef>
#include <string>
#include <utility>

namespace joulecast {
namespace {

constexpr double rule_share = 0.68;
constexpr std::size_t least_options = 3;

/// The rows of a sweep that may be chosen: at the memory clock of the reference, with a known energy.
std::vector<std::size_t> choosable_rows(const ClockSweep& sweep) {
    const SweptRow& reference = sweep.rows[reference_row(sweep)];
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < sweep.rows.size(); ++i) {
        const SweptRow& row = sweep.rows[i];
        if (is_same_memory_clock(row, reference) && row.power_w > 0) rows.push_back(i);
    }
    if (rows.size() < least_options) rows.clear();
    return rows;
}

double clock_share_of(const ClockSweep& sweep, const SweptRow& row) {
    const SweptRow& reference = sweep.rows[reference_row(sweep)];
    return is_limit_sweep(sweep) ? row.asked.power_limit_w / reference.asked.power_limit_w
                                 : row.asked.sm_clock_mhz / reference.asked.sm_clock_mhz;
}

std::vector<ClockOption> measured_options(const ClockSweep& sweep) {
    std::vector<ClockOption> options;
    for (const std::size_t i : choosable_rows(sweep)) {
        const SweptRow& row = sweep.rows[i];
        options.push_back({clock_share_of(sweep, row), row.time_s, row.time_s * row.power_w});
    }
    return options;
}

}  // namespace

double floor_share(const ClockSweep& sweep, const ClockParameters& parameters) {
    if (is_limit_sweep(sweep)) return 0;
    const double slack = 0.5 * parameters.step_mhz;
    return (lowest_chosen_mhz(parameters) - slack) / sweep.rows[reference_row(sweep)].asked.sm_clock_mhz;
}

void choose_by_forecasts(const ClockSweep& sweep, const std::vector<ClockForecast>& forecasts, double floor,
                         std::vector<ClockChoice>& choices) {
    const auto measured = measured_options(sweep);
    if (measured.empty()) return;
    std::vector<ClockOption> forecast = measured;
    const auto rows = choosable_rows(sweep);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        forecast[i].time_s = forecasts[rows[i]].time.value.value();
        forecast[i].energy_j = forecasts[rows[i]].energy.value.value();
    }
    for (const ClockObjective objective : all_clock_objectives()) {
        const std::size_t chosen = best_option(forecast, objective, floor);
        choices.push_back({forecasts.front().model, objective, sweep.workload(), regret_of(measured, chosen, objective),
                           is_over_limit(measured, chosen, objective)});
    }
}

void choose_by_rules(const ClockSweep& sweep, std::span<const ClockSweep* const> others,
                     std::vector<ClockChoice>& choices) {
    const auto measured = measured_options(sweep);
    if (measured.empty()) return;
    std::vector<std::vector<ClockOption>> known;
    for (const ClockSweep* other : others) {
        if (is_limit_sweep(*other) != is_limit_sweep(sweep)) continue;
        auto options = measured_options(*other);
        if (!options.empty()) known.push_back(std::move(options));
    }
    for (const ClockObjective objective : all_clock_objectives()) {
        const auto choose = [&](const std::string& rule, double share) {
            const std::size_t chosen = nearest_option(measured, share);
            choices.push_back({rule, objective, sweep.workload(), regret_of(measured, chosen, objective),
                               is_over_limit(measured, chosen, objective)});
        };
        choose("maximum clock", 1);
        if (!known.empty()) choose("best constant clock", best_constant_share(known, objective));
        choose("68 % of maximum", rule_share);
    }
}

}  // namespace joulecast
