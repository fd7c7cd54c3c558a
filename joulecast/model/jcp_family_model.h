#pragma once

#include <cstddef>
#include <cstdint>

#include "joulecast/model/bytes.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

/// The model of one family and metric as it stands in a .jcp file. docs/predictor-format.md.
void put(ByteWriter& out, const FamilyModel& model);

/// Reads one over `columns` features from a file of that version; throws FormatError for one that cannot be.
FamilyModel take_family_model(ByteReader& in, std::size_t columns, std::uint32_t version);

}  // namespace joulecast
