#include "joulecast/forecast/float32_convolution.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "joulecast/graph/record.h"
#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

bool is_whole_float32(const PreparedOperation& convolution) {
    return convolution.family() == Family::convolution && convolution.dimensions.groups == 1 &&
           !convolution.operation.target.starts_with("aten::conv_transpose") &&
           compute_dtype(convolution.operation) == Dtype::f32 && convolution.math == Math::ieee;
}

bool is_for_winograd(const Dimensions& size) {
    return size.kernel_h == 3 && size.kernel_w == 3 && size.stride == 1 && size.dilation == 1;
}

bool is_of_ampere_or_newer(const Device& device) {
    return device.vendor == "nvidia" && has_tf32(device);
}

/// Not Hopper, as measured: three layers take an H200 2 to 4.5 times as long as these transforms would.
bool has_winograd(const Device& device) {
    return is_of_ampere_or_newer(device) && (device.architecture == "ampere" || device.architecture == "ada");
}

double tiles_of(double size, double tile) {
    return std::ceil(size / tile);
}

}  // namespace

std::optional<Operation> as_plain_product(const PreparedOperation& convolution, const Device& device) {
    if (!is_whole_float32(convolution)) return std::nullopt;
    if (is_for_winograd(convolution.dimensions) && !is_of_ampere_or_newer(device)) return std::nullopt;
    const auto product = matrix_product(convolution.operation);
    if (!product || product->batch != 1) return std::nullopt;
    return Operation{"aten::linear",
                     {{"input", TensorType{Dtype::f32, {product->rows, product->depth}}},
                      {"weight", TensorType{Dtype::f32, {product->columns, product->depth}}}}};
}

double least_in_tiles_s(const PreparedOperation& convolution, const Device& device) {
    constexpr double rows_of_tile = 128, columns_of_tile = 64;
    if (!is_whole_float32(convolution) || !is_of_ampere_or_newer(device)) return 0;
    const auto product = matrix_product(convolution.operation);
    if (!product || product->batch != 1) return 0;
    const double tiles = tiles_of(static_cast<double>(product->rows), rows_of_tile) *
                         tiles_of(static_cast<double>(product->columns), columns_of_tile);
    const double flop = 2 * rows_of_tile * columns_of_tile * static_cast<double>(product->depth);
    const double of_tile_s = flop * device.units / peak_flop_per_s(device, Dtype::f32, Math::ieee);
    return std::max(1.0, tiles / device.units) * of_tile_s;
}

double winograd_s(const PreparedOperation& convolution, const Device& device) {
    constexpr double share_of_peak = 0.8, results = 4, places = 36, kernels = 4, rows_of_product = 32;
    const Dimensions& size = convolution.dimensions;
    if (!is_whole_float32(convolution) || !is_for_winograd(size) || !has_winograd(device))
        return std::numeric_limits<double>::infinity();
    const double tiles = size.n * tiles_of(size.oh, results) * tiles_of(size.ow, results);
    const double rows = rows_of_product * tiles_of(tiles, rows_of_product);
    const double columns = rows_of_product * tiles_of(size.k, rows_of_product);
    const double flop = 2 * places * rows * columns * size.c;
    const double of_element = static_cast<double>(element_bytes(Dtype::f32));
    const double transformed = of_element * places * (tiles * (size.c + size.k) + size.c * size.k);
    const double bytes = size.input_bytes + size.weight_bytes + size.output_bytes + 2 * transformed;
    return flop / (share_of_peak * peak_flop_per_s(device, Dtype::f32, Math::ieee)) +
           bytes / streamed_bytes_per_s(device) + kernels * device.kernel_latency_s;
}

}  // namespace joulecast
