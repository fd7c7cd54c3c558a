#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

/// Between twice and four times the rate of 16 bits.
constexpr double int8_over_half_rate = 3;

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

}  // namespace joulecast
