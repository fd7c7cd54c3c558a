#include "joulecast/forecast/flattened_linear.h"

#include <cstddef>
#include <variant>

#include "joulecast/forecast/eager_kernels.h"

namespace joulecast {
namespace {

/// All dimensions but the last are one, by their strides.
bool is_matrix(const TensorType& type) {
    const Strides strides = strides_of(type);
    for (std::size_t i = 0; i + 2 < type.sizes.size(); ++i) {
        if (strides[i] != strides[i + 1] * type.sizes[i + 1]) return false;
    }
    return true;
}

bool has_bias(const Operation& linear) {
    return find_tensor(linear, "bias") != nullptr;
}

bool is_flattened(const Operation& linear) {
    if (linear.target != "aten::linear") return false;
    const TensorType* input = find_tensor(linear, "input");
    return input != nullptr && input->sizes.size() > 2 && element_count(*input) > 0 && !is_matrix(*input);
}

}  // namespace

double flattening_kernels(const Operation& linear) {
    if (!is_flattened(linear)) return 0;
    return has_bias(linear) ? 2 : 1;
}

double flattening_s(const PreparedOperation& linear, const Device& device) {
    const double kernels = device.vendor == "nvidia" ? flattening_kernels(linear.operation) : 0;
    if (kernels == 0) return 0;
    const TensorType* input = find_tensor(linear.operation, "input");
    const double added = has_bias(linear.operation) ? linear.dimensions.elements_out : 0;
    const double elements = static_cast<double>(element_count(*input)) + added;
    return seconds_of_cycles(cycles_of_element_alone * elements, device) + kernels * device.kernel_latency_s;
}

}  // namespace joulecast
