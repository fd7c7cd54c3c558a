#pragma once

#include <optional>

#include "joulecast/dataset/table_reader.h"
#include "joulecast/graph/operation.h"

namespace joulecast {

/// The ATen operation that a row of EnergAIzer's kernel lists (columns kind,
/// op, batch, m, n, k, dim, precision, other) stands for; absent for a kind or
/// op that is not known. Kernels that the list calls "unspecified" become an
/// element-wise operation that moves as many bytes. Throws FormatError at the
/// row's line for sizes that do not fit.
std::optional<Operation> energaizer_kernel(const TableReader& row);

}  // namespace joulecast
