#include <array>

#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast::records {

namespace {

Types outputs(const Operation& operation) {
    const TensorType& self = first(operation);
    dimension(operation, integer(operation, "dim"), rank(self));
    const Record* record = find_record(operation.target);
    const bool has_dtype = record->parameters.back().name == "dtype";
    const auto dtype = has_dtype ? optional_dtype(operation, "dtype") : std::nullopt;
    return {make(dtype.value_or(self.dtype), self.sizes)};
}

/// Maximum, subtraction, exponential, sum, division (or logarithm and subtraction).
constexpr Row softmax(std::string_view schema) {
    return {schema,       Family::softmax, &outputs, &streamed<&outputs, 5>, &gradient_with_saved<&outputs, 4>,
            &saves_output};
}

constexpr std::array rows{
    cast(f32_result_on_gpu, softmax("aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")),
    cast(f32_result_on_gpu, softmax("aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")),
    softmax("aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor"),
    softmax("aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor"),
};

}  // namespace

std::span<const Row> softmax_rows() {
    return rows;
}

}  // namespace joulecast::records
