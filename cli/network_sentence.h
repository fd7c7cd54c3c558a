#pragma once

#include <span>
#include <string>

#include "joulecast/evaluate/cross_validate.h"

namespace joulecast::cli {

/// What came of forecasting these networks, in a sentence for somebody who reads no tables: mean error, how many lie
/// inside their intervals, and how wide these are. Empty without networks.
std::string network_sentence(std::span<const NetworkAccuracy> networks, bool held_out);

}  // namespace joulecast::cli
