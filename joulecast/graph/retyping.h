#pragma once

#include <optional>
#include <vector>

#include "joulecast/graph/operation.h"

namespace joulecast {

// For graphs whose tensors become others: what calls are given then, and what they return.

/// The same but for a mark of training.
bool lies_alike(const TensorType& a, const TensorType& b);

/// What the call is given now: the tensor as it comes, or, where the call did not name it as it came, its type.
void arrive(TensorType& type, const TensorType& source, const TensorType& now);

/// Absent where no record tells, or the arguments cannot be right.
std::optional<std::vector<TensorType>> outputs_by_record(const Operation& operation);

}  // namespace joulecast
