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
                return cycles_of_element_alone * size.elements_out;
            return 0;
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
