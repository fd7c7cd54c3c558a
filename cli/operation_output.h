#pragma once

#include <string>
#include <vector>

#include "cli/forecast_text.h"

namespace joulecast::cli {

/// Networks of one call each: what predict --operation prints, one line a call and point.
std::string operations_to_text(const std::vector<Forecast>& forecasts);
std::string operations_to_csv(const std::vector<Forecast>& forecasts);
/// "joulecast.prediction/1": `model` is the signature, times and energies are of the call by itself.
std::string operations_to_json(const std::vector<Forecast>& forecasts);

}  // namespace joulecast::cli
