#pragma once

#include <istream>
#include <string>

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/import.h"

namespace joulecast {

/// Reads a table of the measurements behind NeuSight (Lee et al., ASPLOS 2025): matrix products, element-wise
/// operations, convolutions, whole networks, or the nodes of one, told apart by the header. docs/data.md maps every
/// column. Throws FormatError "name:line: what" for a header or line that cannot be such a table's, and then adds
/// nothing.
Import import_neusight(Dataset& dataset, std::istream& input, const std::string& name);

}  // namespace joulecast
