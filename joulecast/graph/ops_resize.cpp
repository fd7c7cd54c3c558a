// Images and volumes in another resolution or arrangement: interpolation, sampling on a grid, shuffles, patches.

#include <algorithm>
#include <array>
#include <cmath>

#include "joulecast/graph/pointwise.h"

namespace joulecast::records {

namespace {

/// [batch, channels, ...] with other sizes; channels_last stays.
TensorType image(const TensorType& model, Sizes sizes) {
    return formatted(model.dtype, std::move(sizes), suggests_channels_last(model));
}

/// floor(size * factor), as torch computes it in double.
std::int64_t scaled(const Operation& operation, std::int64_t size, double factor) {
    const double result = std::floor(static_cast<double>(size) * factor);
    constexpr double largest = 1e15;
    // Also false for NaN.
    if (!(result >= 1.0 && result <= largest)) refuse(operation, "a scale factor is out of range");
    return static_cast<std::int64_t>(result);
}

bool has_scale_list(const Operation& operation) {
    return operation.target.ends_with(".vec");
}

Sizes resized_spatial(const Operation& operation, const TensorType& input, std::size_t spatial) {
    if (const auto wanted = optional_integers(operation, "output_size")) {
        if (wanted->size() != spatial) refuse(operation, "output_size has another number of dimensions than the input");
        if (std::any_of(wanted->begin(), wanted->end(), [](auto size) { return size < 1; })) {
            refuse(operation, "an output size is not positive");
        }
        return *wanted;
    }
    if (!has_scale_list(operation)) refuse(operation, "the output size is missing");
    const auto factors = argument_or_default<std::vector<double>>(operation, "scale_factors");
    if (factors.size() != spatial) refuse(operation, "scale_factors has another number of dimensions than the input");
    Sizes sizes;
    for (std::size_t i = 0; i < spatial; ++i) sizes.push_back(scaled(operation, input.sizes[2 + i], factors[i]));
    return sizes;
}

Types resized_outputs(const Operation& operation) {
    const TensorType& input = first(operation);
    const char digit = operation.target[operation.target.find_first_of("123")];
    const auto spatial = static_cast<std::size_t>(digit - '0');
    if (rank(input) != spatial + 2) refuse(operation, "the input has a wrong number of dimensions");
    const Sizes wanted = resized_spatial(operation, input, spatial);
    Sizes sizes(input.sizes.begin(), input.sizes.begin() + 2);
    sizes.insert(sizes.end(), wanted.begin(), wanted.end());
    return {image(input, std::move(sizes))};
}

/// The gradient of an output element goes to the elements it was mixed from; no tensor is kept.
template <std::int64_t cost>
constexpr Row interpolation(std::string_view schema) {
    return {schema, Family::pooling, &resized_outputs, &streamed<&resized_outputs, cost>,
            &gradient_streamed<&resized_outputs, cost>};
}

/// The input at the places of the grid: [batch, channels, ...] at [batch, ..., 2 or 3].
Types sampled_outputs(const Operation& operation) {
    const TensorType& input = tensor(operation, "input");
    const TensorType& grid = tensor(operation, "grid");
    const std::size_t count = rank(input);
    if (count < 4 || count > 5 || rank(grid) != count) refuse(operation, "input and grid do not fit");
    if (grid.sizes[0] != input.sizes[0] || grid.sizes.back() != static_cast<std::int64_t>(count) - 2) {
        refuse(operation, "input and grid do not fit");
    }
    Sizes sizes(input.sizes.begin(), input.sizes.begin() + 2);
    sizes.insert(sizes.end(), grid.sizes.begin() + 1, grid.sizes.end() - 1);
    return {make(input.dtype, std::move(sizes))};
}

/// Multiply-adds of the neighbours that are mixed: 2 to the number of dimensions; 1 nearest, 16 bicubic.
std::int64_t neighbours(const Operation& operation) {
    const std::int64_t mode = integer(operation, "interpolation_mode");
    if (mode < 0 || mode > 2) refuse(operation, "unknown interpolation");
    if (mode == 1) return 1;
    return mode == 2 ? 16 : std::int64_t{1} << (rank(first(operation)) - 2);
}

Counts sampled_forward(const Operation& operation) {
    const Types output = sampled_outputs(operation);
    return {0, checked(operation, 2 * neighbours(operation), elements(output)), input_bytes(operation), bytes(output)};
}

Counts sampled_backward(const Operation& operation) {
    const Types output = sampled_outputs(operation);
    return {0, checked(operation, 4 * neighbours(operation), elements(output)),
            added(input_bytes(operation), bytes(output)), gradient_bytes(operation)};
}

constexpr Row sampling(std::string_view schema) {
    return {schema, Family::indexing, &sampled_outputs, &sampled_forward, &sampled_backward, &saves_all_operands};
}

/// The places of an affine map: theta [batch, 2, 3] gives [batch, height, width, 2], [batch, 3, 4] a volume's.
Types grid_outputs(const Operation& operation) {
    const TensorType& theta = tensor(operation, "theta");
    const Sizes size = integers(operation, "size");
    if (size.size() < 4 || size.size() > 5 || rank(theta) != 3) refuse(operation, "theta and size do not fit");
    Sizes sizes{size[0]};
    sizes.insert(sizes.end(), size.begin() + 2, size.end());
    sizes.push_back(static_cast<std::int64_t>(size.size()) - 2);
    if (theta.sizes != Sizes{size[0], sizes.back(), sizes.back() + 1}) refuse(operation, "theta and size do not fit");
    product(operation, sizes);
    return {make(theta.dtype, std::move(sizes))};
}

constexpr Row affine_grid(std::string_view schema) {
    return {schema, Family::creation, &grid_outputs, &streamed<&grid_outputs, 6>, &gradient_streamed<&grid_outputs, 6>};
}

/// [.., c r r, h, w] to [.., c, h r, w r] and back.
Types shuffled_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const bool grows = operation.target == "aten::pixel_shuffle";
    const std::int64_t factor = integer(operation, grows ? "upscale_factor" : "downscale_factor");
    if (rank(self) < 3 || factor < 1 || factor > (std::int64_t{1} << 20)) refuse(operation, "the factor does not fit");
    Sizes sizes = self.sizes;
    std::int64_t& channels = sizes[sizes.size() - 3];
    for (std::size_t i = sizes.size() - 2; i < sizes.size(); ++i) {
        std::int64_t& shrinking = grows ? channels : sizes[i];
        std::int64_t& growing = grows ? sizes[i] : channels;
        if (shrinking % factor != 0) refuse(operation, "the factor does not divide the size");
        shrinking /= factor;
        growing = checked(operation, growing, factor);
    }
    return {image(self, std::move(sizes))};
}

Types channel_shuffle_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::int64_t groups = integer(operation, "groups");
    if (rank(self) < 3 || groups < 1 || self.sizes[1] % groups != 0) refuse(operation, "the groups do not fit");
    return {image(self, self.sizes)};
}

