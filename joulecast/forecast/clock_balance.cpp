#include "joulecast/forecast/clock_balance.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "joulecast/graph/family.h"
#include "joulecast/graph/record.h"
#include "joulecast/graph/strides.h"
#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

constexpr double tile = 128;
/// A rate of products so much above that of the vector units is one of matrix units.
constexpr double matrix_over_vector = 1.5;

/// Convolutions of half precision run on matrix units in channels_last order (cuDNN's nchwToNhwc kernels in any trace
/// of PyTorch): contiguous tensors are read and written once more, before and after.
bool is_turned(const PreparedOperation& operation, Dtype type) {
    if (operation.family() != Family::convolution || element_bytes(type) != 2 || operation.dimensions.groups != 1)
        return false;
    const TensorType* input = find_tensor(operation.operation, "input");
    return input != nullptr && !records::suggests_channels_last(*input);
}

}  // namespace

ListedKernel listed_kernel(const PreparedOperation& operation, const Device& device, Math math) {
    const Family family = operation.family();
    if (costs_nothing(family)) return {};
    const Dtype type = compute_dtype(operation.operation);
    const Dimensions& dimensions = operation.dimensions;
    const double tiles = dimensions.gemm_b * std::ceil(dimensions.gemm_m / tile) * std::ceil(dimensions.gemm_n / tile);
    ListedKernel kernel;
    const Roofline highest = roofline_at_highest(operation);
    kernel.flop_s = highest.flop_s;
    kernel.byte_s = highest.byte_s;
    kernel.is_product = multiplies_matrices(family);
    kernel.tiles = tiles > 0 ? tiles : 0;
    kernel.depth = kernel.tiles > 0 && dimensions.gemm_k > 0 ? dimensions.gemm_k : 0;
    kernel.on_matrix_units =
        kernel.is_product && peak_flop_per_s(device, type, math) > matrix_over_vector * vector_flop_per_s(device, type);
    if (kernel.on_matrix_units && is_turned(operation, type))
        kernel.byte_s += 2 * (dimensions.input_bytes + dimensions.output_bytes) / device.bandwidth_bytes_per_s;
    return kernel;
}

KernelTime clock_balance(const PreparedOperation& operation, const Device& device, Math math) {
    const ListedKernel kernel = listed_kernel(operation, device, math);
    KernelTime balance = kernel_times(std::span(&kernel, 1), KernelLevels{}, device.units).front();
    balance.latency = 0;
    return balance;
}

KernelTime with_latency(const KernelTime& balance, double kernel_s, const ClockParameters& parameters, double x,
                        double y) {
    if (!(kernel_s > 0)) return {};
    const double explained = kernel_time({balance.compute, balance.memory, 0}, parameters, x, y);
    // A call without counts of its own starts a kernel all the same.
    const double slowed = clocked_share_of_latency / x + 1 - clocked_share_of_latency;
    const double most_latency_s = KernelLevels{}.latency_s * slowed;  // of a kernel, whatever its size
    const double latency = explained > 0 ? std::clamp(kernel_s - explained, 0.0, most_latency_s) : kernel_s;
    const double scale = explained > 0 ? (kernel_s - latency) / explained : 0;
    const double at_highest = latency / slowed;
    return {balance.compute * scale, balance.memory * scale, clocked_share_of_latency * at_highest,
            (1 - clocked_share_of_latency) * at_highest};
}

WorkloadCurve curve_of_call(const KernelTime& balance, double kernel_s, double host_s, ClockParameters parameters,
                            const ClockedPoint& known) {
    const KernelTime parts = with_latency(balance, kernel_s, parameters, known.x, known.y);
    parameters.learned = {};
    return {std::move(parameters), {parts}, host_s, known};
}

double kernel_seconds(const OperationForecast& operation) {
    if (!std::isnan(operation.kernel_s)) return operation.kernel_s;
    const double call = operation.cost.device_time.value.value();
    return beyond_floor(call, std::min(call, operation.cost.host_time.value.value()));
}

double compute_share(std::span<const OperationForecast> operations) {
    double compute = 0, memory = 0;
    for (const OperationForecast& operation : operations) {
        const double kernel =
            std::isnan(operation.kernel_s) ? operation.cost.device_time.value.value() : operation.kernel_s;
        const KernelTime& balance = operation.balance;
        if (!(kernel > 0) || !(balance.compute + balance.memory > 0)) continue;
        (balance.compute > balance.memory ? compute : memory) += kernel * static_cast<double>(operation.count);
    }
    return compute + memory > 0 ? compute / (compute + memory) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace joulecast
