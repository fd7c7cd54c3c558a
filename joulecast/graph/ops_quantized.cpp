// Numbers as small integers with a scale and a zero point, in the vocabulary that torch.export gives out for quantized
// networks: quantized_decomposed has them as plain u8 and i8 tensors, with scale and zero point as arguments of their
// own (torch/ao/quantization/fx/_decomposed.py). aten::quantize_per_tensor hides them in types that are no tensor's.

#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

Types as_first(const Operation& operation, Dtype dtype) {
    Types types = same_as_first(operation);
    types.front().dtype = dtype;
    return types;
}

void require_one(const Operation& operation, std::string_view name) {
    const Value value = argument_or_default<Value>(operation, name);
    const auto* const argument = std::get_if<TensorType>(&value);
    if (argument != nullptr && element_count(*argument) != 1)
        refuse(operation, std::string(name) + " has more than one element");
}

/// One scale for each place along `axis`.
void require_one_each(const Operation& operation) {
    const TensorType& input = first(operation);
    const std::int64_t places = input.sizes.empty() ? 1 : input.sizes[dimension_argument(operation, input, "axis")];
    if (element_count(tensor(operation, "scales")) != places)
        refuse(operation, "scales has not one element for each place along axis");
}

void require_scales(const Operation& operation) {
    const bool is_per_channel = operation.target.find("per_channel") != std::string::npos;
    if (is_per_channel) return require_one_each(operation);
    require_one(operation, "scale");
    require_one(operation, "zero_point");
}

Types quantized_outputs(const Operation& operation) {
    require_scales(operation);
    const auto dtype = optional_dtype(operation, "dtype");
    if (!dtype) refuse(operation, "dtype is missing");
    return as_first(operation, *dtype);
}

/// f32 unless told otherwise; `dtype` is that of the integers.
Types dequantized_outputs(const Operation& operation) {
    require_scales(operation);
    return as_first(operation, optional_dtype(operation, "out_dtype").value_or(Dtype::f32));
}

/// Scale and zero point, for which the smallest and the largest number are looked up.
Types chosen_outputs(const Operation&) {
    return {make(Dtype::f64, {1}), make(Dtype::i64, {1})};
}

/// Scaled, rounded, shifted, and held between two limits: five. No gradient goes through rounding.
constexpr Row quantizing(std::string_view schema) {
    return {schema, Family::elementwise, &quantized_outputs, &streamed<&quantized_outputs, 5>};
}
/// Shifted and scaled.
constexpr Row dequantizing(std::string_view schema) {
    return {schema, Family::elementwise, &dequantized_outputs, &streamed<&dequantized_outputs, 2>};
}

constexpr std::array rows{
    quantizing("quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
               "int quant_max, ScalarType dtype) -> Tensor"),
    quantizing("quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, "
               "int quant_min, int quant_max, ScalarType dtype) -> Tensor"),
    quantizing("quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, "
               "int quant_min, int quant_max, ScalarType dtype) -> Tensor"),
    dequantizing("quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, "
                 "int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"),
    dequantizing("quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, "
                 "int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"),
    dequantizing("quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, "
                 "int axis, int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor"),
    Row{"quantized_decomposed::choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, "
        "ScalarType dtype) -> (Tensor, Tensor)",
        Family::reduction, &chosen_outputs, &reduced<&chosen_outputs, 2>},
};

}  // namespace

std::span<const Row> quantized_rows() {
    return rows;
}

}  // namespace joulecast::records
