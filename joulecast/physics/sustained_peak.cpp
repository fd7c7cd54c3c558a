#include "joulecast/physics/sustained_peak.h"

#include <algorithm>

#include "joulecast/physics/matrix_rate.h"
#include "joulecast/physics/process_node.h"
#include "joulecast/physics/stacked_memory.h"

namespace joulecast {
namespace {

constexpr double wide_unit_lanes = 128;
constexpr double wide_unit_share = 0.85;
constexpr double ampere_year = 2020;
constexpr double volta_year = 2017;

constexpr double older_memory_share = 0.75;
constexpr double stacked_memory_share = 0.87;
constexpr double other_memory_share = 0.84;
constexpr double graphics_memory_share = 0.93;

constexpr double cycles_of_kernel = 3400;

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

double sustained_bandwidth_share(const Device& device, const SustainedRule& rule) {
    if (!rule.by_memory) return 1;
    if (device.release_year < volta_year) return older_memory_share;
    if (has_stacked_memory(device)) return stacked_memory_share;
    if (device.release_year < ampere_year) return older_memory_share;
    return adds_at_half_rate(device) ? graphics_memory_share : other_memory_share;
}

double latency_s(const Device& device, const SustainedRule& rule) {
    const double clock_mhz = highest_clock_mhz(device);
    return rule.by_clock && clock_mhz > 0 ? cycles_of_kernel / (clock_mhz * 1e6) : device.kernel_latency_s;
}

Device sustained(const Device& device, const SustainedRule& rule) {
    Device slower = device;
    slower.sustained_bandwidth_share = sustained_bandwidth_share(device, rule);
    slower.kernel_latency_s = latency_s(device, rule);
    const double share = sustained_share(device, rule);
    slower.sustained_fp32_share = share;
    slower.peak_flop_per_s_fp32 *= share;
    slower.vector_flop_per_s_fp32 *= share;
    return slower;
}

}  // namespace joulecast
