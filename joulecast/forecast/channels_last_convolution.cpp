#include "joulecast/forecast/channels_last_convolution.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "joulecast/forecast/tensor_core_convolution.h"
#include "joulecast/physics/roofline.h"

namespace joulecast {
namespace {

constexpr double share_of_arithmetic = 0.77;
constexpr double share_of_bytes = 0.9;
/// Of odd groups (RegNetY, Visformer, DPN: 3 to 7).
constexpr double odd_groups_factor = 3.5;

}  // namespace

bool has_odd_groups(const Operation& operation) {
    const auto types = tensors(operation);
    if (types.size() < 2 || types[0]->sizes.size() < 2 || types[1]->sizes.size() < 2) return false;
    const std::int64_t channels = types[1]->sizes[1];
    const bool is_grouped = types[0]->sizes[1] != channels;
    return is_grouped && !std::has_single_bit(static_cast<std::uint64_t>(channels));
}

double busy_share(const Operation& operation, const Device& device) {
    constexpr double rows_of_tile = 128, columns_of_tile = 64;
    const auto product = matrix_product(operation);
    if (!product) return 1;
    const double tiles = static_cast<double>(product->batch) *
                         std::ceil(static_cast<double>(product->rows) / rows_of_tile) *
                         std::ceil(static_cast<double>(product->columns) / columns_of_tile);
    return std::clamp(tiles / device.units, 1.0 / device.units, 1.0);
}

double channels_last_convolution_s(const PreparedOperation& convolution, const Device& device) {
    const Dtype type = compute_dtype(convolution.operation);
    const Roofline limits = roofline(convolution.dimensions.forward, type, device, convolution.math);
    const double slowdown =
        std::max(1.0, share_of_arithmetic * feeding_of_tensor_cores(device, type, convolution.math));
    const double arithmetic_s = slowdown * limits.flop_s / busy_share(convolution.operation, device);
    const double factor = has_odd_groups(convolution.operation) ? odd_groups_factor : 1;
    return factor * std::hypot(share_of_bytes * limits.byte_s, arithmetic_s);
}

}  // namespace joulecast
