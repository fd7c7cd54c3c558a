#pragma once

#include <functional>
#include <string>
#include <variant>

#include "joulecast/dataset/table_reader.h"
#include "joulecast/graph/operation.h"

namespace joulecast {

/// An operation, or why a row is none that we know.
using RowMeaning = std::variant<Operation, std::string>;

/// The operation that a row tells of, in its canonical form. What its record
/// refuses (sizes that do not fit or that no tensor has) is the table's
/// mistake: FormatError at its line. `build` itself does not call row.fail().
Operation operation_of(const TableReader& row, const std::function<Operation()>& build);

}  // namespace joulecast
