#pragma once

#include <span>
#include <string>

#include "joulecast/dataset/dataset.h"

namespace joulecast {

/// What is left out of all learning: the first of these rows, why, and how many more. As the end of "joulecast: ":
/// "operation 5 of the database cannot be right, and nothing learns from it (aten::relu(...)): time is 1e+308 s, not
/// from 1 ns to a day". Empty where all can be right.
std::string suspect_rows(std::span<const OperationRow> operations, std::span<const NetworkRow> networks = {},
                         std::span<const ReferenceRow> references = {});

}  // namespace joulecast
