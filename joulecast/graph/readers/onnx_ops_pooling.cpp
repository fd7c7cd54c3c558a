#include <algorithm>
#include <array>
#include <cmath>

#include "joulecast/graph/readers/onnx_ops.h"
#include "joulecast/graph/readers/onnx_window.h"

namespace joulecast::onnx {

namespace {

std::string dimensioned(const char* before, std::size_t rank, const char* after) {
    return before + std::to_string(rank) + after;
}

void max_pool(Call& call) {
    Window window = window_of(call);
    const Operand input = padded(call, window, -HUGE_VAL);
    const bool with_indices = call.wants(1);
    const std::vector<Operand> results =
        call.emit_all(dimensioned("aten::max_pool", window.rank(), with_indices ? "d_with_indices" : "d"),
                      {{"self", input},
                       {"kernel_size", Value(window.kernel)},
                       {"stride", Value(window.strides)},
                       {"padding", Value(window.begins)},
                       {"dilation", Value(window.dilations)},
                       {"ceil_mode", Value(call.integer("ceil_mode", 0) != 0)}});
    for (std::size_t i = 0; i < results.size(); ++i) call.output(i, results[i]);
}

bool is_dilated(const Window& window) {
    return std::ranges::any_of(window.dilations, [](std::int64_t dilation) { return dilation != 1; });
}

/// The windows of a pooling that torch does not have as views: [batch, channels, places ..., elements ...]. Padded with
/// what ceil_mode looks at beyond the end.
Operand windows_of(Call& call, const Window& window) {
    const std::size_t rank = window.rank();
    Sizes pad;
    Sizes span(rank);
    for (std::size_t i = rank; i-- > 0;) {
        span[i] = (window.kernel[i] - 1) * window.dilations[i] + 1;
        const std::int64_t padded_size = call.type(0).sizes[i + 2] + window.begins[i] + window.ends[i];
        const std::int64_t rest = padded_size < span[i] ? 0 : (padded_size - span[i]) % window.strides[i];
        // A window that begins in the padding behind the input is left out.
        const std::int64_t next = padded_size - span[i] - rest + window.strides[i];
        const bool is_more =
            call.integer("ceil_mode", 0) != 0 && rest != 0 && next < call.type(0).sizes[i + 2] + window.begins[i];
        pad.push_back(window.begins[i]);
        pad.push_back(window.ends[i] + (is_more ? window.strides[i] - rest : 0));
    }
    Operand x = call.tensor(0);
    if (std::ranges::any_of(pad, [](std::int64_t number) { return number != 0; }))
        x = call.emit("aten::constant_pad_nd", {{"self", x}, {"pad", Value(pad)}});
    for (std::size_t i = 0; i < rank; ++i) {
        x = call.emit("aten::unfold", {{"self", x},
                                       {"dimension", Value(static_cast<std::int64_t>(i + 2))},
                                       {"size", Value(span[i])},
                                       {"step", Value(window.strides[i])}});
        x = call.emit("aten::slice.Tensor", {{"self", x},
                                             {"dim", Value(std::ssize(x.type.sizes) - 1)},
                                             {"start", Value(std::int64_t{0})},
                                             {"end", Value(span[i])},
                                             {"step", Value(window.dilations[i])}});
    }
    return x;
}

Sizes dimensions_of_elements(const Window& window) {
    Sizes dims;
    for (std::size_t i = 0; i < window.rank(); ++i) dims.push_back(static_cast<std::int64_t>(2 + window.rank() + i));
    return dims;
}

void average_pool(Call& call) {
    Window window = window_of(call);
    // Whether the padding counts only decides what is divided by.
    if (is_dilated(window))
        return call.output(0, call.emit("aten::mean.dim", {{"self", windows_of(call, window)},
                                                           {"dim", Value(dimensions_of_elements(window))}}));
    const Operand input = padded(call, window, 0.0);
    call.output(0, call.emit(dimensioned("aten::avg_pool", window.rank(), "d"),
                             {{"self", input},
                              {"kernel_size", Value(window.kernel)},
                              {"stride", Value(window.strides)},
                              {"padding", Value(window.begins)},
                              {"ceil_mode", Value(call.integer("ceil_mode", 0) != 0)},
                              {"count_include_pad", Value(call.integer("count_include_pad", 0) != 0)}}));
}

void global_average_pool(Call& call) {
    const std::int64_t rank = call.rank(0) - 2;
    if (rank < 1 || rank > 3) call.refuse("its input has no spatial dimensions");
    call.output(
        0, call.emit(dimensioned("aten::adaptive_avg_pool", static_cast<std::size_t>(rank), "d"),
                     {{"self", call.tensor(0)}, {"output_size", Value(Sizes(static_cast<std::size_t>(rank), 1))}}));
}

void global_max_pool(Call& call) {
    Sizes dims;
    for (std::int64_t d = 2; d < call.rank(0); ++d) dims.push_back(d);
    call.output(0, call.emit("aten::amax", {{"self", call.tensor(0)}, {"dim", Value(dims)}, {"keepdim", Value(true)}}));
}

/// The p-th root of the sum of p-th powers: torch takes the mean and multiplies.
void norm_pool(Call& call) {
    Window window = window_of(call);
    if (is_dilated(window))
        return call.output(
            0, call.emit("aten::linalg_vector_norm", {{"self", windows_of(call, window)},
                                                      {"ord", Value(static_cast<double>(call.integer("p", 2)))},
                                                      {"dim", Value(dimensions_of_elements(window))}}));
    double elements = 1.0;
    for (const std::int64_t size : window.kernel) elements *= static_cast<double>(size);
    const auto p = static_cast<double>(call.integer("p", 2));
    Operand y = padded(call, window, 0.0);
    y = call.emit("aten::pow.Tensor_Scalar", {{"self", y}, {"exponent", Value(p)}});
    y = call.emit(dimensioned("aten::avg_pool", window.rank(), "d"),
                  {{"self", y},
                   {"kernel_size", Value(window.kernel)},
                   {"stride", Value(window.strides)},
                   {"padding", Value(window.begins)},
                   {"ceil_mode", Value(call.integer("ceil_mode", 0) != 0)}});
    y = call.emit("aten::mul.Tensor", {{"self", y}, {"other", Value(elements)}});
    call.output(0, call.emit("aten::pow.Tensor_Scalar", {{"self", y}, {"exponent", Value(p == 0.0 ? 1.0 : 1.0 / p)}}));
}

void global_norm_pool(Call& call) {
    Sizes dims;
    for (std::int64_t d = 2; d < call.rank(0); ++d) dims.push_back(d);
    call.output(0, call.emit("aten::linalg_vector_norm", {{"self", call.tensor(0)},
                                                          {"ord", Value(static_cast<double>(call.integer("p", 2)))},
                                                          {"dim", Value(dims)},
                                                          {"keepdim", Value(true)}}));
}

}  // namespace

std::span<const Row> pooling_rows() {
    static constexpr std::array rows{
        Row{"MaxPool", 1, &max_pool},
        Row{"AveragePool", 1, &average_pool},
        Row{"GlobalAveragePool", 1, &global_average_pool},
        Row{"GlobalMaxPool", 1, &global_max_pool},
        Row{"LpPool", 1, &norm_pool},
        Row{"GlobalLpPool", 1, &global_norm_pool},
    };
    return rows;
}

}  // namespace joulecast::onnx
