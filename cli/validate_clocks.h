#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/evaluate/leave_clocks_out.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {

/// Every device asked for, or all with networks, each by itself; says on standard error what is left out. Throws Error
/// for a database without networks.
ClockValidation clock_validation(const Dataset& dataset, const std::vector<std::string>& devices, std::size_t folds);

/// How well each way and rule chooses a clock.
std::string regrets_text(std::span<const ClockRegret> regrets);
Table regrets_table(std::span<const ClockRegret> regrets);
/// One line for each workload, clock and way of forecasting.
Table clock_forecasts_table(std::span<const ClockForecast> forecasts);
std::string clock_forecasts_csv(std::span<const ClockForecast> forecasts);

}  // namespace joulecast::cli
