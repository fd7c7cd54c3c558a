#pragma once

#include <vector>

#include "joulecast/model/bytes.h"
#include "joulecast/model/predictor.h"
#include "joulecast/physics/clock_curve.h"
#include "joulecast/physics/learned_clocks.h"

namespace joulecast {

// The section of a predictor file that tells how time and power follow the clocks (docs/predictor-format.md).

void put_clocks(ByteWriter& out, const ClockParameters& parameters);
/// Throws FormatError for numbers that cannot be.
ClockParameters take_clocks(ByteReader& in);

/// What the forms miss, in a section of its own behind that of the parameters.
void put_residuals(ByteWriter& out, const std::vector<ClockResidual>& residuals);
/// Throws FormatError for places and sums that cannot be.
std::vector<ClockResidual> take_residuals(ByteReader& in);

/// What trees learned of workloads, in a section of its own behind that of the parameters; since version 5.
void put_learned(ByteWriter& out, const LearnedClocks& learned);
/// Throws FormatError for weights outside 0 to 1 or above 1 together, and for trees that could not be walked.
LearnedClocks take_learned(ByteReader& in);

/// The clocks that operations were measured at, and what the units draw, behind the parameters; since version 4.
void put_over_clocks(ByteWriter& out, const OverClocks& over);
/// Throws FormatError for fewer than two clocks, clocks out of order and powers that cannot be.
OverClocks take_over_clocks(ByteReader& in, std::uint32_t version);

/// How far ratios of forecasts at two clocks are off, behind the trained clocks; since version 5.
void put_ratios(ByteWriter& out, const RatioSpread& spread);
/// Throws FormatError for what is no positive number.
RatioSpread take_ratios(ByteReader& in);

}  // namespace joulecast
