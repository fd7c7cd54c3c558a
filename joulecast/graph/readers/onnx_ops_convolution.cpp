#include <algorithm>
#include <array>

#include "joulecast/graph/readers/onnx_ops.h"
#include "joulecast/graph/readers/onnx_window.h"

namespace joulecast::onnx {

namespace {

/// Sizes of a weight's kernel: all but its first two dimensions.
Sizes kernel_of(const Call& call) {
    const Sizes& weight = call.type(1).sizes;
    if (weight.size() < 3) call.refuse("its weight has less than three dimensions");
    return {weight.begin() + 2, weight.end()};
}

void convolution(Call& call) {
    Window window = window_of(call, kernel_of(call));
    const Operand input = padded(call, window, 0.0);
    const std::string target = "aten::conv" + std::to_string(window.rank()) + "d";
    call.output(0, call.emit(target, {{"input", input},
                                      {"weight", call.tensor(1)},
                                      {"bias", call.optional_tensor(2)},
                                      {"stride", Value(window.strides)},
                                      {"padding", Value(window.begins)},
                                      {"dilation", Value(window.dilations)},
                                      {"groups", Value(call.integer("group", 1))}}));
}

/// Padding of a transposed convolution cuts its output: output_shape and SAME say how long that is to be.
void set_output_sizes(const Call& call, Window& window, Sizes& output_padding) {
    const std::string mode = call.text("auto_pad", "NOTSET");
    const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    const Sizes asked = call.list("output_shape", {});
    if (asked.empty() && !same) return;
    if (!asked.empty() && asked.size() < window.rank()) call.refuse("output_shape has too few numbers");
    constexpr std::int64_t largest = std::int64_t{1} << 40;
    for (const std::int64_t number : asked)
        if (number < 0 || number > largest) call.refuse("output_shape has a number below 0 or beyond 2^40");
    for (std::size_t i = 0; i < window.rank(); ++i) {
        const std::int64_t size = call.type(0).sizes[i + 2];
        const std::int64_t wanted = asked.empty() ? size * window.strides[i] : asked[asked.size() - window.rank() + i];
        const std::int64_t full =
            (size - 1) * window.strides[i] + output_padding[i] + (window.kernel[i] - 1) * window.dilations[i] + 1;
        const std::int64_t total = std::max<std::int64_t>(0, full - wanted);
        output_padding[i] += std::max<std::int64_t>(0, wanted - full);
        window.begins[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
        window.ends[i] = total - window.begins[i];
    }
}

void transposed_convolution(Call& call) {
    Window window = window_of(call, kernel_of(call));
    Sizes output_padding = call.list("output_padding", Sizes(window.rank(), 0));
    if (output_padding.size() != window.rank()) call.refuse("output_padding does not fit the kernel");
    for (std::size_t i = 0; i < window.rank(); ++i)
        if (output_padding[i] < 0 || output_padding[i] >= std::max(window.strides[i], window.dilations[i]))
            call.refuse("output_padding must be less than stride or dilation");
    set_output_sizes(call, window, output_padding);
    Sizes padding(window.rank());
    for (std::size_t i = 0; i < padding.size(); ++i) padding[i] = std::min(window.begins[i], window.ends[i]);
    const std::string target =
        "aten::conv_transpose" + std::to_string(window.rank()) + (window.rank() == 1 ? "d" : "d.input");
    Operand result = call.emit(target, {{"input", call.tensor(0)},
                                        {"weight", call.tensor(1)},
                                        {"bias", call.optional_tensor(2)},
                                        {"stride", Value(window.strides)},
                                        {"padding", Value(padding)},
                                        {"output_padding", Value(output_padding)},
                                        {"groups", Value(call.integer("group", 1))},
                                        {"dilation", Value(window.dilations)}});
    // What one side is padded more is cut off afterwards.
    for (std::size_t i = 0; i < padding.size(); ++i) {
        const std::int64_t start = window.begins[i] - padding[i];
        const std::int64_t end = result.type.sizes[i + 2] - (window.ends[i] - padding[i]);
        if (start == 0 && end == result.type.sizes[i + 2]) continue;
        result = call.emit("aten::slice.Tensor", {{"self", result},
                                                  {"dim", Value(static_cast<std::int64_t>(i + 2))},
                                                  {"start", Value(start)},
                                                  {"end", Value(end)}});
    }
    call.output(0, result);
}

}  // namespace

std::span<const Row> convolution_rows() {
    static constexpr std::array rows{
        Row{"Conv", 1, &convolution},
        Row{"ConvTranspose", 1, &transposed_convolution},
    };
    return rows;
}

}  // namespace joulecast::onnx