template <auto Outputs>
constexpr Row shuffle(std::string_view schema) {
    return {schema, Family::copy, Outputs, &streamed<Outputs>, &gradient_streamed<Outputs>};
}

/// How many blocks of a kernel fit along each of the two dimensions.
Sizes blocks(const Operation& operation, const Sizes& sizes) {
    constexpr std::int64_t largest = std::int64_t{1} << 31;
    const Sizes kernel = spread(operation, "kernel_size", 2);
    const Sizes dilation = spread(operation, "dilation", 2);
    const Sizes padding = spread(operation, "padding", 2);
    const Sizes stride = spread(operation, "stride", 2);
    Sizes counts;
    for (std::size_t i = 0; i < 2; ++i) {
        for (const std::int64_t number : {kernel[i], dilation[i], stride[i]}) {
            if (number < 1 || number > largest) refuse(operation, "kernel, dilation or stride out of range");
        }
        if (padding[i] < 0 || padding[i] > largest) refuse(operation, "the padding is out of range");
        const std::int64_t room = added(sizes[i], 2 * padding[i]) - checked(operation, dilation[i], kernel[i] - 1) - 1;
        if (room < 0) refuse(operation, "the kernel is larger than the padded input");
        counts.push_back(room / stride[i] + 1);
    }
    return counts;
}

/// Each block as a column: [batch, channels x kernel, blocks].
Types columns_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    if (rank(self) < 3 || rank(self) > 4) refuse(operation, "the input has a wrong number of dimensions");
    const std::int64_t kernel = product(operation, spread(operation, "kernel_size", 2));
    const Sizes counts = blocks(operation, Sizes(self.sizes.end() - 2, self.sizes.end()));
    Sizes sizes(self.sizes.begin(), self.sizes.end() - 2);
    sizes.back() = checked(operation, sizes.back(), kernel);
    sizes.push_back(product(operation, counts));
    return {make(self.dtype, std::move(sizes))};
}

