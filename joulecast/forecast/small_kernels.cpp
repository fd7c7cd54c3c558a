#include "joulecast/forecast/small_kernels.h"

#include <cmath>
#include <limits>

#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();

/// Of a kernel whose bytes take longer than that, beside its block, experts know more.
constexpr double most_moving = 4;

/// Images of one place, seen through kernels of one place.
bool is_of_one_place(const PreparedOperation& call) {
    const Dimensions& size = call.dimensions;
    return call.family() == Family::convolution && size.groups == 1 && size.kernel_h * size.kernel_w == 1 &&
           size.oh * size.ow == 1 && size.h * size.w == 1;
}

}  // namespace

double most_small_kernel_s(const PreparedOperation& call, const Device& device) {
    if (device.vendor != "nvidia" || mode(call.operation) == Mode::training) return none;
    const Dimensions& size = call.dimensions;
    double cycles = none;
    if (is_of_one_place(call)) cycles = 8500 + 18 * size.c + 6 * size.k;
    if (call.family() == Family::elementwise && is_vectorised(call.operation))
        cycles = 2400 + 1600 * (1 - std::exp(-size.elements_out / 20000));
    const double in_turn = seconds_in_turn(cycles, device);
    const auto bytes = static_cast<double>(size.forward.bytes_read + size.forward.bytes_written);
    const double moving = bytes / streamed_bytes_per_s(device);
    return in_turn > 0 && moving <= most_moving * in_turn ? in_turn + moving : none;
}

}  // namespace joulecast
