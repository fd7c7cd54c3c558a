#pragma once

#include "joulecast/forecast/at_point.h"
#include "joulecast/forecast/forecast_network.h"

namespace joulecast {

/// The timeline of a forecast at other clocks of its device (at_point()): the host issues as it did, each call computes
/// as much longer as its own forecast does there. The last call ends at the time of the forecast there, and what the
/// calls draw above idle power adds up to its dynamic energy. Throws UsageError as at_point().
NetworkTimeline timeline_at_point(const NetworkTimeline& timeline, const DeviceModel& device,
                                  const OperatingPoint& asked);

}  // namespace joulecast
