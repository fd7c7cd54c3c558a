#include "joulecast/predict/compose.h"

#include <algorithm>
#include <cmath>

#include "joulecast/graph/family.h"
#include "joulecast/physics/law.h"
#include "joulecast/units/normal.h"

namespace joulecast {
namespace {

/// A network that keeps the device busy draws what the cap allows, less what the cap's control loop leaves.
constexpr double share_of_cap = 0.995;
constexpr double least_share_left = 0.1;  // of a timeline, whatever a quicker host saves

double timeline(double own, double added) {
    return std::max(least_share_left * own, own + added);
}

}  // namespace

double spread_90(double sigma) {
    return std::exp(normal_90 * sigma);
}

template <class Unit>
double log_sigma(const Estimate<Unit>& estimate) {
    const double value = estimate.value.value();
    if (!(value > 0)) return 0;
    const double up = std::log(estimate.high.value() / value);
    const double down = estimate.low.value() > 0 ? std::log(value / estimate.low.value()) : up;
    return std::max(0.0, (up + down) / 2 / normal_90);
}
template double log_sigma(const Estimate<Seconds>& estimate);
template double log_sigma(const Estimate<Watts>& estimate);
template double log_sigma(const Estimate<Joules>& estimate);

NetworkParts parts_of(std::span<const OperationForecast> operations) {
    NetworkParts parts;
    double time = 0;
    double time_variance = 0;
    double energy_variance = 0;
    double power_variance = 0;
    for (const OperationForecast& operation : operations) {
        const auto count = static_cast<double>(operation.count);
        const Family kind = family(operation.operation);
        if (kind != Family::symbolic) parts.calls += count;
        if (!costs_nothing(kind)) parts.kernels += count;
        const double call = operation.cost.device_time.value.value();
        const bool is_apart = !std::isnan(operation.kernel_s);
        const double issue = operation.cost.host_time.value.value();
        const double host = is_apart ? issue : std::min(call, issue);
        parts.host_s += count * host;
        parts.device_s += count * (is_apart ? operation.kernel_s : beyond_floor(call, host));
        time += count * call;
        const double deviation = count * call * log_sigma(operation.cost.device_time);
        time_variance += deviation * deviation;
        const double joules = count * operation.cost.dynamic_energy.value.value();
        parts.dynamic_j += joules;
        const double joules_off = joules * log_sigma(operation.cost.dynamic_energy);
        energy_variance += joules_off * joules_off;
        const double watts_off = joules * log_sigma(operation.power);
        power_variance += watts_off * watts_off;
    }
    if (time > 0) parts.sigma_time = std::sqrt(time_variance) / time;
    if (parts.dynamic_j > 0) {
        parts.sigma_energy = std::sqrt(energy_variance) / parts.dynamic_j;
        parts.sigma_power = std::sqrt(power_variance) / parts.dynamic_j;
    }
    return parts;
}

double host_seconds(const NetworkParts& parts, const NetworkCorrection& correction) {
    return timeline(correction.host_factor * parts.host_s, parts.added_host_s);
}

double device_seconds(const NetworkParts& parts, const NetworkCorrection& correction) {
    return timeline(correction.factor * parts.device_s, parts.added_device_s);
}

double composed_seconds(const NetworkParts& parts, const NetworkCorrection& correction) {
    return overlapped(host_seconds(parts, correction), device_seconds(parts, correction));
}

double share_of_added(const NetworkParts& parts, const NetworkCorrection& correction) {
    const double whole = composed_seconds(parts, correction);
    if (!(whole > 0)) return 0;
    // T^8 = H^8 + D^8, so dT/dH = (H / T)^7.
    const auto part = [&](double line, double added) { return std::pow(line / whole, 7) * added / whole; };
    return std::abs(part(host_seconds(parts, correction), parts.added_host_s) +
                    part(device_seconds(parts, correction), parts.added_device_s));
}

double composed_joules(const NetworkParts& parts, const NetworkCorrection& correction, const PowerFacts& power,
                       double seconds) {
    const double idle = power.idle_w * seconds;
    const double whole = idle + correction.energy_factor * parts.dynamic_j + parts.added_j;
    if (std::isnan(power.cap_w) || std::isnan(whole)) return whole;
    return std::min(whole, std::max(idle, share_of_cap * power.cap_w * seconds));
}

bool is_at_cap(double joules, const PowerFacts& power, double seconds) {
    return joules >= share_of_cap * power.cap_w * seconds;
}

}  // namespace joulecast
