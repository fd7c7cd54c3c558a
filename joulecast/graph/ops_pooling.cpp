#include <algorithm>
#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// Channels last stays, but in averages over volumes. Rows are averaged as images of one row: transposed ones too.
TensorType pooled(const Operation& operation, const TensorType& self, Dtype dtype, Sizes sizes) {
    const bool is_average = operation.target.find("avg_pool") != std::string::npos;
    const bool is_adaptive = operation.target.starts_with("aten::adaptive");
    if (is_average && operation.target.find("pool3d") != std::string::npos) return make(dtype, std::move(sizes));
    const bool is_row = operation.target.find("pool1d") != std::string::npos && rank(self) == 3;
    if (!is_row) return formatted(dtype, std::move(sizes), suggests_channels_last(self));
    const Sizes image{self.sizes[0], self.sizes[1], 1, self.sizes[2]};
    if (!(is_average || is_adaptive) || !suggests_channels_last(viewed(operation, self, image))) {
        return make(dtype, std::move(sizes));
    }
    const TensorType result = formatted(dtype, {sizes[0], sizes[1], 1, sizes[2]}, true);
    return viewed(operation, result, std::move(sizes));
}

std::size_t spatial_dimensions(const Operation& operation) {
    const std::size_t at = operation.target.find("pool");
    const std::size_t digit = at == std::string::npos ? std::string::npos : at + 4;
    if (digit >= operation.target.size()) refuse(operation, "unknown pooling");
    return static_cast<std::size_t>(operation.target[digit] - '0');
}

/// Windows along one dimension; with ceil_mode a last one may hang over, but must start inside input or left padding.
std::int64_t windows(const Operation& operation, std::int64_t size, std::int64_t reach, std::int64_t padding,
                     std::int64_t stride, bool ceil_mode) {
    const std::int64_t room = size + checked(operation, 2, padding) - reach - 1;
    if (room < 0) refuse(operation, "the kernel is larger than the padded input");
    std::int64_t count = room / stride + 1;
    if (ceil_mode && room % stride != 0 && count * stride < size + padding) ++count;
    return count;
}

Sizes window(const Operation& operation) {
    return spread(operation, "kernel_size", spatial_dimensions(operation));
}

Sizes windowed_sizes(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t spatial = spatial_dimensions(operation);
    if (rank(self) < spatial + 1 || rank(self) > spatial + 2) refuse(operation, "input has a wrong number of sizes");
    const Sizes kernel = window(operation);
    const bool stride_left_out = integers(operation, "stride").empty();
    const Sizes stride = stride_left_out ? kernel : spread(operation, "stride", spatial);
    const Sizes padding = spread(operation, "padding", spatial);
    const bool is_max = operation.target.find("max_pool") != std::string::npos;
    const Sizes dilation = is_max ? spread(operation, "dilation", spatial) : Sizes(spatial, 1);
    Sizes sizes = self.sizes;
    for (std::size_t i = 0; i < spatial; ++i) {
        constexpr std::int64_t largest = std::int64_t{1} << 31;
        for (const std::int64_t number : {kernel[i], stride[i], dilation[i]}) {
            if (number < 1 || number > largest) refuse(operation, "kernel, stride or dilation out of range");
        }
        if (padding[i] < 0 || padding[i] > largest) refuse(operation, "the padding is out of range");
        std::int64_t& size = sizes[rank(self) - spatial + i];
        size = windows(operation, size, dilation[i] * (kernel[i] - 1), padding[i], stride[i],
                       flag(operation, "ceil_mode"));
    }
    return sizes;
}

Types windowed_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    return {pooled(operation, self, self.dtype, windowed_sizes(operation))};
}

/// Values and where each came from.
Types windowed_with_indices(const Operation& operation) {
    const TensorType& self = first(operation);
    return {pooled(operation, self, self.dtype, windowed_sizes(operation)),
            pooled(operation, self, Dtype::i64, windowed_sizes(operation))};
}

Types adaptive_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t spatial = spatial_dimensions(operation);
    if (rank(self) < spatial + 1 || rank(self) > spatial + 2) refuse(operation, "input has a wrong number of sizes");
    const Sizes wanted = spread(operation, "output_size", spatial);
    Sizes sizes = self.sizes;
    for (std::size_t i = 0; i < spatial; ++i) {
        if (wanted[i] < 0) refuse(operation, "an output size is negative");
        sizes[rank(self) - spatial + i] = wanted[i];
    }
    return {pooled(operation, self, self.dtype, std::move(sizes))};
}

Types adaptive_with_indices(const Operation& operation) {
    TensorType values = adaptive_outputs(operation).front();
    TensorType indices = values;
    indices.dtype = Dtype::i64;
    return {values, indices};
}

/// One comparison or addition per element of each window; training also writes where the maxima were.
Counts windowed_forward(const Operation& operation) {
    const Types output = windowed_outputs(operation);
    const std::int64_t per_output = product(operation, window(operation));
    return {0, checked(operation, per_output, elements(output)), input_bytes(operation), bytes(output)};
}

std::int64_t index_bytes(const Operation& operation) {
    if (!first(operation).requires_grad) return 0;
    return checked(operation, element_bytes(Dtype::i64), elements(windowed_outputs(operation)));
}

Counts max_forward(const Operation& operation) {
    Counts counts = windowed_forward(operation);
    counts.bytes_written += index_bytes(operation);
    return counts;
}

Counts max_backward(const Operation& operation) {
    const Types output = windowed_outputs(operation);
    return {0, elements(output), bytes(output) + index_bytes(operation), gradient_bytes(operation)};
}

