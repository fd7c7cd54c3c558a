#pragma once

#include <cstdint>
#include <optional>

#include "joulecast/graph/operation.h"

namespace joulecast {

/// The leading size that the tensors of a call share and its weights do not have: in most networks the batch, or the
/// batch times what was flattened into it. Absent where none of its tensors has such a size or it is 0, and for calls
/// whose work it does not decide: lookups in a table by a list of indices, and what creates tensors.
std::optional<std::int64_t> batch_of(const Operation& operation);

/// The same call for another batch: its tensors with that leading size, dense where they were dense. Only of a call
/// that has a batch.
Operation with_batch(Operation operation, std::int64_t batch);

}  // namespace joulecast
