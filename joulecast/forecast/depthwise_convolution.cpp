#include "joulecast/forecast/depthwise_convolution.h"

#include <cmath>

#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

// Cycles of a unit; docs/decisions/0030 says where they are from.
constexpr double forward_element = 1.3;
constexpr double forward_tap = 0.1, forward_tap_of_any_window = 0.144;
constexpr double backward_element = 2.6, backward_tap = 0.32;
constexpr double weight_step = 9.2, weight_image = 30;
/// What cuDNN takes of that for both gradients in float16: chosen on training of MobileNets, MNASNet and EfficientNet
/// with contiguous images on an RTX 3090 (timm, Apache-2.0). Forward it takes as long.
constexpr double cudnn_backward_share = 0.6;
constexpr double least_cudnn_channels = 32;

constexpr double warp = 32;
constexpr double passes_of_channels_last = 1.25;

double taps(const Dimensions& size) {
    return size.kernel_h * size.kernel_w;
}

/// 1 x 1, 3 x 3 and 5 x 5 windows have kernels compiled for them.
bool has_window_of_its_own(const Dimensions& size) {
    return size.kernel_h == size.kernel_w && (size.kernel_h == 1 || size.kernel_h == 3 || size.kernel_h == 5);
}

/// Contiguous images that PyTorch gives to cuDNN all the same (use_cudnn_depthwise in ATen/native/Convolution.cpp).
bool backward_by_cudnn(const PreparedOperation& convolution) {
    const Dimensions& size = convolution.dimensions;
    return compute_dtype(convolution.operation) == Dtype::f16 && size.c >= least_cudnn_channels &&
           has_window_of_its_own(size);
}

/// Computing and moving overlap, though not wholly.
double together(double computing_s, double moving_s) {
    return std::cbrt(std::pow(computing_s, 3) + std::pow(moving_s, 3));
}

/// Of what the forward pass reads and writes; each gradient reads and writes as much.
double moving_s(const Dimensions& size, const Device& device) {
    return (static_cast<double>(size.forward.bytes_read) + static_cast<double>(size.forward.bytes_written)) /
           streamed_bytes_per_s(device);
}

/// In two dimensions, with a channel for each group.
bool is_depthwise_image(const PreparedOperation& convolution, const Device& device) {
    const Dimensions& size = convolution.dimensions;
    if (device.vendor != "nvidia" || !(device.units > 0) || !is_depthwise(convolution.operation)) return false;
    return size.rank == 4 && taps(size) > 0 && size.oh * size.ow > 0;
}

}  // namespace

bool runs_depthwise_kernel(const PreparedOperation& convolution, const Device& device) {
    return is_depthwise_image(convolution, device) && !is_channels_last(*tensors(convolution.operation).front());
}

bool runs_depthwise_with_channels_last(const PreparedOperation& convolution, const Device& device) {
    return is_depthwise_image(convolution, device) && is_channels_last(*tensors(convolution.operation).front());
}

double channels_last_depthwise_s(const Dimensions& size, const Device& device) {
    constexpr double most_taps = 49;
    const double of_tap = taps(size) > most_taps ? cycles_of_tap_of_wide_window : cycles_of_tap_of_channels_last;
    const double cycles = of_tap * size.elements_out * taps(size);
    return std::hypot(passes_of_channels_last * moving_s(size, device), cycles / cycles_per_s(device));
}

double depthwise_with_channels_last_s(const PreparedOperation& convolution, const Device& device) {
    return channels_last_depthwise_s(convolution.dimensions, device) + device.kernel_latency_s;
}

double depthwise_forward_s(const PreparedOperation& convolution, const Device& device) {
    const Dimensions& size = convolution.dimensions;
    const double tap = has_window_of_its_own(size) ? forward_tap : forward_tap_of_any_window;
    const double cycles = size.elements_out * (forward_element + tap * taps(size));
    return together(cycles / cycles_per_s(device), moving_s(size, device)) + device.kernel_latency_s;
}

double depthwise_backward_s(const PreparedOperation& convolution, const Device& device) {
    const Dimensions& size = convolution.dimensions;
    const auto operands = tensors(convolution.operation);
    double seconds = 0;
    if (operands[0]->requires_grad) {
        const double cycles = size.n * size.c * size.h * size.w * (backward_element + backward_tap * taps(size));
        seconds += together(cycles / cycles_per_s(device), moving_s(size, device)) + device.kernel_latency_s;
    }
    if (operands[1]->requires_grad) {
        const double steps = std::ceil(size.oh * size.ow / warp);
        const double cycles = size.n * size.k * taps(size) * (steps * weight_step + weight_image);
        seconds += together(cycles / cycles_per_s(device), moving_s(size, device)) + device.kernel_latency_s;
    }
    return backward_by_cudnn(convolution) ? cudnn_backward_share * seconds : seconds;
}

}  // namespace joulecast
