#include <algorithm>
#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

/// Arguments of any convolution brought to one form; channels first, one batch dimension (1 where it is left out).
struct Convolution {
    const TensorType& input;
    const TensorType& weight;
    const TensorType* bias;
    bool transposed;
    bool batched;
    std::int64_t groups;
    std::size_t spatial;
    Sizes output_spatial;
};

bool is_transposed(const Operation& operation) {
    if (operation.target.ends_with("::convolution") || operation.target.ends_with("::_convolution"))
        return flag(operation, "transposed");
    return operation.target.find("transpose") != std::string::npos;
}

/// Padding on both sides together, per dimension; "same" keeps the size (stride must be 1), "valid" adds none.
Sizes both_paddings(const Operation& operation, const Sizes& reach) {
    const Value padding = argument_or_default<Value>(operation, "padding");
    if (const auto* word = std::get_if<std::string>(&padding)) {
        if (*word == "same") return reach;
        if (*word == "valid") return Sizes(reach.size(), 0);
        refuse(operation, "unknown padding");
    }
    Sizes both = spread(operation, "padding", reach.size());
    for (std::int64_t& side : both) {
        if (side < 0) refuse(operation, "a padding is negative");
        side = checked(operation, 2, side);
    }
    return both;
}

Sizes output_spatial(const Operation& operation, const Convolution& call) {
    const Sizes stride = spread(operation, "stride", call.spatial);
    const Sizes dilation = spread(operation, "dilation", call.spatial);
    Sizes reach(call.spatial);
    for (std::size_t i = 0; i < call.spatial; ++i) {
        constexpr std::int64_t largest = std::int64_t{1} << 31;
        if (std::min(stride[i], dilation[i]) < 1 || std::max(stride[i], dilation[i]) > largest) {
            refuse(operation, "stride or dilation is out of range");
        }
        if (call.weight.sizes[2 + i] < 1) refuse(operation, "the kernel has no size");
        reach[i] = checked(operation, dilation[i], call.weight.sizes[2 + i] - 1);
    }
    const Sizes padding = both_paddings(operation, reach);
    const Sizes extra = call.transposed ? spread(operation, "output_padding", call.spatial) : Sizes(call.spatial, 0);
    Sizes result(call.spatial);
    for (std::size_t i = 0; i < call.spatial; ++i) {
        // As torch demands; 0 for what is not transposed.
        if (extra[i] < 0 || extra[i] >= std::max(stride[i], dilation[i])) refuse(operation, "bad output_padding");
    }
    for (std::size_t i = 0; i < call.spatial; ++i) {
        const std::int64_t size = call.input.sizes[(call.batched ? 2 : 1) + i];
        result[i] = call.transposed ? checked(operation, size - 1, stride[i]) - padding[i] + reach[i] + extra[i] + 1
                                    : (size + padding[i] - reach[i] - 1) / stride[i] + 1;
        if (result[i] < 1 || size + padding[i] <= reach[i] * (call.transposed ? 0 : 1)) {
            refuse(operation, "the kernel is larger than the padded input");
        }
    }
    return result;
}

Convolution read(const Operation& operation) {
    const TensorType& input = tensor(operation, "input");
    const TensorType& weight = tensor(operation, "weight");
    if (rank(weight) < 3 || (rank(input) != rank(weight) && rank(input) + 1 != rank(weight))) {
        refuse(operation, "input and weight do not fit");
    }
    Convolution call{input,
                     weight,
                     optional_tensor(operation, "bias"),
                     is_transposed(operation),
                     rank(input) == rank(weight),
                     integer(operation, "groups"),
                     rank(weight) - 2,
                     {}};
    const std::int64_t channels = input.sizes[call.batched ? 1 : 0];
    const std::int64_t expected = call.transposed ? weight.sizes[0] : checked(operation, weight.sizes[1], call.groups);
    if (call.groups < 1 || channels != expected) refuse(operation, "channels of input and weight do not fit");
    call.output_spatial = output_spatial(operation, call);
    return call;
}

/// The CPU convolves small volumes in a kernel of its own that knows no channels last (use_mkldnn in Convolution.cpp).
bool is_small_volume(const Operation& operation, const Convolution& call) {
    if (call.spatial != 3 || !call.batched) return false;
    if (call.input.dtype == Dtype::f64) return true;
    const Sizes& input = call.input.sizes;
    const Sizes& weight = call.weight.sizes;
    constexpr std::int64_t small = 20480;
    const bool wide_kernel = weight[3] > 3 && weight[4] > 3;
    return input[0] == 1 && call.groups == 1 && !wide_kernel && !call.transposed &&
           product(operation, {input[1], input[2], input[3]}) <= small;
}

/// Channels last where input or weight suggest it, in the form that the kernel sees: a batch, and images where there
/// are rows (of which the input was made contiguous before).
TensorType laid_out(const Operation& operation, const Convolution& call, Sizes sizes) {
    const auto as_image = [&](Sizes shape, bool batched) {
        if (!batched) shape.insert(shape.begin(), 1);
        if (shape.size() == 3) shape.insert(shape.begin() + 2, 1);
        return shape;
    };
    const TensorType input = call.spatial == 1
                                 ? make(call.input.dtype, as_image(call.input.sizes, call.batched))
                                 : viewed(operation, call.input, as_image(call.input.sizes, call.batched));
    const TensorType weight = viewed(operation, call.weight, as_image(call.weight.sizes, true));
    const bool wants = suggests_channels_last(input) || suggests_channels_last(weight);
    const TensorType result =
        formatted(call.input.dtype, as_image(sizes, call.batched), wants && !is_small_volume(operation, call));
    return viewed(operation, result, std::move(sizes));
}

