#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "joulecast/forecast/forecast_cache.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// A network over the core clock: what was measured, and what was forecast.
struct NetworkCurve {
    struct Measured {
        double clock_mhz = 0;
        double time_s = 0;
        double energy_j = 0;  ///< NaN: no power was measured
    };
    struct Forecast {
        double clock_mhz = 0;
        Estimate<Seconds> time;
        Estimate<Joules> energy;  ///< unknown() where the forecast has none
    };
    std::string network;
    std::map<std::string, std::int64_t> symbols;
    std::string device;
    Mode mode = Mode::inference;
    std::string precision;
    Host host = Host::cpp;
    std::vector<Measured> measured;  ///< by clock, ascending
    std::vector<Forecast> forecast;  ///< from the lowest to the highest of these clocks
};

/// Networks that were measured at two core clocks or more at the highest memory clock and without a power limit, with
/// the forecasts that `known` makes of them. None for a device without clocks.
std::vector<NetworkCurve> network_curves(ForecastCache& known, std::span<const TrainingNetwork> networks);

}  // namespace joulecast
