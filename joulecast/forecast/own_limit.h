#pragma once

#include <optional>

#include "joulecast/forecast/forecast.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

/// Whether what calls would draw without a limit is known: a device whose power is known from its data sheet alone.
bool knows_demand(const DeviceModel& device);

/// Whether a forecast on such a device holds at the clock of its rates as if no limit held it, too: of the time of
/// kernels that follow the clock, less than half is told by operations that were measured on it, which ran at what its
/// limit left. (An A100 of 250 W that was measured in float32 has its products in bf16 from one of 400 W.)
bool is_forecast_unlimited(const NetworkForecast& forecast, const DeviceModel& device);

/// Whether a power limit is what decides a time: one that costs less than 3 % (a judgement) of it is not.
inline bool limit_decides(double with_limit_s, double without_s) {
    return with_limit_s > 1.03 * without_s;
}

/// What decides the time of a network that the limit holds: not the limit where the network waits for memory. Of cards
/// that forecasts see without a limit, at_point() tells.
Bound bound_of(const NetworkForecast& forecast, const DeviceModel& device);

/// A forecast of such a device with the power that it would draw at its highest clock if no limit held it, for
/// at_point() to bring within the limit; absent where the limit does not hold it, and for other devices. `demand_w` is
/// that power as composed. That of cards with a low limit is little known, so it counts for no more than would let the
/// card hold its base clock, which its vendor warrants within the TDP: an L4 would else run at 326 of 2040 MHz.
std::optional<NetworkForecast> without_limit(const NetworkForecast& forecast, const DeviceModel& device,
                                             double demand_w);

}  // namespace joulecast
