#pragma once

#include <string>
#include <vector>

#include "joulecast/graph/expression.h"
#include "joulecast/units/joined.h"

namespace joulecast::cli {

/// {"batch=1,8", "sequence=128"} as every combination of symbols and values, in that order; without texts one empty
/// combination. Throws UsageError for anything else and for a symbol given twice.
std::vector<SymbolValues> parse_settings(const std::vector<std::string>& texts);

/// Words that --learner takes: "auto" and every learner's name.
std::vector<std::string> learner_words();

}  // namespace joulecast::cli
