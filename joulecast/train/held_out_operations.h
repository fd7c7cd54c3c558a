#pragma once

#include <span>

#include "joulecast/train/train.h"

namespace joulecast {

/// Rows as forecast by models that saw no row of their group, in the place of measurements: what networks are
/// calibrated with. Rows without a forecast are left out.
MeasuredOperations held_out_operations(std::span<const TrainingRow> rows, std::span<const HeldOutTime> held_out);

}  // namespace joulecast
