#pragma once

#include <span>
#include <string>
#include <vector>

#include "joulecast/evaluate/cross_validate.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {

/// Which published methods have no forecast for some of the rows, and why; empty where all have.
std::string gaps_text(const std::vector<OutOfFoldRow>& rows);
Table gaps_table(const std::vector<OutOfFoldRow>& rows);

/// Why a method of whole networks has no forecast where the split has none; a line for each of them.
std::string networks_only_reason(const NetworkBaseline& method);
std::string networks_only_text(std::span<const NetworkBaseline* const> methods);

/// Errors per method and mode over networks; as JSON every network of every method.
std::string baseline_networks_text(const std::vector<BaselineNetwork>& networks);
Table baseline_networks_table(const std::vector<BaselineNetwork>& networks);

}  // namespace joulecast::cli
