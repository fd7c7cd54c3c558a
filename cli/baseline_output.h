#pragma once

#include <string>
#include <vector>

#include "joulecast/evaluate/cross_validate.h"

namespace joulecast::cli {

/// Puts the published methods of those names into the settings, all where none is named. Throws UsageError for a name
/// that there is not.
void choose_baselines(const std::vector<std::string>& names, ValidationSettings& settings);

/// Which published methods have no forecast for some of the rows, and why; empty where all have.
std::string gaps_text(const std::vector<OutOfFoldRow>& rows);
std::string gaps_json(const std::vector<OutOfFoldRow>& rows);

/// Why the method of whole networks has no forecast where the split has none.
std::string lattuada_gap();

/// Errors per method and mode over networks; as JSON every network of every method.
std::string baseline_networks_text(const std::vector<BaselineNetwork>& networks);
std::string baseline_networks_json(const std::vector<BaselineNetwork>& networks);

}  // namespace joulecast::cli
