#include "joulecast/profile/first_pass.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "joulecast/profile/checked_answer.h"
#include "joulecast/units/bounded_json.h"

namespace joulecast {
namespace {

/// With less a median of blocks says little; with more the second pass knows better where to spend it.
constexpr double shortest_s = 0.03;
constexpr double longest_s = 0.05;
/// One process has to warm up once; operations need caches and allocator ready, which takes a few calls.
constexpr double warm_up_share = 0.25;
/// Drawing tensors, the checked call and the pass for memory: 0.03 to 0.06 s on two cores of an EPYC.
constexpr double beside_timing_s = 0.05;
/// A graph is captured as well, and the card is waited for: 788 operations in 157 s on an H200.
constexpr double beside_timing_on_gpu_s = 0.14;
/// The recipe as it is: warm-up and timing, rotating and hot.
constexpr double whole_recipe_s = 0.5;
/// Of a network, ten times this is timed.
constexpr double shortest_network_s = 0.1;
/// The power of an operation, where it was not measured, is forecast to about this share.
constexpr double doubt_of_power = 0.3;

}  // namespace

std::optional<double> first_pass_s(double seconds_each) {
    if (seconds_each >= whole_recipe_s) return {};
    return std::clamp(seconds_each / 4, shortest_s, longest_s);
}

double first_pass_cost_s(double time_s, Device::Kind kind) {
    const double beside_s = kind == Device::Kind::gpu ? beside_timing_on_gpu_s : beside_timing_s;
    return (1 + warm_up_share) * time_s + beside_s;
}

MeasureSettings first_pass_settings(MeasureSettings settings, double time_s) {
    settings.time_budget_s = std::min(settings.time_budget_s, time_s);
    settings.warm_up_s = std::min(settings.warm_up_s, warm_up_share * time_s);
    settings.min_block_s = std::min(settings.min_block_s, 0.5e-3);  // else there are too few to judge
    settings.measure_hot = settings.measure_energy = false;
    return settings;
}

MeasureSettings network_settings(MeasureSettings settings) {
    settings.time_budget_s = std::max(settings.time_budget_s, shortest_network_s);
    return settings;
}

bool is_rough(const Measurement& measurement, bool energy_wanted) {
    return is_timed(measurement.outcome) &&
           (!measurement.time.converged || (energy_wanted && !measurement.energy.has_value()));
}

bool is_of_first_pass(const Provenance& provenance) {
    const auto settings = parse_bounded_or_null(provenance.settings, limits_of_settings);
    if (!settings.is_object()) return false;
    const auto timed = settings.find("time_budget_s");
    return timed != settings.end() && timed->is_number() && timed->get<double>() < MeasureSettings{}.time_budget_s;
}

double error_s(const Measurement& measurement, bool energy_wanted) {
    const double time_s = measurement.time.mean_s;
    const double half_width_s = measurement.time.half_width_s;
    const double of_energy_s = energy_wanted && !measurement.energy ? doubt_of_power * time_s : 0;
    return (std::isfinite(half_width_s) ? half_width_s : time_s) + of_energy_s;
}

}  // namespace joulecast
