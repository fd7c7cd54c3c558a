#include "joulecast/forecast/eager_kernels.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

// Cycles of a unit.
constexpr double of_gelu = 0.33;
constexpr double of_row = 260, of_row_element = 0.41;
constexpr double of_tap = 0.053;
constexpr double of_plane_of_bf16 = 160;
constexpr double of_pooled = 9 / 4.2, of_pooled_place = 1 / 4.2, of_input_gradient = 3.1;
constexpr double of_mean_of_plane = 40, of_place_of_mean = 0.35;
constexpr double of_joined_element = 1.1;

/// Operands that count: a single element is a constant to the kernel.
std::vector<const TensorType*> streams(const Operation& operation) {
    std::vector<const TensorType*> found;
    for (const TensorType* tensor : tensors(operation))
        if (element_count(*tensor) > 1) found.push_back(tensor);
    return found;
}

/// All operands lie alike and are of one type: threads load several elements at a time.
bool is_vectorised(const Operation& operation) {
    const auto operands = streams(operation);
    return std::ranges::all_of(operands, [&](const TensorType* tensor) {
        const TensorType& first = *operands.front();
        return is_dense(*tensor) && tensor->sizes == first.sizes && tensor->strides == first.strides &&
               tensor->dtype == first.dtype;
    });
}

double element_wise_cycles(const Operation& operation, const Dimensions& size) {
    if (!is_vectorised(operation)) return cycles_of_element_alone * size.elements_out;
    const bool is_gelu = operation.target == "aten::gelu" && element_bytes(compute_dtype(operation)) == 2;
    return is_gelu ? of_gelu * size.elements_out : 0;
}

double layer_norm_cycles(const Operation& operation, const Dimensions& size) {
    const double rows = size.elements_out / size.reduced;
    const double first_copied =
        is_contiguous(*tensors(operation).front()) ? 0 : cycles_of_element_alone * size.elements_out;
    return first_copied + rows * of_row + size.elements_out * of_row_element;
}

/// Contiguous images have kernels, and a rule, of their own (depthwise_convolution.h).
double depthwise_cycles(const Operation& operation, const Dimensions& size) {
    const bool is_cudnns = is_depthwise(operation) && is_channels_last(*tensors(operation).front());
    return is_cudnns ? of_tap * size.kernel_h * size.kernel_w * size.elements_out : 0;
}

/// Statistics that are given: in bf16, which cuDNN does not take, a block of threads for each plane.
double scaling_cycles(const Operation& operation, const Dimensions& size) {
    const double of_elements = cycles_of_element_alone * size.elements_out;
    const bool is_of_planes = compute_dtype(operation) == Dtype::bf16 && is_contiguous(*tensors(operation).front());
    return is_of_planes ? std::max(of_elements, of_plane_of_bf16 * size.n * size.c) : of_elements;
}

/// A window's results: max_pool2d writes where they came from, whether that is asked for or not. An average over whole
/// planes is a reduction of many short rows.
double pooling_cycles(const Operation& operation, const Dimensions& size) {
    if (is_channels_last(*tensors(operation).front())) return 0;
    const bool shows_indices = operation.target == "aten::max_pool2d_with_indices";
    const bool is_max = shows_indices || operation.target == "aten::max_pool2d";
    if (is_max || operation.target == "aten::avg_pool2d") {
        const double results = shows_indices ? size.elements_out / 2 : size.elements_out;
        const double forward = results * (of_pooled + of_pooled_place * size.kernel_h * size.kernel_w);
        return is_max && mode(operation) == Mode::training ? forward + size.elements_in * of_input_gradient : forward;
    }
    const bool is_of_planes = operation.target == "aten::adaptive_avg_pool2d" && size.oh == 1 && size.ow == 1;
    return is_of_planes ? size.elements_out * of_mean_of_plane + size.elements_in * of_place_of_mean : 0;
}

/// What is written in another order than it is read.
double copy_cycles(const Operation& operation, const Dimensions& size) {
    const std::string& target = operation.target;
    if (size.forward.bytes_written == 0) return 0;
    if (target == "aten::cat") {
        const bool is_plain =
            std::ranges::all_of(streams(operation), [](const auto* part) { return is_contiguous(*part); });
        return is_plain ? 0 : of_joined_element * size.elements_out;
    }
    const bool is_ordering = target == "aten::contiguous" || target == "aten::reshape" || target == "aten::flatten";
    const bool is_copy = target == "aten::clone" || target.starts_with("aten::to.") || target == "aten::_to_copy";
    const bool is_reordered = is_ordering || (is_copy && !is_dense(*tensors(operation).front()));
    return is_reordered ? cycles_of_element_alone * size.elements_out : 0;
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
            if (operation.target == "aten::batch_norm" && !takes_batch_statistics(operation))
                return scaling_cycles(operation, size);
            return 0;
        case Family::pooling:
            return pooling_cycles(operation, size);
        case Family::copy:
            return copy_cycles(operation, size);
        default:
            return 0;
    }
}

}  // namespace

double seconds_of_cycles(double cycles, const Device& device) {
    const double seconds = cycles / cycles_per_s(device);
    return std::isfinite(seconds) ? seconds : 0;
}

double least_eager_kernel_s(const PreparedOperation& call, const Device& device) {
    return device.vendor == "nvidia" ? seconds_of_cycles(cycles(call), device) : 0;
}

}  // namespace joulecast