/// The columns added up where the blocks overlap: [batch, channels, output_size].
Types uncolumned_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const Sizes wanted = spread(operation, "output_size", 2);
    const std::int64_t kernel = product(operation, spread(operation, "kernel_size", 2));
    if (std::min(wanted[0], wanted[1]) < 1) refuse(operation, "the output size is not positive");
    if (rank(self) < 2 || rank(self) > 3) refuse(operation, "the input has a wrong number of dimensions");
    if (product(operation, blocks(operation, wanted)) != self.sizes.back()) refuse(operation, "the blocks do not fit");
    Sizes sizes(self.sizes.begin(), self.sizes.end() - 1);
    if (kernel == 0 || sizes.back() % kernel != 0) refuse(operation, "the kernel does not divide the channels");
    sizes.back() /= kernel;
    sizes.insert(sizes.end(), wanted.begin(), wanted.end());
    return {make(self.dtype, std::move(sizes))};
}

constexpr Row columns(std::string_view schema) {
    return {schema, Family::copy, &columns_outputs, &streamed<&columns_outputs>,
            &gradient_streamed<&columns_outputs, 1>};
}
constexpr Row uncolumns(std::string_view schema) {
    return {schema, Family::copy, &uncolumned_outputs, &reduced<&uncolumned_outputs>,
            &gradient_streamed<&uncolumned_outputs>};
}

// Per output element: weights times neighbours. With antialiasing a kernel grows with the shrinking, which is not
// counted.
constexpr std::array rows{
    cast(f32_on_gpu, interpolation<0>(
                         "aten::upsample_nearest1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<0>("aten::upsample_nearest2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? "
                          "scales_w=None) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<0>("aten::upsample_nearest3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? "
                          "scales_h=None, float? scales_w=None) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<0>(
             "aten::upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<0>(
             "aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<0>(
             "aten::upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<0>(
             "aten::_upsample_nearest_exact1d(Tensor self, SymInt[1] output_size, float? scales=None) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<0>(
             "aten::_upsample_nearest_exact2d(Tensor self, SymInt[2] output_size, float? scales_h=None, float? "
             "scales_w=None) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<0>(
             "aten::_upsample_nearest_exact3d(Tensor self, SymInt[3] output_size, float? scales_d=None, float? "
             "scales_h=None, float? scales_w=None) -> Tensor")),
    cast(f32_on_gpu, interpolation<0>("aten::_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, "
                                      "float[]? scale_factors) -> Tensor")),
    cast(f32_on_gpu, interpolation<0>("aten::_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, "
                                      "float[]? scale_factors) -> Tensor")),
    cast(f32_on_gpu, interpolation<0>("aten::_upsample_nearest_exact3d.vec(Tensor input, SymInt[]? output_size, "
                                      "float[]? scale_factors) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<3>("aten::upsample_linear1d(Tensor self, SymInt[1] output_size, bool align_corners, float? "
                          "scales=None) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<3>(
             "aten::upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? "
             "scale_factors) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<7>("aten::upsample_bilinear2d(Tensor self, SymInt[2] output_size, bool align_corners, float? "
                          "scales_h=None, float? scales_w=None) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<7>(
             "aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? "
             "scale_factors) -> Tensor")),
    cast(f32_on_gpu, interpolation<7>(
                         "aten::_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? "
                         "scales_h=None, float? scales_w=None) -> Tensor")),
    interpolation<7>("aten::_upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
                     "float[]? scale_factors) -> Tensor"),
    cast(f32_on_gpu,
         interpolation<15>("aten::upsample_trilinear3d(Tensor self, SymInt[3] output_size, bool align_corners, float? "
                           "scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<15>("aten::upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
                           "float[]? scale_factors) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<31>("aten::upsample_bicubic2d(Tensor self, SymInt[2] output_size, bool align_corners, float? "
                           "scales_h=None, float? scales_w=None) -> Tensor")),
    cast(f32_on_gpu,
         interpolation<31>(
             "aten::upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? "
             "scale_factors) -> Tensor")),
    cast(f32_on_gpu, interpolation<31>(
                         "aten::_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? "
                         "scales_h=None, float? scales_w=None) -> Tensor")),
    interpolation<31>("aten::_upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
                      "float[]? scale_factors) -> Tensor"),
    cast(f32_or_promoted,
         sampling("aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
                  "align_corners) -> Tensor")),
    cast(f32_on_cpu,
         sampling("aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
                  "align_corners) -> Tensor")),
    cast(f32_on_cpu,
         sampling("aten::grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool "
                  "align_corners) -> Tensor")),
    affine_grid("aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor"),
    shuffle<&shuffled_outputs>("aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor"),
    shuffle<&shuffled_outputs>("aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor"),
    shuffle<&channel_shuffle_outputs>("aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor"),
    shuffle<&channel_shuffle_outputs>("aten::native_channel_shuffle(Tensor self, SymInt groups) -> Tensor"),
    columns("aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor"),
    uncolumns("aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, "
              "int[2] stride) -> Tensor"),
};

}  // namespace

std::span<const Row> resize_rows() {
    return rows;
}

}  // namespace joulecast::records
