#pragma once

#include <istream>
#include <string>

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/import.h"

namespace joulecast {

/// Reads the profile of a transformer layer's operations that comes with Vidur (Agrawal et al., MLSys 2024): float16,
/// the layer's shapes follow from the model's sizes and the tensor parallel degree. docs/data.md maps every column.
/// Throws FormatError "name:line: what" for a header or line that cannot be such a table's, and then adds nothing.
Import import_vidur(Dataset& dataset, std::istream& input, const std::string& name);

}  // namespace joulecast
