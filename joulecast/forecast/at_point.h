#pragma once

#include "joulecast/forecast/forecast_curve.h"

namespace joulecast {

/// The whole forecast at those clocks and that limit, its operations included. What was measured or interpolated at its
/// own clock is extrapolated at another one, or interpolated where networks were measured at several.
NetworkForecast at_point(const NetworkForecast& forecast, const DeviceModel& device, const OperatingPoint& asked);
/// The same for several points of one forecast: `curve` was made from it. Those operations are moved that `forecast`
/// still has; they are most of the work.
NetworkForecast at_point(const NetworkForecast& forecast, const ForecastCurve& curve, const OperatingPoint& asked);
/// `point` is of the curve.
NetworkForecast at_point(const NetworkForecast& forecast, const ForecastCurve& curve, const PointForecast& point);

}  // namespace joulecast
