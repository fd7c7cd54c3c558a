#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph/graph.h"

/// Sizes and strides in the text form of operations and tensors that are expressions of symbols:
/// "aten::relu(self=f32[batch,2*sequence,64]{1,batch,2*batch*sequence})". Plain text is what signature() writes.
namespace joulecast {

struct ShapedOperation {
    Operation operation;
    /// Where the expressions stood; those of outputs do not occur.
    std::vector<SymbolicSize> symbolic;
};

/// Inverse of text_with_symbols at these values. Throws FormatError as parse_operation does, and for a symbol without a
/// value.
ShapedOperation parse_operation(std::string_view text, const SymbolValues& values);

struct ShapedType {
    TensorType type;
    /// (dimension, expression), as in GraphInput.
    std::vector<std::pair<std::int32_t, Expression>> symbolic;
    std::vector<Expression> symbolic_strides;
};

/// "f32[batch,64]". Throws FormatError, also for sizes that no memory holds.
ShapedType parse_type(std::string_view text, const SymbolValues& values);

/// The signature with expressions for the sizes and strides that `symbolic` lists; those of outputs are skipped.
std::string text_with_symbols(const Operation& operation, const std::vector<SymbolicSize>& symbolic);
std::string text_with_symbols(const TensorType& type,
                              const std::vector<std::pair<std::int32_t, Expression>>& symbolic = {},
                              const std::vector<Expression>& symbolic_strides = {});

}  // namespace joulecast
