#pragma once

#include <span>
#include <string>
#include <string_view>

#include "joulecast/evaluate/baseline.h"

namespace joulecast {

/// All published methods that forecast operations, in the order of the tables.
std::span<const Baseline> baselines();
/// The one of that name, or nullptr.
const Baseline* find_baseline(std::string_view name);

/// Those that forecast whole networks.
std::span<const NetworkBaseline> network_baselines();
/// The one of that name, or nullptr.
const NetworkBaseline* find_network_baseline(std::string_view name);

/// "roofline, paleo, ..., lattuada", for messages and help.
std::string baseline_names();

}  // namespace joulecast
