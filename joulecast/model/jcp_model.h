#pragma once

#include <cstddef>

#include "joulecast/learn/model.h"
#include "joulecast/model/bytes.h"

namespace joulecast {

/// A learned model as it stands in a .jcp file: a byte for its kind, then its numbers. docs/predictor-format.md.
void put(ByteWriter& out, const Model& model);

/// Reads one that takes rows of `columns` values; throws FormatError for anything that cannot be asked safely.
Model take_model(ByteReader& in, std::size_t columns);

}  // namespace joulecast
