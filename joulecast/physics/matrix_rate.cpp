#include "joulecast/physics/matrix_rate.h"

#include <cmath>

namespace joulecast {
namespace {

/// Between twice and four times the rate of 16 bits.
constexpr double int8_over_half_rate = 3;

/// Stacks of memory beside the chip, where others have chips around it.
constexpr double stacked_memory_bits = 1024;
/// Sheets round rates and clocks.
constexpr double rounding = 0.1;

}  // namespace

double cycles_per_s(const Device& device) {
    const double clock_mhz = device.boost_clock_mhz > 0 ? device.boost_clock_mhz : highest_clock_mhz(device);
    return device.units * clock_mhz * 1e6;
}

double matrix_rate(const Device& device, Dtype dtype, Math math) {
    return peak_flop_per_s(device, dtype, math) / (2 * cycles_per_s(device));
}

bool adds_at_half_rate(const Device& device) {
    return device.peak_op_per_s_int8 > int8_over_half_rate * device.peak_flop_per_s_fp16;
}

bool same_chip(const Device& a, const Device& b) {
    const auto is_stacked = [](const Device& device) { return device.memory_bus_bits >= stacked_memory_bits; };
    if (a.vendor != b.vendor || a.architecture != b.architecture || is_stacked(a) != is_stacked(b)) return false;
    if (adds_at_half_rate(a) != adds_at_half_rate(b)) return false;
    const double rates = matrix_rate(a, Dtype::f16, Math::ieee) / matrix_rate(b, Dtype::f16, Math::ieee);
    return std::abs(std::log(rates)) < rounding;
}

}  // namespace joulecast
