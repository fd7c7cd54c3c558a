#include <array>

#include "joulecast/graph/readers/onnx_ops.h"
#include "joulecast/graph/readers/onnx_window.h"

namespace joulecast::onnx {

namespace {

constexpr std::string_view microsoft = "com.microsoft";

Operand seen_as(Call& call, const Operand& operand, Dtype dtype) {
    return call.emit("aten::view.dtype", {{"self", operand}, {"dtype", Value(dtype)}});
}

/// torch multiplies numbers of one type: the same bytes taken as signed, which costs nothing.
Operand as_signed(Call& call, const Operand& operand) {
    return operand.type.dtype == Dtype::u8 ? seen_as(call, operand, Dtype::i8) : operand;
}

Operand as_dtype(Call& call, const Operand& operand, Dtype dtype) {
    if (operand.type.dtype == dtype) return operand;
    const bool is_view = element_bytes(dtype) == element_bytes(operand.type.dtype) && !is_floating(dtype);
    if (is_view) return seen_as(call, operand, dtype);
    return call.emit("aten::to.dtype", {{"self", operand}, {"dtype", Value(dtype)}});
}

struct Limits {
    std::int64_t least;
    std::int64_t most;
};

/// Absent for the types that quantized_decomposed does not have: 8-bit floats.
std::optional<Limits> limits_of(Dtype dtype) {
    switch (dtype) {
        case Dtype::u8:
            return Limits{0, 255};
        case Dtype::i8:
            return Limits{-128, 127};
        case Dtype::i16:
            return Limits{-32768, 32767};
        case Dtype::i32:
            return Limits{-2147483648, 2147483647};
        default:
            return std::nullopt;
    }
}

void add_limits(std::vector<Given>& given, Dtype dtype) {
    const Limits limits = limits_of(dtype).value();
    given.emplace_back("quant_min", Value(limits.least));
    given.emplace_back("quant_max", Value(limits.most));
    given.emplace_back("dtype", Value(dtype));
}

/// Inputs of QuantizeLinear and DequantizeLinear: tensor, scale, zero point. One scale for all, or one for each place
/// along `axis`; absent where blocks have a scale each.
std::optional<std::string> add_scales(Call& call, std::vector<Given>& given, Dtype dtype) {
    const bool is_one = element_count(call.type(1)) == 1;
    if (!is_one && call.rank(1) != 1) return std::nullopt;
    // A missing zero point is zero.
    const auto zero_point = [&] {
        if (call.has(2)) return call.tensor(2);
        return call.emit("aten::zeros", {{"size", Value(call.type(1).sizes)}, {"dtype", Value(dtype)}});
    };
    given.emplace_back("input", call.tensor(0));
    given.emplace_back(is_one ? "scale" : "scales", call.tensor(1));
    given.emplace_back(is_one ? "zero_point" : "zero_points", zero_point());
    if (!is_one) given.emplace_back("axis", Value(call.axis(call.integer("axis", 1), call.rank(0))));
    add_limits(given, dtype);
    return is_one ? "quantize_per_tensor.tensor" : "quantize_per_channel";
}

/// Scales, or zero points, of blocks along an axis, one for each element: what quantized_decomposed does not have.
Operand of_elements(Call& call, std::size_t input) {
    Operand scales = call.tensor(input);
    if (scales.type.sizes == call.type(0).sizes || element_count(scales.type) == 1) return scales;
    const std::int64_t axis = call.axis(call.integer("axis", 1), call.rank(0));
    if (call.rank(input) == 1) {
        Sizes along(call.type(0).sizes.size(), 1);
        along[static_cast<std::size_t>(axis)] = -1;
        return call.emit("aten::reshape", {{"self", scales}, {"shape", Value(along)}});
    }
    const std::int64_t block = call.integer("block_size", 0);
    const std::int64_t size = call.type(0).sizes[static_cast<std::size_t>(axis)];
    if (block < 1 || call.rank(input) != call.rank(0)) call.refuse("its scales do not fit its block_size");
    scales = call.emit("aten::repeat_interleave.self_int",
                       {{"self", scales}, {"repeats", Value(block)}, {"dim", Value(axis)}});
    if (scales.type.sizes[static_cast<std::size_t>(axis)] != size)
        scales = call.emit("aten::slice.Tensor", {{"self", scales},
                                                  {"dim", Value(axis)},
                                                  {"start", Value(std::int64_t{0})},
                                                  {"end", Value(size)},
                                                  {"step", Value(std::int64_t{1})}});
    return scales;
}

/// Division, sum, rounding and conversion, a kernel each.
void quantize_in_parts(Call& call, Dtype dtype) {
    Operand y = call.emit("aten::div.Tensor", {{"self", call.tensor(0)}, {"other", of_elements(call, 1)}});
    if (!is_floating(dtype)) y = call.emit("aten::round", {{"self", y}});
    if (call.has(2) && !is_floating(dtype))
        y = call.emit("aten::add.Tensor", {{"self", y}, {"other", of_elements(call, 2)}});
    call.output(0, call.emit("aten::to.dtype", {{"self", y}, {"dtype", Value(dtype)}}));
}

void dequantize_in_parts(Call& call, Dtype dtype) {
    Operand x = call.emit("aten::to.dtype", {{"self", call.tensor(0)}, {"dtype", Value(dtype)}});
    if (call.has(2) && !is_floating(call.type(2).dtype))
        x = call.emit("aten::sub.Tensor", {{"self", x}, {"other", of_elements(call, 2)}});
    call.output(0, call.emit("aten::mul.Tensor", {{"self", x}, {"other", of_elements(call, 1)}}));
}

void quantize(Call& call) {
    const Dtype dtype = call.has(2) ? call.type(2).dtype : call.dtype("output_dtype", Dtype::u8);
    std::vector<Given> given;
    const auto target = limits_of(dtype) ? add_scales(call, given, dtype) : std::nullopt;
    if (!target) return quantize_in_parts(call, dtype);
    call.output(0, call.emit("quantized_decomposed::" + *target, std::move(given)));
}

void dequantize(Call& call) {
    const Dtype dtype = call.type(0).dtype;
    const Dtype result = call.type(1).dtype;
    std::vector<Given> given;
    const auto target = limits_of(dtype) ? add_scales(call, given, dtype) : std::nullopt;
    if (!target) return dequantize_in_parts(call, result);
    if (result != Dtype::f32) given.emplace_back("out_dtype", Value(result));
    call.output(0, call.emit("quantized_decomposed::de" + *target, std::move(given)));
}

struct Chosen {
    Operand quantized;
    Operand scale;
    Operand zero_point;
};

/// Scale and zero point are chosen as the network runs.
Chosen chosen(Call& call, const Operand& input, Dtype dtype) {
    constexpr double smallest_scale = 1e-6;  // decides no cost
    std::vector<Given> choice{{"input", input}, {"eps", Value(smallest_scale)}};
    add_limits(choice, dtype);
    const auto parts = call.emit_all("quantized_decomposed::choose_qparams.tensor", std::move(choice));
    std::vector<Given> given{{"input", input}, {"scale", parts.at(0)}, {"zero_point", parts.at(1)}};
    add_limits(given, dtype);
    return {call.emit("quantized_decomposed::quantize_per_tensor.tensor", std::move(given)), parts.at(0), parts.at(1)};
}

/// One element, without dimensions.
Operand as_number(Call& call, const Operand& operand, Dtype dtype) {
    const Operand number = call.emit("aten::to.dtype", {{"self", operand}, {"dtype", Value(dtype)}});
    return call.emit("aten::view", {{"self", number}, {"size", Value(Sizes{})}});
}

void dynamic_quantize(Call& call) {
    const Chosen result = chosen(call, call.tensor(0), Dtype::u8);
    call.output(0, result.quantized);
    if (call.wants(1)) call.output(1, as_number(call, result.scale, Dtype::f32));
    if (call.wants(2)) call.output(2, as_number(call, result.zero_point, Dtype::u8));
}

Operand product(Call& call, std::size_t first, std::size_t second) {
    const Operand a = as_signed(call, call.tensor(first));
    return call.emit("aten::matmul", {{"self", a}, {"other", as_signed(call, call.tensor(second))}});
}

void matmul_integer(Call& call) {
    call.output(0, as_dtype(call, product(call, 0, 1), Dtype::i32));
}

/// A and B as integers, C as floats: com.microsoft has it under two names.
void matmul_integer_to_float(Call& call) {
    Operand result = as_dtype(call, product(call, 0, 1), call.type(2).dtype);
    if (call.has(6)) result = call.emit("aten::add.Tensor", {{"self", result}, {"other", call.tensor(6)}});
    call.output(0, result);
}

void dynamic_quantize_matmul(Call& call) {
    const Operand a = call.tensor(0);
    const Operand quantized = chosen(call, a, Dtype::i8).quantized;
    const Operand b = as_signed(call, call.tensor(1));
    Operand result = call.emit("aten::matmul", {{"self", quantized}, {"other", b}});
    result = as_dtype(call, result, a.type.dtype);
    if (call.has(4)) result = call.emit("aten::add.Tensor", {{"self", result}, {"other", call.tensor(4)}});
    call.output(0, result);
}

void linear_matmul(Call& call) {
    call.output(0, as_dtype(call, product(call, 0, 3), call.has(7) ? call.type(7).dtype : Dtype::i8));
}

Operand integer_convolution(Call& call, std::size_t weight_input, std::size_t bias_input) {
    const Sizes& sizes = call.type(weight_input).sizes;
    if (sizes.size() < 3) call.refuse("its weight has less than three dimensions");
    Window window = window_of(call, Sizes(sizes.begin() + 2, sizes.end()));
    const Operand input = as_signed(call, padded(call, window, 0.0));
    const Operand weight = as_signed(call, call.tensor(weight_input));
    const auto bias = bias_input == 0 ? std::nullopt : call.optional_tensor(bias_input);
    return call.emit("aten::conv" + std::to_string(window.rank()) + "d", {{"input", input},
                                                                          {"weight", weight},
                                                                          {"bias", bias},
                                                                          {"stride", Value(window.strides)},
                                                                          {"padding", Value(window.begins)},
                                                                          {"dilation", Value(window.dilations)},
                                                                          {"groups", Value(call.integer("group", 1))}});
}

void convolution_integer(Call& call) {
    call.output(0, as_dtype(call, integer_convolution(call, 1, 0), Dtype::i32));
}

void linear_convolution(Call& call) {
    const Dtype dtype = call.has(7) ? call.type(7).dtype : call.type(0).dtype;
    call.output(0, as_dtype(call, integer_convolution(call, 3, 8), dtype));
}

/// A, its scale and zero point, then B with its own.
template <Target target>
void linear_pair(Call& call) {
    const Operand a = as_signed(call, call.tensor(0));
    const Operand result = call.emit(target.string(), {{"self", a}, {"other", as_signed(call, call.tensor(3))}});
    call.output(0, as_dtype(call, result, call.type(0).dtype));
}

/// Scale and zero point of the result, then tensor, scale and zero point of each part.
void linear_concat(Call& call) {
    Operands parts;
    for (std::size_t i = 2; i < call.input_count(); i += 3) parts.emplace_back(call.tensor(i));
    if (parts.empty()) call.refuse("it has no parts");
    const std::int64_t axis = call.axis(call.integer("axis", 1), call.rank(2));
    call.output(0, call.emit("aten::cat", {{"tensors", std::move(parts)}, {"dim", Value(axis)}}));
}

/// A (scale, zero point), B (scale, zero point), bias.
void quantized_gemm(Call& call) {
    const Operand a = as_signed(call, call.integer("transA", 0) != 0 ? call.transposed(0) : call.tensor(0));
    const Operand b = as_signed(call, call.integer("transB", 0) != 0 ? call.transposed(3) : call.tensor(3));
    const Operand result = call.emit("aten::mm", {{"self", a}, {"mat2", b}});
    const Dtype dtype = call.has(8) ? call.type(8).dtype : Dtype::f32;
    call.output(0, as_dtype(call, result, dtype));
}

void named_like_input(Call& call) {
    call.emit_named(std::vector{tensor_type(call.type(0).dtype, call.type(0).sizes)});
}

void global_average(Call& call) {
    const bool is_last = call.integer("channels_last", 0) != 0;
    const std::int64_t rank = call.rank(0);
    if (rank < 3) call.refuse("its input has no spatial dimensions");
    Sizes dims;
    for (std::int64_t d = is_last ? 1 : 2; d < rank - (is_last ? 1 : 0); ++d) dims.push_back(d);
    const Operand mean = call.emit(
        "aten::mean.dim",
        {{"self", call.tensor(0)}, {"dim", Value(dims)}, {"keepdim", Value(true)}, {"dtype", Value(Dtype::f32)}});
    call.output(0, as_dtype(call, mean, call.type(0).dtype));
}

}  // namespace

std::span<const Row> quantized_rows() {
    static constexpr std::array rows{
        Row{"QuantizeLinear", 10, &quantize},
        Row{"DequantizeLinear", 10, &dequantize},
        Row{"DynamicQuantizeLinear", 11, &dynamic_quantize},
        Row{"MatMulInteger", 10, &matmul_integer},
        Row{"QLinearMatMul", 10, &linear_matmul},
        Row{"ConvInteger", 10, &convolution_integer},
        Row{"QLinearConv", 10, &linear_convolution},
        Row{"QuantizeLinear", 1, &quantize, microsoft},
        Row{"DequantizeLinear", 1, &dequantize, microsoft},
        Row{"MatMulIntegerToFloat", 1, &matmul_integer_to_float, microsoft},
        Row{"DynamicQuantizeMatMul", 1, &dynamic_quantize_matmul, microsoft},
        Row{"QGemm", 1, &quantized_gemm, microsoft},
        Row{"QLinearAdd", 1, &linear_pair<"aten::add.Tensor">, microsoft},
        Row{"QLinearMul", 1, &linear_pair<"aten::mul.Tensor">, microsoft},
        Row{"QLinearConcat", 1, &linear_concat, microsoft},
        Row{"QLinearGlobalAveragePool", 1, &global_average, microsoft},
        Row{"QLinearSigmoid", 1, &named_like_input, microsoft, true},
        Row{"QLinearLeakyRelu", 1, &named_like_input, microsoft, true},
        Row{"QLinearSoftmax", 1, &named_like_input, microsoft, true},
    };
    return rows;
}

}  // namespace joulecast::onnx
