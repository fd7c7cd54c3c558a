#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/graph/expression.h"
#include "joulecast/units/joined.h"

namespace joulecast::cli {

/// {"batch=1,8", "sequence=128"} as combinations(). Throws UsageError for anything else, and what that throws.
std::vector<SymbolValues> parse_settings(const std::vector<std::string>& texts);

/// Every combination of symbols and values, in that order; without symbols one empty combination. Throws UsageError for
/// a symbol given twice and for more than 10000 combinations.
std::vector<SymbolValues> combinations(const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& sizes);

/// Words that --learner takes: "auto" and every learner's name.
std::vector<std::string> learner_words();

}  // namespace joulecast::cli
