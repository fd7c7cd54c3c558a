#pragma once

#include <string>

#include "joulecast/predict/predictor.h"

namespace joulecast::cli {

/// "physical power model 12 %": where energy is known worse than from measured power alone, else empty.
std::string power_evidence_words(const NetworkForecast& network);

}  // namespace joulecast::cli
