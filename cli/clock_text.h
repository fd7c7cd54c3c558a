#pragma once

#include <string>
#include <vector>

#include "cli/forecast_text.h"

namespace joulecast::cli {

/// Whether any of them was asked for at a clock or a power limit of its own.
bool has_clocks(const std::vector<Forecast>& forecasts);

/// "900 MHz", "1410 MHz asked, runs at 1286 (150 W)": what was asked for and, where that is another clock, what it runs
/// at.
std::string clock_text(const NetworkForecast& network);

/// For each network at four clocks or more, its energy (or time, where no power is known) over the clock as a row of
/// blocks, and where it is least. Empty without such.
std::string clock_curves_text(const std::vector<Forecast>& forecasts);

/// What the intervals at other clocks rest on, once for each device.
std::string clock_notes_text(const std::vector<Forecast>& forecasts);

}  // namespace joulecast::cli
