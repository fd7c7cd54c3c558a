#include "joulecast/physics/matrix_rate.h"

#include <cmath>

#include "joulecast/physics/stacked_memory.h"

namespace joulecast {
namespace {

/// Between twice and four times the rate of 16 bits.
constexpr double int8_over_half_rate = 3;

/// Sheets round rates and clocks.
constexpr double rounding = 0.1;

}  // namespace

double cycles_per_s(const Device& device) {
    const double clock_mhz = device.boost_clock_mhz > 0 ? device.boost_clock_mhz : highest_clock_mhz(device);
    return device.units * clock_mhz * 1e6;
}

double seconds_of_cycles(double cycles, const Device& device) {
    const double seconds = cycles / cycles_per_s(device);
    return std::isfinite(seconds) ? seconds : 0;
}

double seconds_in_turn(double cycles, const Device& device) {
    return seconds_of_cycles(cycles * device.units, device);
}

double matrix_rate(const Device& device, Dtype dtype, Math math) {
    return peak_flop_per_s(device, dtype, math) / (2 * cycles_per_s(device));
}

bool adds_at_half_rate(const Device& device) {
    return device.peak_op_per_s_int8 > int8_over_half_rate * device.peak_flop_per_s_fp16;
}

bool same_chip(const Device& a, const Device& b) {
    if (a.vendor != b.vendor || a.architecture != b.architecture) return false;
    if (has_stacked_memory(a) != has_stacked_memory(b) || adds_at_half_rate(a) != adds_at_half_rate(b)) return false;
    const double rates = matrix_rate(a, Dtype::f16, Math::ieee) / matrix_rate(b, Dtype::f16, Math::ieee);
    return std::abs(std::log(rates)) < rounding;
}

}  // namespace joulecast
