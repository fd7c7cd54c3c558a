#pragma once

#include <functional>

#include "joulecast/dataset/table_reader.h"
#include "joulecast/graph/operation.h"

namespace joulecast {

/// The operation that a row tells of, in its canonical form. What its record
/// refuses (sizes that do not fit or that no tensor has) is the table's
/// mistake: FormatError at its line. `build` itself does not call row.fail().
Operation operation_of(const TableReader& row, const std::function<Operation()>& build);

}  // namespace joulecast
