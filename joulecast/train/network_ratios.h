#pragma once

#include <span>
#include <vector>

#include "joulecast/forecast/forecast_cache.h"
#include "joulecast/forecast/forecast_curve.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// Measurements of one network: the same sizes, mode, precision and host.
struct NetworkRuns {
    const Graph* graph = nullptr;
    std::vector<const NetworkMeasurement*> runs;
};
/// Networks that were measured twice or more, usually at several clocks; the pointers are into `networks`.
std::vector<NetworkRuns> runs_of_networks(std::span<const TrainingNetwork> networks);

/// A forecast of such a network, from the host that it was measured from.
NetworkForecast forecast_of(const NetworkRuns& network, ForecastCache& known);

/// The point that a run is forecast for: as asked for; where nobody asked, the clock that another program had set.
OperatingPoint point_of_run(const DeviceModel& device, const NetworkMeasurement& run);

/// A network at one of its measured clocks over the same network at the highest of them.
struct NetworkRatio {
    NetworkMeasurement measured;
    NetworkMeasurement reference;
    PointForecast here;
    PointForecast there;  ///< of the reference
    RelativeCost forecast;
    double distance = 0;  ///< clock_distance() of the forecast clocks

    double measured_time() const;
    double measured_power() const;   ///< NaN where either was not metered
    double measured_energy() const;  ///< NaN where either was not metered
};

/// Networks that were measured at two clocks or more, with the same sizes, mode, precision and host. Clocks within 2 %
/// count as one, those that the device does not have are left out. None for a device without clocks. `known` are the
/// operations that the forecasts are made of.
std::vector<NetworkRatio> network_ratios(ForecastCache& known, std::span<const TrainingNetwork> networks);

}  // namespace joulecast
