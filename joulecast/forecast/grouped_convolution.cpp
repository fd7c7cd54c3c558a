#include "joulecast/forecast/grouped_convolution.h"

#include <algorithm>

#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

constexpr double cycles_of_byte = 1.05;
constexpr double share_of_peak = 0.5;

}  // namespace

bool runs_grouped_kernel(const PreparedOperation& convolution, const Device& device) {
    const Dimensions& size = convolution.dimensions;
    if (device.vendor != "nvidia" || !(device.units > 0) || convolution.family() != Family::convolution) return false;
    return size.rank == 4 && size.groups > 1 && !is_depthwise(convolution.operation);
}

double grouped_forward_s(const PreparedOperation& convolution, const Device& device) {
    const Dimensions& size = convolution.dimensions;
    const bool is_turned = !is_channels_last(*tensors(convolution.operation).front());
    const double passes = is_turned ? 2 : 1;
    const double cycles = seconds_of_cycles(passes / 2 * cycles_of_byte * size.output_bytes, device);
    const double peak = peak_flop_per_s(device, compute_dtype(convolution.operation), convolution.math);
    const double arithmetic = static_cast<double>(size.forward.flop) / (share_of_peak * peak);
    const double bytes = static_cast<double>(size.forward.bytes_read + size.forward.bytes_written);
    const double moving = passes * bytes / device.bandwidth_bytes_per_s;
    return 2 * passes * device.kernel_latency_s + std::max({cycles, arithmetic, moving});
}

}  // namespace joulecast
