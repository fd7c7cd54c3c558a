#pragma once

#include <span>
#include <string>
#include <vector>

#include "joulecast/forecast/forecast.h"
#include "joulecast/model/predictor.h"
#include "joulecast/recommend/candidate.h"

namespace joulecast {

/// What a run costs over the points, of which the first is the device's default. A point that the device refuses is
/// left out with its reason; a device without clocks is forecast as it comes.
struct Surveyed {
    std::vector<Candidate> candidates;
    std::vector<std::string> refused;
};
Surveyed survey(const NetworkForecast& forecast, const DeviceModel& device, std::span<const OperatingPoint> points);

}  // namespace joulecast
