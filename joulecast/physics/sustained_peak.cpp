#include "joulecast/physics/sustained_peak.h"

#include <algorithm>

#include "joulecast/physics/process_node.h"

namespace joulecast {
namespace {

constexpr double wide_unit_lanes = 128;
constexpr double wide_unit_share = 0.85;
constexpr double ampere_year = 2020;

/// The s in (0, 1] with s (0.5 + 0.5 s)^2 = share.
double at_lower_voltage(double share) {
    double low = 0;
    double high = 1;
    for (int step = 0; step < 50; ++step) {
        const double s = (low + high) / 2;
        (s * (0.5 + 0.5 * s) * (0.5 + 0.5 * s) < share ? low : high) = s;
    }
    return high;
}

}  // namespace

double sustained_share(const Device& device, const SustainedRule& rule) {
    if (!(rule.watts_per_tflop > 0) || !(device.tdp_w > 0) || !(device.peak_flop_per_s_fp32 > 0)) return 1;
    const double watts = device.peak_flop_per_s_fp32 / 1e12 * rule.watts_per_tflop * node_power_share(device);
    const double affordable = std::min(1.0, device.tdp_w / watts);
    const double share = is_small_node(device) && affordable < 1 ? at_lower_voltage(affordable) : affordable;
    const bool is_wide = device.fp32_lanes_per_unit >= wide_unit_lanes && device.release_year >= ampere_year;
    return is_wide ? std::min(share, wide_unit_share) : share;
}

Device sustained(const Device& device, const SustainedRule& rule) {
    Device slower = device;
    const double share = sustained_share(device, rule);
    slower.peak_flop_per_s_fp32 *= share;
    slower.vector_flop_per_s_fp32 *= share;
    return slower;
}

}  // namespace joulecast
