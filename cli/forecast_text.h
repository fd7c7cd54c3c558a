#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "joulecast/answer/answer.h"

namespace joulecast::cli {

/// How text for people is laid out.
struct TextSettings {
    Terminal terminal;
    bool verbose = false;  ///< all columns, whatever the terminal's width, and what reassures
};

/// One line per network, then, if asked, where each one's time goes.
std::string forecasts_to_text(const std::vector<Forecast>& forecasts, bool per_operation, const TextSettings& settings);
/// "joulecast.prediction/1", complete.
std::string forecasts_to_json(const std::vector<Forecast>& forecasts);
/// One prediction of that, in one line, with its list of operations or without.
std::string forecast_to_json_line(const Forecast& forecast, bool operations);
/// One row per network, or per operation of each.
std::string forecasts_to_csv(const std::vector<Forecast>& forecasts, bool per_operation);

}  // namespace joulecast::cli
