#pragma once

#include <istream>
#include <string>

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/import.h"

namespace joulecast {

/// Reads a table of NVIDIA AIConfigurator (github.com/ai-dynamo/aiconfigurator,
/// Apache-2.0) in its prepared form, plain or gzip: matrix products (columns m,
/// n, k), attention of decoders (phase) or of encoders; told apart by the
/// header. docs/data.md says what becomes of each column. Throws FormatError
/// "name:line: what" for the first wrong row, and then adds nothing.
Import import_aiconfigurator(Dataset& dataset, std::istream& input, const std::string& name);

}  // namespace joulecast
