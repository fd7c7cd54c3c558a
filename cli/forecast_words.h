#pragma once

#include <string>
#include <vector>

#include "joulecast/forecast/forecast.h"

namespace joulecast::cli {

/// "physical power model 12 %": where energy is known worse than from measured power alone, else empty.
std::string power_evidence_words(const NetworkForecast& network);

/// "calls have no record (aten::x): costed by the bytes of their inputs, so", or of a published method that it has no
/// forecast of them.
std::string unknown_words(const std::vector<std::string>& operations, const std::string& method);

}  // namespace joulecast::cli
