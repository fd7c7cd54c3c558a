#pragma once

#include <string>
#include <vector>

#include "joulecast/evaluate/cross_validate.h"
#include "joulecast/forecast/forecast.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {

/// On a forecast with checkpointing of a network that has no blocks; empty for all others.
std::string checkpointing_note(const NetworkForecast& network);

/// On a forecast that needs more memory than its device has; empty where it fits or that is not known.
std::string overflow_note(const NetworkForecast& network);

/// Measured and planned memory of the networks whose memory was measured, by mode and precision: the peak above
/// parameters and inputs, and the whole beside Sponner's two estimates; empty where nothing was measured.
std::string memory_networks_text(const std::vector<NetworkAccuracy>& networks);
Table memory_networks_table(const std::vector<NetworkAccuracy>& networks);

}  // namespace joulecast::cli
