#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/relative_cost.h"
#include "joulecast/model/predictor.h"

namespace joulecast::cli {

/// A forecast over that at the clock that the device runs at by itself.
struct RelativeToDefault {
    OperatingPoint point;  ///< what that is: the real clocks, and the device's power limit
    RelativeCost cost;
};

/// A forecast with what is printed beside it.
struct Forecast {
    NetworkForecast network;
    std::string device_name;
    std::shared_ptr<const Origin> origin;  ///< of the predictor; the same at every point
    std::string note;
    HostExtra assumed_host;            ///< of the host asked for, where no network was measured from it
    std::int64_t clock_workloads = 0;  ///< measured at several clocks of the device, that other clocks rest on
    std::optional<RelativeToDefault> relative_to_default;  ///< where clocks or limits are asked for
};

/// One line per network, then, if asked, where each one's time goes.
std::string forecasts_to_text(const std::vector<Forecast>& forecasts, bool per_operation);
/// "joulecast.prediction/1", complete.
std::string forecasts_to_json(const std::vector<Forecast>& forecasts);
/// One prediction of that, in one line, with its list of operations or without.
std::string forecast_to_json_line(const Forecast& forecast, bool operations);
/// One row per network, or per operation of each.
std::string forecasts_to_csv(const std::vector<Forecast>& forecasts, bool per_operation);

}  // namespace joulecast::cli