Types outputs(const Operation& operation) {
    const Convolution call = read(operation);
    Sizes sizes;
    if (call.batched) sizes.push_back(call.input.sizes[0]);
    sizes.push_back(call.transposed ? checked(operation, call.weight.sizes[1], call.groups) : call.weight.sizes[0]);
    sizes.insert(sizes.end(), call.output_spatial.begin(), call.output_spatial.end());
    return {laid_out(operation, call, std::move(sizes))};
}

/// conv_flop_count of torch.utils.flop_counter: 2 N K C/groups * kernel * (output, or transposed: input) positions.
std::int64_t flop(const Operation& operation, const Convolution& call) {
    const auto skipped = call.batched ? 2 : 1;
    const Sizes positions =
        call.transposed ? Sizes(call.input.sizes.begin() + skipped, call.input.sizes.end()) : call.output_spatial;
    const std::int64_t batch = call.batched ? call.input.sizes[0] : 1;
    const std::int64_t per_position = checked(operation, 2, product(operation, call.weight.sizes));
    return checked(operation, checked(operation, per_position, batch), product(operation, positions));
}

Counts forward(const Operation& operation) {
    const Convolution call = read(operation);
    const Types output = outputs(operation);
    return {flop(operation, call), call.bias != nullptr ? elements(output) : 0, input_bytes(operation), bytes(output)};
}

/// Implicit: rows are positions, the depth a window of one group's channels. Transposed it is the product of the
/// gradient of the convolution the other way round: positions of the input, and each spreads over a window.
MatrixProduct as_product(const Operation& operation) {
    const Convolution call = read(operation);
    const auto skipped = call.batched ? 2 : 1;
    const Sizes positions =
        call.transposed ? Sizes(call.input.sizes.begin() + skipped, call.input.sizes.end()) : call.output_spatial;
    const std::int64_t batch = call.batched ? call.input.sizes[0] : 1;
    const std::int64_t rows = checked(operation, batch, product(operation, positions));
    const Sizes& weight = call.weight.sizes;
    const std::int64_t window = product(operation, Sizes(weight.begin() + 1, weight.end()));
    const std::int64_t group = weight[0] / call.groups;
    return call.transposed ? MatrixProduct{call.groups, rows, window, group}
                           : MatrixProduct{call.groups, rows, group, window};
}

/// Each of the two gradients is a convolution of as many multiply-adds as the forward one. For a grouped weight
/// gradient torch 2.13's counter forgets to divide by the groups; here the work that is done is counted.
Counts backward(const Operation& operation) {
    const Convolution call = read(operation);
    const Types output = outputs(operation);
    Counts counts;
    counts.bytes_read = bytes(output);
    counts.bytes_written = gradient_bytes(operation);
    const std::int64_t work = flop(operation, call);
    if (call.input.requires_grad) {
        counts.flop += work;
        counts.bytes_read += byte_count(call.weight);
    }
    if (call.weight.requires_grad) {
        counts.flop += work;
        counts.bytes_read += byte_count(call.input);
    }
    if (call.bias != nullptr && call.bias->requires_grad) counts.other_flop += elements(output);
    return counts;
}

/// The input is needed for the weight's gradient, the weight for the input's.
Indices saved(const Operation& operation) {
    Indices kept;
    if (tensor(operation, "weight").requires_grad) kept.push_back(0);
    if (tensor(operation, "input").requires_grad) kept.push_back(1);
    return kept;
}

constexpr Row convolution(std::string_view schema) {
    return {schema, Family::convolution, &outputs, &forward, &backward, &saved, nullptr, &as_product};
}

constexpr std::array rows{
    cast(lowered,
         convolution("aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] "
                     "padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor")),
    cast(lowered,
         convolution("aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] "
                     "padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor")),
    cast(lowered,
         convolution(
             "aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] "
             "padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor")),
    cast(lowered,
         convolution("aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], str "
                     "padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor")),
    cast(
        lowered,
        convolution("aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], str "
                    "padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor")),
    cast(lowered,
         convolution(
             "aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], str "
             "padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor")),
    cast(lowered_on_gpu,
         convolution("aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
                     "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor")),
    cast(lowered,
         convolution(
             "aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] "
             "padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]) -> Tensor")),
    cast(lowered,
         convolution(
             "aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], "
             "SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, SymInt[2] dilation=[1, "
             "1]) -> Tensor")),
    cast(lowered,
         convolution(
             "aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, "
             "1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, SymInt[3] "
             "dilation=[1, 1, 1]) -> Tensor")),
    cast(lowered_on_gpu,
         convolution("aten::_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, "
                     "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, bool "
                     "deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor")),
};

}  // namespace

std::span<const Row> convolution_rows() {
    return rows;
}

}  // namespace joulecast::records
