#pragma once

#include <vector>

#include "joulecast/forecast/forecast_cache.h"
#include "joulecast/forecast/issue_order.h"

namespace joulecast {

/// One for each kind of call of the order, gradient sums and the optimizer's update among them. A call for a list of
/// parameters takes what its stand-in takes, by the bytes that both move and the kernels that both launch.
std::vector<OperationForecast> forecast_calls(const IssueOrder& order, ForecastCache& known);

}  // namespace joulecast
