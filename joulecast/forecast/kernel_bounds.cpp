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

/// A weight that no cache holds comes from memory as fast as memory streams at most: 0.90 of the sheet's figure in
/// AIConfigurator's products of few rows (H100), 0.93 in timm's networks (RTX 3090, 4090).
constexpr double most_of_bandwidth = 0.93;

/// Rows of an odd number of 16-bit elements are loaded one element at a time, by kernels of one design on all of
/// NVIDIA's cards (cutlass_75_tensorop_..._align1). The loads decide, so a unit multiplies as much in a cycle on every
/// card, as much as its matrix units can or not. By the boost clock it is 355 FLOP in GPT-2's last layer on an H200 (92
/// TFLOP/s for 50,257 columns, a tenth of its peak) and 330 to 360 on an RTX 4090 (107 to 116 TFLOP/s in squares of
/// 2055 to 2073, two thirds of its peak; pytorch/pytorch issue 181718). In whole tiles:
constexpr double flop_per_cycle_in_odd_rows = 380;

bool has_odd_rows(const PreparedOperation& operation, const Device& device) {
    const Dimensions& size = operation.dimensions;
    return operation.family() == Family::matmul && takes_odd_rows_slowly(compute_dtype(operation.operation), device) &&
           (std::fmod(size.gemm_n, 2) == 1 || std::fmod(size.gemm_k, 2) == 1) && size.gemm_n > 1 && size.gemm_m > 1;
}

/// Of a product as wide as a vocabulary the few rows fill no tile of these kernels: 8 rows of GPT-2's last layer take
/// an H200 108 us, the time of 128 at the rate above, where its weight comes in 16.
double in_whole_tiles(const Dimensions& size) {
    constexpr double rows_of_tile = 128, wide = 2048;
    const double rows = std::fmin(size.gemm_m, size.gemm_n);
    if (!(std::fmax(size.gemm_m, size.gemm_n) >= wide) || size.gemm_b > 1) return 1;
    return rows_of_tile * std::ceil(rows / rows_of_tile) / rows;
}

}  // namespace

bool gains_by_tf32(const Device& device) {
    constexpr double over_sustained = 1.6;
    return device.peak_flop_per_s_tf32 > over_sustained * device.peak_flop_per_s_fp32;
}

bool takes_odd_rows_slowly(Dtype dtype, const Device& device) {
    return device.vendor == "nvidia" && element_bytes(dtype) == 2;
}

double most_flop_per_s(const Device& device, Dtype dtype, Math math) {
    return peak_flop_per_s(device, dtype, math) * (adds_at_half_rate(device) ? 1 : most_of_peak);
}

double odd_rows_flop_per_s(const Device& device) {
    return flop_per_cycle_in_odd_rows * cycles_per_s(device);
}

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
        const auto flop = static_cast<double>(counts.flop);
        least = flop / most_flop_per_s(device, compute_dtype(operation.operation), operation.math);
        if (has_odd_rows(operation, device))
            least = std::fmax(least, flop * in_whole_tiles(operation.dimensions) / odd_rows_flop_per_s(device));
    }
    const double cache = std::isnan(device.last_level_cache_bytes) ? 0 : device.last_level_cache_bytes;
    if (operation.family() == Family::matmul && operation.dimensions.weight_bytes > cache)
        least =
            std::fmax(least, operation.dimensions.weight_bytes / (most_of_bandwidth * device.bandwidth_bytes_per_s));
    const double moved = static_cast<double>(counts.bytes_read) + static_cast<double>(counts.bytes_written) - 2 * cache;
    return std::fmax(least, moved / device.bandwidth_bytes_per_s);
}

double least_call_s(const PreparedOperation& operation, const Device& device) {
    const Counts counts = operation.dimensions.forward + operation.dimensions.backward;
    return std::max(least_seconds(operation, counts, device), least_eager_kernel_s(operation, device));
}

}  // namespace joulecast
