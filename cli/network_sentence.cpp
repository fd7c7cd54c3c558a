#include "cli/network_sentence.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "joulecast/units/statistics.h"

namespace joulecast::cli {
namespace {

std::string signed_percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%+.0f %%", 100 * share);
    return text;
}

}  // namespace

std::string network_sentence(std::span<const NetworkAccuracy> networks, bool held_out) {
    std::vector<double> errors, low, high;
    for (const NetworkAccuracy& network : networks) {
        const double value = network.predicted_time.value.value();
        errors.push_back(std::abs(value / network.measured_time_s - 1));
        low.push_back(network.predicted_time.low.value() / value - 1);
        high.push_back(network.predicted_time.high.value() / value - 1);
    }
    const double error = mean(errors);
    if (!std::isfinite(error)) return {};  // none, or one without a forecast
    const auto inside = std::ranges::count_if(networks, &NetworkAccuracy::inside_interval);
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, "%.2f", (1 + median(high)) / (1 + median(low)));
    return std::string(held_out ? "Networks that were not in the training" : "These networks") +
           ": mean error of time " + std::to_string(std::lround(100 * error)) + " %; " + std::to_string(inside) +
           " of " + std::to_string(networks.size()) + " inside the 90 % interval (median interval " +
           signed_percent(median(low)) + " to " + signed_percent(median(high)) + ", its ends a factor of " + ratio +
           " apart).\n";
}

}  // namespace joulecast::cli
