#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/evaluate/leave_clocks_out.h"

namespace joulecast::cli {

/// Every device asked for, or all with networks, each by itself; says on standard error what is left out. Throws Error
/// for a database without networks.
ClockValidation clock_validation(const Dataset& dataset, const std::vector<std::string>& devices, std::size_t folds);

/// How well each way and rule chooses a clock.
std::string regrets_text(std::span<const ClockRegret> regrets);
std::string regrets_json(std::span<const ClockRegret> regrets);
/// One line for each workload, clock and way of forecasting.
std::string clock_forecasts_json(std::span<const ClockForecast> forecasts);
std::string clock_forecasts_csv(std::span<const ClockForecast> forecasts);

}  // namespace joulecast::cli
