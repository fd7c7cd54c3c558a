#include "joulecast/forecast/depthwise_convolution.h"

#include <algorithm>
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

constexpr double warp = 32;
constexpr double passes_of_channels_last = 1.25;
constexpr double most_indexed = 2147483647, slowdown_beyond_indices = 10;

double taps(const Dimensions& size) {
    return size.kernel_h * size.kernel_w;
}

/// Elements of the input.
double images(const Dimensions& size) {
    return size.n * size.c * size.h * size.w;
}

double largest_tensor(const Dimensions& size) {
    return std::max(images(size), size.elements_out);
}

/// 1 x 1, 3 x 3 and 5 x 5 windows have kernels compiled for them.
bool has_window_of_its_own(const Dimensions& size) {
    return size.kernel_h == size.kernel_w && (size.kernel_h == 1 || size.kernel_h == 3 || size.kernel_h == 5);
}

/// Contiguous images that PyTorch gives to cuDNN all the same: use_cudnn_depthwise and
/// check_cudnn_depthwise_workload_with_filter in aten/src/ATen/native/Convolution.cpp.
bool runs_by_cudnn(const PreparedOperation& convolution) {
    constexpr double least_channels = 32, least_width = 7, many_channels = 512;
    constexpr double channels_of_wide_images = 256, wide = 28;
    const Dimensions& size = convolution.dimensions;
    if (compute_dtype(convolution.operation) != Dtype::f16 || !has_window_of_its_own(size)) return false;
    if (size.c < least_channels || size.w < least_width || size.stride > 2 || size.dilation != 1) return false;
    if (size.stride == 1) return true;
    // Of windows of one place with a stride too few are given to it to matter.
    if (size.kernel_w == 1) return false;
    return size.n == 1 || size.c >= many_channels || (size.c >= channels_of_wide_images && size.w >= wide);
}

/// Of input and weight.
int gradients_wanted(const PreparedOperation& convolution) {
    const auto operands = tensors(convolution.operation);
    return (operands[0]->requires_grad ? 1 : 0) + (operands[1]->requires_grad ? 1 : 0);
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

std::optional<BeyondIndices> beyond_indices(std::span<const OperationForecast> operations, const Device& device) {
    if (device.vendor != "nvidia") return std::nullopt;
    std::optional<BeyondIndices> farthest;
    for (const OperationForecast& forecast : operations) {
        const Operation& call = forecast.operation;
        if (!is_depthwise(call) || !is_channels_last(*tensors(call).front())) continue;
        const Dimensions size = dimensions(call);
        const double elements = largest_tensor(size);
        if (elements > most_indexed && (!farthest || elements > farthest->elements))
            farthest = {elements, std::floor(size.n * most_indexed / elements)};
    }
    return farthest;
}

double channels_last_depthwise_s(const Dimensions& size, const Device& device) {
    constexpr double most_taps = 49;
    const double of_tap = taps(size) > most_taps ? cycles_of_tap_of_wide_window : cycles_of_tap_of_channels_last;
    const double cycles = of_tap * size.elements_out * taps(size);
    const double slowdown = largest_tensor(size) > most_indexed ? slowdown_beyond_indices : 1;
    return slowdown * std::hypot(passes_of_channels_last * moving_s(size, device), cycles / cycles_per_s(device));
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

double depthwise_backward_with_channels_last_s(const PreparedOperation& convolution, const Device& device) {
    return gradients_wanted(convolution) *
           std::max(depthwise_forward_s(convolution, device), depthwise_with_channels_last_s(convolution, device));
}

double depthwise_backward_s(const PreparedOperation& convolution, const Device& device) {
    const Dimensions& size = convolution.dimensions;
    const auto operands = tensors(convolution.operation);
    if (runs_by_cudnn(convolution)) return gradients_wanted(convolution) * depthwise_forward_s(convolution, device);
    double seconds = 0;
    if (operands[0]->requires_grad) {
        const double cycles = images(size) * (backward_element + backward_tap * taps(size));
        seconds += together(cycles / cycles_per_s(device), moving_s(size, device)) + device.kernel_latency_s;
    }
    if (operands[1]->requires_grad) {
        const double steps = std::ceil(size.oh * size.ow / warp);
        const double cycles = size.n * size.k * taps(size) * (steps * weight_step + weight_image);
        seconds += together(cycles / cycles_per_s(device), moving_s(size, device)) + device.kernel_latency_s;
    }
    return seconds;
}

}  // namespace joulecast
