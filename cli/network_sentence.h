#pragma once

#include <span>
#include <string>

#include "joulecast/evaluate/cross_validate.h"

namespace joulecast::cli {

/// What came of forecasting these networks, in a sentence for somebody who reads no tables: mean error, how many lie
/// inside their intervals, and how wide these are. Empty without networks.
std::string network_sentence(std::span<const NetworkAccuracy> networks, bool held_out);

/// The end of ./quickstart --measure: how good forecasts of this machine are, what disturbed its measurements, and what
/// to do. `pace_range` is that of joulecast/dataset/pace.h. Empty without networks.
std::string verdict(std::span<const NetworkAccuracy> networks, double pace_range);

}  // namespace joulecast::cli
