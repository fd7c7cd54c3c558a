#include "joulecast/forecast/eager_kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "joulecast/forecast/depthwise_convolution.h"
#include "joulecast/forecast/eager_movement.h"
#include "joulecast/forecast/row_kernels.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

// Cycles of a unit.
constexpr double of_gelu = 0.33;
constexpr double of_row = 260, of_row_element = 0.41;
constexpr double of_plane_of_bf16 = 160;
constexpr double of_grouped_element = 1.75;
constexpr double of_divided_element = 1.0;
// Of the clock, whatever the number of units.
constexpr double of_start = 2000, of_planes_latency = 9000, of_reduction_latency = 6500;
constexpr double most_unsorted = 3072, of_unsorted_row = 94, of_sorting = 190000, of_sorted_row = 19;

/// Operands that count: a single element is a constant to the kernel.
std::vector<const TensorType*> streams(const Operation& operation) {
    std::vector<const TensorType*> found;
    for (const TensorType* tensor : tensors(operation))
        if (element_count(*tensor) > 1) found.push_back(tensor);
    return found;
}

/// The divisor is a single number that lies on the device.
bool is_divided_by_one_there(const Operation& operation) {
    const TensorType* const divisor = find_tensor(operation, "other");
    return operation.target == "aten::div.Tensor" && divisor && divisor->sizes.empty();
}

double element_cycles(const Dimensions& size) {
    return cycles_of_element_alone * size.elements_out;
}

double element_wise_cycles(const Operation& operation, const Dimensions& size) {
    if (!is_vectorised(operation)) return element_cycles(size);
    if (is_divided_by_one_there(operation)) return of_divided_element * size.elements_out;
    const bool is_gelu = operation.target == "aten::gelu" && element_bytes(compute_dtype(operation)) == 2;
    return is_gelu ? of_gelu * size.elements_out : 0;
}

double layer_norm_cycles(const Operation& operation, const Dimensions& size) {
    const double rows = size.elements_out / size.reduced;
    const double first_copied = is_contiguous(*tensors(operation).front()) ? 0 : element_cycles(size);
    return first_copied + rows * of_row + size.elements_out * of_row_element;
}

/// Contiguous images have kernels of their own (depthwise_convolution.h).
double depthwise_cycles(const Operation& operation, const Dimensions& size) {
    const bool is_cudnns = is_depthwise(operation) && is_channels_last(*tensors(operation).front());
    return is_cudnns ? cycles_of_tap_of_channels_last * size.kernel_h * size.kernel_w * size.elements_out : 0;
}

/// PyTorch's own kernels of batch norm, which run where cuDNN's do not.
bool is_of_planes(const Operation& operation) {
    return compute_dtype(operation) == Dtype::bf16 && is_contiguous(*tensors(operation).front());
}

/// By a block of threads for each plane.
double plane_cycles(const Dimensions& size) {
    return std::max(element_cycles(size), of_plane_of_bf16 * size.n * size.c);
}

/// Statistics that are given: in bf16, which cuDNN does not take, plane by plane.
double scaling_cycles(const Operation& operation, const Dimensions& size) {
    return is_of_planes(operation) ? plane_cycles(size) : element_cycles(size);
}

/// Gradients of a table's rows: up to 3,072 of them one after the other, more sorted first.
double looked_up_backward_cycles(const Operation& operation) {
    const TensorType* const indices = find_tensor(operation, "indices");
    if (!indices || mode(operation) != Mode::training) return 0;
    const auto count = static_cast<double>(element_count(*indices));
    return count <= most_unsorted ? of_unsorted_row * count : of_sorting + of_sorted_row * count;
}

/// What no unit shares with another, of the clock: before a kernel's first block is done, and rows in turn.
double cycles_in_turn(const PreparedOperation& call, const Device& device) {
    const Operation& operation = call.operation;
    if (call.family() == Family::pooling && !is_mean_of_planes(operation, call.dimensions))
        return interpolation_cycles_in_turn(operation, call.dimensions, device);
    if (operation.target == "aten::embedding") return looked_up_backward_cycles(operation);
    if (call.family() == Family::reduction || is_mean_of_planes(operation, call.dimensions))
        return of_reduction_latency;
    return is_scaling(operation) && is_of_planes(operation) ? of_planes_latency : 0;
}

/// What pooling and sums take was told with it.
bool starts_apart(Family family) {
    return family == Family::elementwise || family == Family::copy || family == Family::normalization;
}

double cycles(const PreparedOperation& call) {
    const Operation& operation = call.operation;
    const Dimensions& size = call.dimensions;
    switch (call.family()) {
        case Family::elementwise:
            return element_wise_cycles(operation, size);
        case Family::convolution:
            return depthwise_cycles(operation, size);
        case Family::normalization:
            if (operation.target == "aten::layer_norm") return layer_norm_cycles(operation, size);
            if (is_scaling(operation)) return scaling_cycles(operation, size);
            return operation.target == "aten::group_norm" ? of_grouped_element * size.elements_out : 0;
        case Family::pooling:
            return pooling_cycles(operation, size);
        case Family::copy:
            return copy_cycles(operation, size);
        case Family::reduction:
            return reduction_cycles(operation, size);
        default:
            return 0;
    }
}

}  // namespace

bool is_vectorised(const Operation& operation) {
    const auto operands = streams(operation);
    return std::ranges::all_of(operands, [&](const TensorType* tensor) {
        const TensorType& first = *operands.front();
        return is_dense(*tensor) && tensor->sizes == first.sizes && tensor->strides == first.strides &&
               tensor->dtype == first.dtype;
    });
}

bool is_scaling(const Operation& operation) {
    return operation.target == "aten::batch_norm" && !takes_batch_statistics(operation);
}

double scaled_planes_s(const Dimensions& size, const Device& device) {
    return seconds_of_cycles(plane_cycles(size), device) + seconds_in_turn(of_planes_latency, device);
}

double share_at_work(const PreparedOperation& call, const Device& device) {
    const Operation& operation = call.operation;
    if (device.vendor != "nvidia" || !(device.units > 0)) return 1;
    if (const auto enlarged = interpolation(operation, call.dimensions))
        return std::min(1.0, enlarged->blocks / device.units);
    if (!is_scaling(operation) || !is_of_planes(operation)) return 1;
    return element_cycles(call.dimensions) / (cycles(call) + cycles_in_turn(call, device) * device.units);
}

double least_eager_kernel_s(const PreparedOperation& call, const Device& device) {
    if (device.vendor != "nvidia") return 0;
    const double for_all = cycles(call);
    const double in_turn = cycles_in_turn(call, device) + (for_all > 0 && starts_apart(call.family()) ? of_start : 0);
    return std::max(seconds_of_cycles(for_all, device) + seconds_in_turn(in_turn, device), row_in_turn_s(call, device));
}

}  // namespace joulecast
