#include "joulecast/forecast/product_copies.h"

#include <algorithm>
#include <vector>

#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/forecast/eager_movement.h"
#include "joulecast/forecast/tensor_core_convolution.h"
#include "joulecast/graph/copied_operands.h"
#include "joulecast/graph/family.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

/// One that runs beside the product.
struct ExtraKernel {
    double bytes = 0;  ///< that it moves
    double cycles = 0;
    double copied_bytes = 0;  ///< that it leaves beside the result
};

ExtraKernel copy_of(const TensorType& copied, double cycles_of_element) {
    const auto bytes = static_cast<double>(byte_count(copied));
    return {2 * bytes, cycles_of_element * static_cast<double>(element_count(copied)), bytes};
}

/// The images, where they do not lie whole.
std::vector<ExtraKernel> copy_of_images(const Operation& convolution) {
    const auto operands = tensors(convolution);
    if (operands.empty() || is_contiguous(*operands.front()) || is_channels_last(*operands.front())) return {};
    return {copy_of(*operands.front(), cycles_of_element_alone)};
}

/// Whether operands may be copied. A matrix on the right of matmul is not counted: what is copied then goes by what
/// requires a gradient.
bool may_copy(const Operation& product) {
    if (product.target == "aten::linear") {
        const TensorType* const input = find_tensor(product, "input");
        return input != nullptr && !is_contiguous(*input);
    }
    if (product.target != "aten::matmul") return false;
    const TensorType* const left = find_tensor(product, "self");
    const TensorType* const right = find_tensor(product, "other");
    return left && right && left->sizes.size() > 2 && right->sizes.size() > 2;
}

std::vector<ExtraKernel> extra_kernels(const Operation& product) {
    if (recorded_family(product) == Family::convolution) return copy_of_images(product);
    std::vector<ExtraKernel> kernels;
    if (!may_copy(product)) return kernels;
    for (const CopiedOperand& operand : copied_operands(product))
        kernels.push_back(copy_of(operand.copy, cycles_of_ordered_element(*operand.from)));
    if (kernels.empty() || product.target != "aten::linear" || !find_tensor(product, "bias")) return kernels;
    const TensorType result = find_record(product.target)->outputs(product).at(0);
    kernels.push_back({2 * static_cast<double>(byte_count(result)),
                       cycles_of_element_alone * static_cast<double>(element_count(result)), 0});
    return kernels;
}

}  // namespace

std::optional<Operation> as_multiplied(const Operation& product) {
    if (product.target != "aten::matmul" || !may_copy(product)) return std::nullopt;
    const auto copied = copied_operands(product);
    if (copied.empty()) return std::nullopt;
    Operation multiplied = product;
    const auto operands = tensors(product);
    const auto replaced = tensors(multiplied);
    bool lies_otherwise = false;  // one matrix repeated for a batch is copied, too, and its sizes stay
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto found = std::ranges::find(copied, operands[i], &CopiedOperand::from);
        if (found == copied.end() || is_contiguous(*operands[i])) continue;
        replaced[i]->strides = {};
        lies_otherwise = true;
    }
    return lies_otherwise ? std::optional(multiplied) : std::nullopt;
}

double copying_kernels(const Operation& product) {
    return static_cast<double>(extra_kernels(product).size());
}

double copying_s(const PreparedOperation& product, const Device& device) {
    double seconds = 0;
    for (const ExtraKernel& kernel : extra_kernels(product.operation)) {
        const double least = device.vendor == "nvidia" ? seconds_of_cycles(kernel.cycles, device) : 0;
        const double streamed = kernel.bytes / streamed_bytes_per_s(device);
        seconds += std::max(least, streamed) + device.kernel_latency_s;
    }
    return seconds;
}

double copied_bytes(const Operation& product) {
    if (recorded_family(product) == Family::convolution) return 0;
    double bytes = 0;
    for (const ExtraKernel& kernel : extra_kernels(product)) bytes += kernel.copied_bytes;
    return bytes;
}

double image_copies_bytes(const PreparedOperation& convolution, const Device& device) {
    double bytes = turned_images_bytes(convolution, device);
    if (convolution.family() != Family::convolution || device.vendor != "nvidia") return bytes;
    for (const ExtraKernel& kernel : copy_of_images(convolution.operation)) bytes += kernel.copied_bytes;
    return bytes;
}

}  // namespace joulecast
