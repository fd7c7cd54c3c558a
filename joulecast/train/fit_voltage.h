#pragma once

#include <span>

#include "joulecast/train/train.h"

namespace joulecast {

/// The clock parameters of a device with its voltage as the power of its operations tells it. For each knee the slope
/// is searched with which dynamic_watts(), its coefficients by least squares, comes nearest to the rows' power over
/// their measured times (mean |error| relative to it). What an operation draws at all its clocks may be told wrong by a
/// factor of its own: only how its power follows the clock counts, where enough operations were measured at three
/// clocks or more. No knee lies where idle power still goes up along a line that it leaves at a higher clock.
/// The nearest knee is taken, to 0.004. Where many come as near (within a tenth of the least error, or within half of
/// it if only one measured clock lies above the knee), the mean of these, weighed by a bell of 0.05 around the
/// architecture's knee. The voltage rises along a line there, unless bent it tells the rows better by a twentieth;
/// no dynamic power is drawn for time alone.
///
/// `device` has its laws, its clocks and over_clocks; `architecture` is what its data sheet alone tells. The parameters
/// as they are where the voltage itself was measured, or the power of fewer than 20 rows, or at fewer than three core
/// clocks.
ClockParameters settle_voltage(const DeviceModel& device, std::span<const TrainingRow> rows,
                               const ClockParameters& architecture);

}  // namespace joulecast
