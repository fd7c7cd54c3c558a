#pragma once

#include <span>
#include <vector>

#include "joulecast/model/ratio_spread.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// How far the forecast ratio of two clocks of one workload was off: log(forecast / measured). NaN: not known.
struct RatioError {
    double distance = 0;  ///< clock_distance() of the two
    double time = 0;
    double power = 0;
    double energy = 0;
};

/// The spread under which nine tenths of the errors lie inside their 90 % intervals, as one more error would, drawn as
/// these were. 0 for a quantity of which no error is known.
RatioSpread ratio_spread_of(std::span<const RatioError> errors);

/// Sets the spread of ratios of a model over clocks; one of a single clock is left alone. From held-out forecasts of
/// operations, in sets of twenty of one kind, and of networks, both measured at two clocks or more, each told relative
/// to its highest clock. What lies between the trained clocks is not seen there: ForecastCurve::relative() adds it.
void calibrate_ratios(DeviceModel& device, std::span<const TrainingRow> rows, std::span<const HeldOutTime> held_out,
                      std::span<const TrainingNetwork> networks);

}  // namespace joulecast
