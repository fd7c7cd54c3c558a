#include <array>

#include "joulecast/graph/readers/onnx_ops.h"
#include "joulecast/graph/readers/onnx_window.h"

namespace joulecast::onnx {

namespace {

constexpr std::string_view microsoft = "com.microsoft";

/// torch multiplies numbers of one type: the same bytes taken as signed, which costs nothing.
Operand as_signed(Call& call, const Operand& operand) {
    if (operand.type.dtype != Dtype::u8) return operand;
    return call
        .emit_unknown("aten::view.dtype", {{"self", operand}, {"dtype", Value(Dtype::i8)}},
                      {tensor_type(Dtype::i8, operand.type.sizes)})
        .at(0);
}

Operand as_dtype(Call& call, const Operand& operand, Dtype dtype) {
    if (operand.type.dtype == dtype) return operand;
    const bool is_view = element_bytes(dtype) == element_bytes(operand.type.dtype) && !is_floating(dtype);
    if (!is_view) return call.emit("aten::to.dtype", {{"self", operand}, {"dtype", Value(dtype)}});
    return call
        .emit_unknown("aten::view.dtype", {{"self", operand}, {"dtype", Value(dtype)}},
                      {tensor_type(dtype, operand.type.sizes)})
        .at(0);
}

/// One scale for all, or one for each place along `axis`.
void quantize(Call& call) {
    const Dtype dtype = call.has(2) ? call.type(2).dtype : call.dtype("output_dtype", Dtype::u8);
    const TensorType result = tensor_type(dtype, call.type(0).sizes);
    const bool is_one = call.rank(1) == 0 || element_count(call.type(1)) == 1;
    std::vector<Given> given{{"self", call.tensor(0)}, {"scales", call.tensor(1)}};
    if (call.has(2)) given.emplace_back("zero_points", call.tensor(2));
    if (!is_one) given.emplace_back("axis", Value(call.axis(call.integer("axis", 1), call.rank(0))));
    given.emplace_back("dtype", Value(dtype));
    const char* target = is_one ? "aten::quantize_per_tensor" : "aten::quantize_per_channel";
    call.output(0, call.emit_unknown(target, std::move(given), {result}).at(0));
}

void dequantize(Call& call) {
    const TensorType result = tensor_type(call.type(1).dtype, call.type(0).sizes);
    std::vector<Given> given{{"self", call.tensor(0)}, {"scales", call.tensor(1)}};
    if (call.has(2)) given.emplace_back("zero_points", call.tensor(2));
    call.output(0, call.emit_unknown("aten::dequantize.self", std::move(given), {result}).at(0));
}

void dynamic_quantize(Call& call) {
    call.emit_named(std::vector{tensor_type(Dtype::u8, call.type(0).sizes), tensor_type(Dtype::f32, {}),
                                tensor_type(Dtype::u8, {})});
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
    const Operand quantized = call.emit_unknown("aten::quantize_per_tensor", {{"self", a}, {"dtype", Value(Dtype::i8)}},
                                                {tensor_type(Dtype::i8, a.type.sizes)})
                                  .at(0);
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
    Sizes sizes = call.type(0).sizes;
    if (sizes.size() < 3) call.refuse("its input has no spatial dimensions");
    for (std::size_t d = is_last ? 1 : 2; d < sizes.size() - (is_last ? 1 : 0); ++d) sizes[d] = 1;
    call.emit_named(std::vector{tensor_type(call.type(0).dtype, sizes)});
}

constexpr std::array rows{
    Row{"QuantizeLinear", 10, &quantize, {}, true},
    Row{"DequantizeLinear", 10, &dequantize, {}, true},
    Row{"DynamicQuantizeLinear", 11, &dynamic_quantize, {}, true},
    Row{"MatMulInteger", 10, &matmul_integer},
    Row{"QLinearMatMul", 10, &linear_matmul},
    Row{"ConvInteger", 10, &convolution_integer},
    Row{"QLinearConv", 10, &linear_convolution},
    Row{"QuantizeLinear", 1, &quantize, microsoft, true},
    Row{"DequantizeLinear", 1, &dequantize, microsoft, true},
    Row{"MatMulIntegerToFloat", 1, &matmul_integer_to_float, microsoft},
    Row{"DynamicQuantizeMatMul", 1, &dynamic_quantize_matmul, microsoft},
    Row{"QGemm", 1, &quantized_gemm, microsoft},
    Row{"QLinearAdd", 1, &linear_pair<"aten::add.Tensor">, microsoft},
    Row{"QLinearMul", 1, &linear_pair<"aten::mul.Tensor">, microsoft},
    Row{"QLinearConcat", 1, &linear_concat, microsoft},
    Row{"QLinearGlobalAveragePool", 1, &global_average, microsoft, true},
    Row{"QLinearSigmoid", 1, &named_like_input, microsoft, true},
    Row{"QLinearLeakyRelu", 1, &named_like_input, microsoft, true},
    Row{"QLinearSoftmax", 1, &named_like_input, microsoft, true},
};

}  // namespace

std::span<const Row> quantized_rows() {
    return rows;
}

}  // namespace joulecast::onnx
