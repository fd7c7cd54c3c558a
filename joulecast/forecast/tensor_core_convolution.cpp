#include "joulecast/forecast/tensor_core_convolution.h"

#include <algorithm>
#include <cmath>

#include "joulecast/forecast/channels_last_convolution.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/matrix_rate.h"

namespace joulecast {
namespace {

/// Fewer 16-bit multiply-adds of a unit in a cycle are those of vector units: tensor cores make 256 or more, Pascal's
/// vector units 128. In between lies what sheets round: an RTX 5090's peak comes to 255.9996.
constexpr double least_tensor_rate = 192;
constexpr double tensor_core_alignment_bytes = 16;

// The constants below were chosen on published networks in mixed precision on RTX 3090 and RTX 4090 (timm, Apache-2.0)
// and on EnergAIzer's resnet101 on A10 and A100 (MIT); docs/decisions/0029 has the tables.

/// What a unit can be fed with in a cycle, an operand of each multiply-add counted: shared memory brings 128 bytes, and
/// in tiles of 64 x 64, which convolutions mostly have, each of them is used by 32.
constexpr double fed_bytes = 2400;
/// In TF32 Hopper's warp groups multiply out of shared memory, in tiles of 128 rows and as many columns as there are
/// channels of the result, 64 to 256: U-Net's convolutions reach 44 to 79 % of an H200's peak so, where tiles of 64 x
/// 64 would let them reach 37 %. Those of ResNet-50 in bf16 reach 37 to 60 %, and are told well by these.
constexpr double fed_bytes_in_tiles = 100;
constexpr double rows_of_tile = 128, least_columns = 64, most_columns = 256;
constexpr double misfit_of_odd_rows = 2;
/// Odd rows of so many pixels and more, in 16 bits, are told by the rule for even ones: of 121 to 361 pixels they take
/// 0.3 to 0.6 of what the misfit says, in eight networks on an RTX 3090 and 4090. Those of 49 take it, and in TF32 on
/// an A30 those of 289 and 361, too (docs/decisions/0060).
constexpr double least_of_long_row = 100;
/// U-Net's four on an H200, in TF32: 4.9 to 5.5, beside their arithmetic.
constexpr double passes_of_spread = 5;
/// Turning the input, turning the weight, the convolution, turning the result: each starts and ends.
constexpr double latencies = 8;
/// A product of images as they lie is one kernel: 27 of an H200 in bf16 take 2 to 6 us beside their bytes.
constexpr double latencies_of_product = 2;
constexpr double pixels_of_vector = 4;

/// Images of so few channels that no vector of them fills a load are computed as if on vector units in 16 bits, too, at
/// this share of their peak: 24 to 28 TFLOP/s on an H200 (ResNet's, ViT's first layer), 12 where results are bytes
/// above all. Networks on A100, A10 and RTX 8000 tell the same; those of an RTX 3090, whose vector units are the faster
/// beside its tensor cores, do not.
constexpr double share_of_vector_units = 0.42;

/// A product of matrices as it lies, where rows of pixels may start anywhere.
bool is_pointwise(const Dimensions& size) {
    return size.kernel_h == 1 && size.kernel_w == 1 && size.stride == 1;
}

bool has_long_rows(const Dimensions& size, Dtype type, const Device& device) {
    return size.oh * size.ow >= least_of_long_row && element_bytes(type) == 2 && device.architecture != "hopper";
}

/// Rows of pixels that kernels load as they lie. Hopper's copy engine takes those that begin at multiples of 16 bytes,
/// cards of before load 4 pixels, and of 16 bits long rows of any number.
bool has_aligned_rows(const Dimensions& size, Dtype type, const Device& device) {
    if (has_long_rows(size, type, device)) return true;
    const double pixels = size.oh * size.ow;
    if (device.architecture != "hopper") return std::fmod(pixels, pixels_of_vector) == 0;
    return std::fmod(pixels * static_cast<double>(element_bytes(type)), tensor_core_alignment_bytes) == 0;
}

/// How much longer the arithmetic takes than at the peak, for the bytes of operands that a unit multiplies in a cycle.
double feeding(const PreparedOperation& convolution, const Device& device, double multiplied_bytes) {
    const Dimensions& size = convolution.dimensions;
    const bool is_in_wide_tiles = device.architecture == "hopper" && convolution.math == Math::tf32 &&
                                  compute_dtype(convolution.operation) == Dtype::f32 && !is_pointwise(size);
    if (!is_in_wide_tiles)
        return feeding_of_tensor_cores(device, compute_dtype(convolution.operation), convolution.math);
    const double columns = std::clamp(size.k, least_columns, most_columns);
    return 1 + multiplied_bytes * (1 / rows_of_tile + 1 / columns) / fed_bytes_in_tiles;
}

/// The gradient of a strided convolution, as which cuDNN computes a transposed one: each kernel writes one place of
/// every stride, so that the lines of the result are touched again and again.
bool is_spread(const PreparedOperation& convolution) {
    return convolution.operation.target.starts_with("aten::conv_transpose") && convolution.dimensions.stride > 1;
}

bool has_channels_last(const PreparedOperation& convolution) {
    return is_channels_last(*tensors(convolution.operation).front());
}

double arithmetic_s(const PreparedOperation& convolution, const Device& device) {
    const Dimensions& size = convolution.dimensions;
    const Dtype type = compute_dtype(convolution.operation);
    const auto flop = static_cast<double>(size.forward.flop);
    const auto bytes = static_cast<double>(element_bytes(type));
    const bool fills_no_load = size.c * bytes < tensor_core_alignment_bytes && !adds_at_half_rate(device);
    const bool has_odd_rows =
        !has_channels_last(convolution) && is_pointwise(size) && !has_aligned_rows(size, type, device);
    const double multiplied_bytes = matrix_rate(device, type, convolution.math) * bytes;
    const double seconds = fills_no_load ? flop / (share_of_vector_units * device.vector_flop_per_s_fp32)
                                         : flop / peak_flop_per_s(device, type, convolution.math) *
                                               feeding(convolution, device, multiplied_bytes);
    return has_odd_rows ? misfit_of_odd_rows * seconds : seconds;
}

/// All bytes once.
double moving_s(const PreparedOperation& convolution, const Device& device) {
    const Counts& counts = convolution.dimensions.forward;
    return static_cast<double>(counts.bytes_read + counts.bytes_written) / streamed_bytes_per_s(device);
}

bool is_turned(const PreparedOperation& convolution, const Device& device) {
    const Dimensions& size = convolution.dimensions;
    const bool is_aligned = has_long_rows(size, compute_dtype(convolution.operation), device) ||
                            std::fmod(size.oh * size.ow, pixels_of_vector) == 0;
    return !has_channels_last(convolution) && (!is_pointwise(size) || !is_aligned);
}

}  // namespace

bool runs_on_tensor_cores(const PreparedOperation& convolution, const Device& device) {
    const Dimensions& size = convolution.dimensions;
    if (convolution.family() != Family::convolution || size.groups != 1) return false;
    if (!(matrix_rate(device, Dtype::f16, Math::ieee) >= least_tensor_rate)) return false;
    const Dtype type = compute_dtype(convolution.operation);
    if (type == Dtype::f16 || type == Dtype::bf16) return true;
    if (type != Dtype::f32 || convolution.math != Math::tf32) return false;
    return std::fmod(size.c * static_cast<double>(element_bytes(type)), tensor_core_alignment_bytes) == 0;
}

double tensor_core_convolution_s(const PreparedOperation& convolution, const Device& device) {
    if (has_channels_last(convolution) && !is_spread(convolution))
        return channels_last_convolution_s(convolution, device) + latencies_of_product * device.kernel_latency_s;
    const Dimensions& size = convolution.dimensions;
    const double passes = is_spread(convolution) ? passes_of_spread : is_turned(convolution, device) ? 2 : 1;
    const double moving = passes * moving_s(convolution, device);
    const double arithmetic = arithmetic_s(convolution, device);
    const double work = is_pointwise(size) ? std::max(arithmetic, moving) : arithmetic + moving;
    const bool is_one_kernel = is_pointwise(size) && !is_turned(convolution, device);
    return work + (is_one_kernel ? latencies_of_product : latencies) * device.kernel_latency_s;
}

double feeding_of_tensor_cores(const Device& device, Dtype type, Math math) {
    return 1 + matrix_rate(device, type, math) * static_cast<double>(element_bytes(type)) / fed_bytes;
}

std::optional<double> weight_gradient_of_product_s(const PreparedOperation& convolution, const Device& device) {
    const bool is_product = is_pointwise(convolution.dimensions) && !is_turned(convolution, device) &&
                            !has_channels_last(convolution) && runs_on_tensor_cores(convolution, device);
    if (device.vendor != "nvidia" || !is_product) return std::nullopt;
    return arithmetic_s(convolution, device) + 2 * moving_s(convolution, device) + latencies * device.kernel_latency_s;
}

double turned_images_bytes(const PreparedOperation& convolution, const Device& device) {
    const bool is_cudnns = device.vendor == "nvidia" && runs_on_tensor_cores(convolution, device);
    if (!is_cudnns || !is_turned(convolution, device)) return 0;
    const Dimensions& size = convolution.dimensions;
    const Dtype type = compute_dtype(convolution.operation);
    if (size.c * static_cast<double>(element_bytes(type)) < tensor_core_alignment_bytes) return 0;
    const bool turns_weight = size.kernel_h * size.kernel_w > 1;
    return size.input_bytes + (turns_weight ? size.weight_bytes : 0) + size.output_bytes;
}

}  // namespace joulecast
