#pragma once

#include <span>

#include "joulecast/train/rows_over_clocks.h"
#include "joulecast/train/train.h"

namespace joulecast {

// What a model over clocks (over_clocks.h) takes from rows at several clocks before its forests.

/// For rows at several clocks the frame with `over_clocks`, with the highest clocks as its point, and with `clocks`:
/// idle power as measured beside the rows, voltage and bandwidth over the clock fitted to operations and networks that
/// were measured at two clocks or more, else by architecture. For rows at one clock the frame as it is.
DeviceModel frame_over_clocks(DeviceModel frame, std::span<const TrainingRow> rows,
                              std::span<const TrainingNetwork> networks);

/// Coefficients of dynamic_watts() by least squares on the relative error of the rows' power. `device` has its laws,
/// its clocks and over_clocks. All zero with fewer than 20 rows.
DynamicPower fit_dynamic_power(const DeviceModel& device, std::span<const TrainingRow> rows);

}  // namespace joulecast
