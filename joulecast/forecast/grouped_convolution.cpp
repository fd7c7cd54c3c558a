#include "joulecast/forecast/grouped_convolution.h"

#include <algorithm>
#include <cmath>

#include "joulecast/forecast/channels_last_convolution.h"
#include "joulecast/forecast/kernel_bounds.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

constexpr double cycles_of_byte = 0.7;
constexpr double share_of_peak = 0.8, share_of_float32_peak = 0.5;
// Channels that a tile of the tensor cores takes of a group.
constexpr double least_of_tile = 16, tile = 32;
// Of other channels of a group than 4, 8, 16, 32 or another power of two, where they lie last: RegNetX, RegNetY, DPN
// and Visformer of timm, eager on an RTX 3090 and 4090, over what the compiled ones were told by.
constexpr double eager_over_compiled = 1.6;
// Of groups of two channels where they lie last: the fewest that cuDNN has a kernel for are four.
constexpr double slowdown_of_pairs = 3.5;
// Forward passes that the gradient of the weight takes.
constexpr double passes_of_weight = 2;

double channels_multiplied(double of_group) {
    return of_group <= least_of_tile ? least_of_tile : tile * std::ceil(of_group / tile);
}

/// Tiles are whole, whatever a group has.
double arithmetic_s(const PreparedOperation& convolution, const Device& device) {
    const Dimensions& size = convolution.dimensions;
    const double peak = peak_flop_per_s(device, compute_dtype(convolution.operation), convolution.math);
    const auto flop = static_cast<double>(size.forward.flop);
    if (!is_for_matrix_units(convolution)) return flop / (share_of_float32_peak * peak);
    const double in = size.c / size.groups, out = size.k / size.groups;
    const double filled = in / channels_multiplied(in) * (out / channels_multiplied(out));
    return flop / (share_of_peak * filled * peak);
}

/// 0 but where cuDNN has no kernel for so many channels of a group as they lie.
double odd_groups_s(const PreparedOperation& convolution, const Device& device) {
    if (!is_for_matrix_units(convolution)) return 0;
    const double factor = has_odd_groups(convolution.operation) ? eager_over_compiled : 1;
    return factor * channels_last_convolution_s(convolution, device);
}

}  // namespace

bool runs_grouped_kernel(const PreparedOperation& convolution, const Device& device) {
    const Dimensions& size = convolution.dimensions;
    if (device.vendor != "nvidia" || !(device.units > 0) || convolution.family() != Family::convolution) return false;
    return size.rank == 4 && size.groups > 1 && !is_depthwise(convolution.operation);
}

double grouped_forward_s(const PreparedOperation& convolution, const Device& device) {
    const Dimensions& size = convolution.dimensions;
    const double cycles = seconds_of_cycles(cycles_of_byte * size.output_bytes, device);
    const auto bytes = static_cast<double>(size.forward.bytes_read + size.forward.bytes_written);
    const double moving = bytes / streamed_bytes_per_s(device);
    const double kernel = std::max({cycles, arithmetic_s(convolution, device), moving});
    if (is_channels_last(*tensors(convolution.operation).front())) {
        const double fitting = size.c == 2 * size.groups ? slowdown_of_pairs * kernel : kernel;
        return 2 * device.kernel_latency_s + std::max(fitting, odd_groups_s(convolution, device));
    }
    constexpr double turning = 2;  // read and written
    return 4 * device.kernel_latency_s + turning * moving + kernel;
}

double grouped_backward_s(const PreparedOperation& convolution, const Device& device) {
    const auto operands = tensors(convolution.operation);
    const double of_input = operands[0]->requires_grad ? 1 : 0;
    const double of_weight = operands[1]->requires_grad ? passes_of_weight : 0;
    return (of_input + of_weight) * grouped_forward_s(convolution, device);
}

}  // namespace joulecast
