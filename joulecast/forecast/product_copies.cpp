#include "joulecast/forecast/product_copies.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/forecast/eager_movement.h"
#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

/// One that runs beside the product.
struct ExtraKernel {
    double bytes = 0;  ///< that it moves
    double cycles = 0;
    double copied_bytes = 0;  ///< that it leaves beside the result
};

/// Of a copy of so many elements.
ExtraKernel copy_of(const TensorType& from, double elements) {
    const double bytes = elements * static_cast<double>(element_bytes(from.dtype));
    return {2 * bytes, cycles_of_ordered_element(from) * elements, bytes};
}

/// The first `count` dimensions are one, by their strides.
bool joins(const Sizes& sizes, const Strides& strides, std::size_t count) {
    std::optional<std::int64_t> step;  // that follows from the dimension within
    for (std::size_t i = count; i-- > 0;) {
        if (sizes[i] == 1) continue;
        if (step && strides[i] != *step) return false;
        step = strides[i] * sizes[i];
    }
    return true;
}

std::vector<ExtraKernel> around_linear(const Operation& linear) {
    const TensorType* const input = find_tensor(linear, "input");
    if (input == nullptr || input->sizes.size() < 3 || element_count(*input) == 0) return {};
    if (joins(input->sizes, strides_of(*input), input->sizes.size() - 1)) return {};
    const auto elements = static_cast<double>(element_count(*input));
    std::vector<ExtraKernel> kernels{copy_of(*input, elements)};
    const TensorType* const weight = find_tensor(linear, "weight");
    if (find_tensor(linear, "bias") == nullptr || weight == nullptr) return kernels;
    const double rows = elements / static_cast<double>(input->sizes.back());
    const double results = rows * static_cast<double>(weight->sizes.front());
    const double bytes = results * static_cast<double>(element_bytes(input->dtype));
    kernels.push_back({2 * bytes, cycles_of_element_alone * results, 0});
    return kernels;
}

/// Before the two dimensions of a matrix, of both operands.
Sizes batch_of(const Sizes& left, const Sizes& right) {
    Sizes batch(std::max(left.size(), right.size()) - 2, 1);
    for (const Sizes* sizes : {&left, &right}) {
        const std::size_t skipped = batch.size() + 2 - sizes->size();
        for (std::size_t i = 0; i + 2 < sizes->size(); ++i)
            batch[skipped + i] = std::max(batch[skipped + i], (*sizes)[i]);
    }
    return batch;
}

/// None where both are a batch of matrices as they lie.
std::vector<ExtraKernel> before_matmul(const Operation& matmul) {
    const TensorType* const operands[] = {find_tensor(matmul, "self"), find_tensor(matmul, "other")};
    for (const TensorType* operand : operands)
        if (operand == nullptr || operand->sizes.size() < 3 || element_count(*operand) == 0) return {};
    const Sizes batch = batch_of(operands[0]->sizes, operands[1]->sizes);
    std::vector<ExtraKernel> kernels;
    for (const TensorType* operand : operands) {
        const std::size_t skipped = batch.size() + 2 - operand->sizes.size();
        const Strides own = strides_of(*operand);
        Strides strides(batch.size(), 0);  // of what is repeated
        for (std::size_t i = skipped; i < batch.size(); ++i)
            if (operand->sizes[i - skipped] > 1) strides[i] = own[i - skipped];
        if (joins(batch, strides, batch.size())) continue;
        const std::size_t rank = operand->sizes.size();
        auto elements = static_cast<double>(operand->sizes[rank - 2]) * static_cast<double>(operand->sizes[rank - 1]);
        for (const std::int64_t size : batch) elements *= static_cast<double>(size);
        kernels.push_back(copy_of(*operand, elements));
    }
    return kernels;
}

std::vector<ExtraKernel> extra_kernels(const Operation& product) {
    if (product.target == "aten::linear") return around_linear(product);
    return product.target == "aten::matmul" ? before_matmul(product) : std::vector<ExtraKernel>{};
}

}  // namespace

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
    double bytes = 0;
    for (const ExtraKernel& kernel : extra_kernels(product)) bytes += kernel.copied_bytes;
    return bytes;
}

}  // namespace joulecast
