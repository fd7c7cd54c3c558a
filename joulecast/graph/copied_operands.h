#pragma once

#include <vector>

#include "joulecast/graph/operation.h"

namespace joulecast {

struct CopiedOperand {
    const TensorType* from = nullptr;  ///< of the operation
    TensorType copy;
};

/// Operands of a product of matrices that torch hands to its kernel as copies, since their dimensions cannot be brought
/// to two, or with those of the other operand to one batch and two, as they lie: of aten::linear and of matmul. Throws
/// FormatError for what is no product that can be.
std::vector<CopiedOperand> copied_operands(const Operation& product);

}  // namespace joulecast
