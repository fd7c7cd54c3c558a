#pragma once

#include <chrono>

#include "joulecast/measure/measurement.h"

namespace joulecast {

/// How long a worker may take to answer before it counts as hung. Generous: a slow board on its first request, and
/// calls that take twenty times as long as the data sheet would have them, must not be taken for a hang.
/// `call_s`: one call by the roofline.
std::chrono::milliseconds patience(const MeasureSettings& settings, double call_s, bool network);
/// So much longer for each answer, as for a worker that tunes before it measures; not more than a day in all.
std::chrono::milliseconds longer_patience(std::chrono::milliseconds patience, double more_s);
/// The same for preparing: calibration and soak.
std::chrono::milliseconds preparing_patience();

}  // namespace joulecast
