#pragma once

#include <cstddef>

#include "joulecast/learn/forest.h"
#include "joulecast/model/bytes.h"

namespace joulecast {

/// A column is one byte in a file, and one value of it says "leaf".
inline constexpr std::size_t most_forest_columns = 254;

/// A forest as it stands in a .jcp file. Preorder, so that neither children nor roots need to be written: 5 bytes a
/// node. docs/predictor-format.md.
void put(ByteWriter& out, const Forest& forest);

/// Reads one that compares columns below `columns`; throws FormatError for anything that could not be walked: what it
/// returns passes check().
Forest take_forest(ByteReader& in, std::size_t columns);

}  // namespace joulecast
