#pragma once

#include "joulecast/physics/clock_curve.h"
#include "joulecast/predict/bytes.h"

namespace joulecast {

// The section of a predictor file that tells how time and power follow the clocks (docs/predictor-format.md).

void put_clocks(ByteWriter& out, const ClockParameters& parameters);
/// Throws FormatError for numbers that cannot be.
ClockParameters take_clocks(ByteReader& in);

}  // namespace joulecast
