#include "joulecast/forecast/kernel_bounds.h"

#include <algorithm>
#include <cmath>

#include "joulecast/forecast/eager_kernels.h"
#include "joulecast/graph/family.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

/// Tensor cores sustain no more of their peak than this, whatever they multiply; a judgement. Of the products in bf16
/// of AIConfigurator's tables the fastest of a hundred reaches 0.72 (B200), 0.74 (L40S), 0.75 (H200), 0.83 (A100) and
/// 0.87 (H100) of the sheet's figure; single ones, over zeros, reach 0.97. Float32 proper is not held to it: Winograd's
/// convolutions pass the peak.
constexpr double most_of_peak = 0.8;

/// Rows of an odd number of 16-bit elements begin at no address that Hopper's copy engine takes, which leaves the
/// kernels of before: an H200 reaches 92 TFLOP/s in GPT-2's last layer, 50,257 wide, and 8 times as much where it is
/// even.
constexpr double most_of_peak_in_odd_rows = 0.1;

bool has_odd_rows(const PreparedOperation& operation, const Device& device) {
    const Dimensions& size = operation.dimensions;
    return device.architecture == "hopper" && operation.family() == Family::matmul &&
           element_bytes(compute_dtype(operation.operation)) == 2 &&
           (std::fmod(size.gemm_n, 2) == 1 || std::fmod(size.gemm_k, 2) == 1) && size.gemm_n > 1 && size.gemm_m > 1;
}

}  // namespace

bool is_for_matrix_units(const PreparedOperation& operation) {
    const Dtype type = compute_dtype(operation.operation);
    const bool is_ieee = type == Dtype::f32 && operation.math == Math::ieee;
    return multiplies_matrices(operation.family()) && is_floating(type) && !is_ieee;
}

bool is_in_tf32(const PreparedOperation& operation) {
    return operation.math == Math::tf32 && is_for_matrix_units(operation) &&
           compute_dtype(operation.operation) == Dtype::f32;
}

double least_seconds(const PreparedOperation& operation, const Counts& counts, const Device& device) {
    double least = 0;
    if (is_for_matrix_units(operation)) {
        const double peak = peak_flop_per_s(device, compute_dtype(operation.operation), operation.math);
        const double share = has_odd_rows(operation, device) ? most_of_peak_in_odd_rows
                             : adds_at_half_rate(device)     ? 1
                                                             : most_of_peak;
        least = static_cast<double>(counts.flop) / (share * peak);
    }
    const double cache = std::isnan(device.last_level_cache_bytes) ? 0 : device.last_level_cache_bytes;
    const double moved = static_cast<double>(counts.bytes_read) + static_cast<double>(counts.bytes_written) - 2 * cache;
    return std::fmax(least, moved / device.bandwidth_bytes_per_s);
}

double least_call_s(const PreparedOperation& operation, const Device& device) {
    const Counts counts = operation.dimensions.forward + operation.dimensions.backward;
    return std::max(least_seconds(operation, counts, device), least_eager_kernel_s(operation, device));
}

}  // namespace joulecast