Counts average_backward(const Operation& operation) {
    Counts counts = windowed_forward(operation);
    counts.bytes_read = bytes(windowed_outputs(operation));
    counts.bytes_written = gradient_bytes(operation);
    return counts;
}

/// One average per channel is computed as a mean, which keeps nothing.
Indices adaptive_saved(const Operation& operation) {
    const Sizes wanted = integers(operation, "output_size");
    const bool is_mean = std::all_of(wanted.begin(), wanted.end(), [](auto size) { return size == 1; });
    return is_mean && operation.target.starts_with("aten::adaptive_avg") ? Indices{} : Indices{0};
}

/// Windows that lie at random, as many as the output has elements.
Types fractional_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t spatial = spatial_dimensions(operation);
    if (rank(self) < spatial + 1 || rank(self) > spatial + 2) refuse(operation, "input has a wrong number of sizes");
    const Sizes kernel = window(operation);
    const Sizes wanted = spread(operation, "output_size", spatial);
    Sizes sizes = self.sizes;
    for (std::size_t i = 0; i < spatial; ++i) {
        std::int64_t& size = sizes[rank(self) - spatial + i];
        if (kernel[i] < 1 || wanted[i] < 1 || kernel[i] > size || wanted[i] > size) {
            refuse(operation, "kernel or output size does not fit");
        }
        size = wanted[i];
    }
    return {make(self.dtype, sizes), make(Dtype::i64, sizes)};
}

Counts fractional_forward(const Operation& operation) {
    const Types output = fractional_outputs(operation);
    const std::int64_t per_output = product(operation, window(operation));
    return {0, checked(operation, per_output, element_count(output.front())), input_bytes(operation), bytes(output)};
}

/// The maxima put back where they came from, zeros elsewhere.
Types unpooled_outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    const std::size_t at = operation.target.find("pool") + 4;
    const auto spatial = static_cast<std::size_t>(operation.target[at] - '0');
    if (rank(self) < spatial + 1 || rank(self) > spatial + 2) refuse(operation, "input has a wrong number of sizes");
    const Sizes wanted = spread(operation, "output_size", spatial);
    Sizes sizes = self.sizes;
    std::copy(wanted.begin(), wanted.end(), sizes.end() - static_cast<std::ptrdiff_t>(spatial));
    product(operation, sizes);
    return {make(self.dtype, std::move(sizes))};
}

/// The indices: input 1.
Indices saves_second(const Operation& /*operation*/) {
    return {1};
}

constexpr Row max_pool(std::string_view schema) {
    return {schema, Family::pooling, &windowed_outputs, &max_forward, &max_backward, &saves_first, &index_bytes};
}
constexpr Row max_pool_with_indices(std::string_view schema) {
    return {schema,
            Family::pooling,
            &windowed_with_indices,
            &streamed<&windowed_with_indices>,
            &gradient_streamed<&windowed_with_indices, 1>,
            &saves_first};
}
constexpr Row average_pool(std::string_view schema) {
    return {schema, Family::pooling, &windowed_outputs, &windowed_forward, &average_backward, &saves_first};
}
template <auto Outputs>
constexpr Row adaptive(std::string_view schema) {
    return {schema, Family::pooling, Outputs, &reduced<Outputs>, &gradient_streamed<Outputs, 1>, &adaptive_saved};
}
constexpr Row fractional(std::string_view schema) {
    return {schema,
            Family::pooling,
            &fractional_outputs,
            &fractional_forward,
            &gradient_streamed<&fractional_outputs, 1>,
            &saves_first};
}
constexpr Row unpool(std::string_view schema) {
    return {schema,
            Family::pooling,
            &unpooled_outputs,
            &streamed<&unpooled_outputs>,
            &gradient_streamed<&unpooled_outputs>,
            &saves_second};
}

constexpr std::array rows{
    max_pool("aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] "
             "dilation=[1], bool ceil_mode=False) -> Tensor"),
    max_pool("aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, "
             "bool ceil_mode=False) -> Tensor"),
    cast(f32_on_cpu,
         max_pool(
             "aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, "
             "bool ceil_mode=False) -> Tensor")),
    max_pool_with_indices("aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] "
                          "padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"),
    average_pool("aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool "
                 "ceil_mode=False, bool count_include_pad=True) -> Tensor"),
    average_pool("aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool "
                 "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"),
    cast(f32_on_cpu,
         average_pool("aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool "
                      "ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor")),
    adaptive<&adaptive_outputs>("aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor"),
    adaptive<&adaptive_outputs>("aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"),
    cast(f32_on_cpu,
         adaptive<&adaptive_outputs>("aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor")),
    adaptive<&adaptive_with_indices>("aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)"),
    adaptive<&adaptive_with_indices>("aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)"),
    max_pool_with_indices("aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] "
                          "padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)"),
    max_pool_with_indices("aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] "
                          "padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"),
    adaptive<&adaptive_outputs>("aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"),
    adaptive<&adaptive_outputs>("aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor"),
    cast(f32_on_cpu, adaptive<&adaptive_with_indices>(
                         "aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)")),
    cast(f32_on_cpu,
         fractional("aten::fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor "
                    "random_samples) -> (Tensor, Tensor)")),
    cast(f32_on_cpu,
         fractional("aten::fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor "
                    "random_samples) -> (Tensor, Tensor)")),
    cast(f32_on_cpu, unpool("aten::max_unpool2d(Tensor self, Tensor indices, SymInt[2] output_size) -> Tensor")),
    cast(f32_on_cpu,
         unpool(
             "aten::max_unpool3d(Tensor self, Tensor indices, SymInt[3] output_size, int[3] stride, int[3] padding) -> "
             "Tensor")),
};

}  // namespace

std::span<const Row> pooling_rows() {
    return rows;
}

}  // namespace joulecast::records
