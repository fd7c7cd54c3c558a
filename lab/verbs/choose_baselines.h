#pragma once

#include <string>
#include <vector>

#include "joulecast/evaluate/cross_validate.h"

namespace joulecast::cli {

/// Puts the published methods of those names into the settings, all where none is named. Throws UsageError for a name
/// that there is not.
void choose_baselines(const std::vector<std::string>& names, ValidationSettings& settings);

}  // namespace joulecast::cli
