#pragma once

#include <optional>

#include "joulecast/graph/readers/onnx_model.h"

namespace joulecast::onnx {

/// TensorProto.DataType as ours; unsigned types of more than 8 bits as the signed ones of their width, which cost the
/// same. Absent for strings, 4-bit types and unknown numbers.
std::optional<Dtype> dtype_of(std::int64_t data_type);

/// The same; throws FormatError naming the number.
Dtype required_dtype(std::int64_t data_type);

/// TensorProto: sizes and dtype, and the numbers where they are few (see most_integers). Weights are skipped.
Tensor parse_tensor(Source& source, Fields fields);

}  // namespace joulecast::onnx
