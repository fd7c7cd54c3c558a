#include "cli/network_sentence.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <vector>

#include "joulecast/dataset/pace.h"
#include "joulecast/units/statistics.h"

namespace joulecast::cli {
namespace {

/// Errors of time that people call good; pace of a machine that nothing else uses.
constexpr double good_error = 0.1;
constexpr double quiet_pace_range = 1.1;
/// All of so few may lie inside intervals that hold but 80 % more often than once in ten (0.8^10 = 0.107).
constexpr std::size_t too_few_for_intervals = 11;

std::string signed_percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%+.0f %%", 100 * share);
    return text;
}

/// |forecast / measured - 1| on average; NaN without networks, or where one has no forecast.
double mean_error(std::span<const NetworkAccuracy> networks) {
    std::vector<double> errors;
    for (const NetworkAccuracy& network : networks)
        errors.push_back(std::abs(network.predicted_time.value.value() / network.measured_time_s - 1));
    return mean(errors);
}

/// What to make of intervals that `outside` of so many networks fell out of.
std::string intervals_text(std::ptrdiff_t outside, std::size_t networks) {
    if (networks >= too_few_for_intervals) return "Their intervals hold; for smaller errors measure more: ";
    return std::to_string(outside) + " of " + std::to_string(networks) +
           " outside their 90 % intervals: too few networks to tell whether these hold. Measure more: ";
}

}  // namespace

std::string network_sentence(std::span<const NetworkAccuracy> networks, bool held_out) {
    const double error = mean_error(networks);
    if (!std::isfinite(error)) return {};  // none, or one without a forecast
    std::vector<double> low, high;
    for (const NetworkAccuracy& network : networks) {
        const double value = network.predicted_time.value.value();
        low.push_back(network.predicted_time.low.value() / value - 1);
        high.push_back(network.predicted_time.high.value() / value - 1);
    }
    const auto inside = std::ranges::count_if(networks, &NetworkAccuracy::inside_interval);
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, "%.2f", (1 + median(high)) / (1 + median(low)));
    return std::string(held_out ? "Networks that were not in the training" : "These networks") +
           ": mean error of time " + std::to_string(std::lround(100 * error)) + " %; " + std::to_string(inside) +
           " of " + std::to_string(networks.size()) + " inside the 90 % interval (median interval " +
           signed_percent(median(low)) + " to " + signed_percent(median(high)) + ", its ends a factor of " + ratio +
           " apart).\n";
}

std::string verdict(std::span<const NetworkAccuracy> networks, double pace_range) {
    const double error = mean_error(networks);
    if (!std::isfinite(error)) return {};
    const auto outside = std::ranges::count_if(networks, std::logical_not<>(), &NetworkAccuracy::inside_interval);
    // As many outside as 90 % intervals leave out of so many in 19 of 20 cases: more are no chance.
    const bool intervals_hold = binomial_bounds(outside, static_cast<std::int64_t>(networks.size()), 0.9).low <= 0.1;
    const std::string range = std::to_string(std::lround(100 * (pace_range - 1))) + " %";
    std::string text =
        "Verdict: forecasts of time are " + std::to_string(std::lround(100 * error)) + " % off on average; ";
    if (std::isnan(pace_range))
        text += "how steady the machine was is not known. ";
    else if (pace_range <= quiet_pace_range)
        text += "nothing disturbed the machine while it was measured (its pace kept within " + range + "). ";
    else
        text += "the machine's pace ranged over " + range +
                " while it was measured: something else ran, or heat slowed it. ";
    if (pace_range > steady_pace_range)
        return text + "Measure again while nothing else runs; joulecast doctor says what disturbs.\n";
    if (error <= good_error && intervals_hold) return text + "They can be used as they are.\n";
    return text +
           (intervals_hold ? intervals_text(outside, networks.size())
                           : "Trust neither them nor their intervals yet, and measure more: ") +
           "joulecast profile with a larger --budget, then train.\n";
}

}  // namespace joulecast::cli
