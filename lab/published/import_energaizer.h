#pragma once

#include <istream>
#include <string>

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/import.h"

namespace joulecast {

/// Reads a prepared table of EnergAIzer (ISPASS 2026 artifact, MIT), plain or
/// gzip, told apart by the header: networks measured over the clock (time_ms),
/// the kernels that they consist of (workload), or idle power over the clock
/// (idle_power_w) and voltage. docs/data.md says what becomes of each column. Throws
/// FormatError "name:line: what" for the first wrong row, and then adds
/// nothing.
Import import_energaizer(Dataset& dataset, std::istream& input, const std::string& name);

}  // namespace joulecast
