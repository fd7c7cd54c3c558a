#pragma once

#include "joulecast/model/bytes.h"
#include "joulecast/model/fusion_rules.h"

namespace joulecast {

// The section of a predictor file that tells how an engine fuses networks (docs/predictor-format.md).

void put_fusion(ByteWriter& out, const FusionModel& fusion);
/// Throws FormatError for numbers that cannot be, and for rules and factors that are not sorted.
FusionModel take_fusion(ByteReader& in);

}  // namespace joulecast
