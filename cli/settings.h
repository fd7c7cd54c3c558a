#pragma once

#include <string>
#include <vector>

#include "joulecast/graph/expression.h"

namespace joulecast::cli {

/// {"batch=1,8", "sequence=128"} as every combination of symbols and values, in that order; without texts one empty
/// combination. Throws UsageError for anything else and for a symbol given twice.
std::vector<SymbolValues> parse_settings(const std::vector<std::string>& texts);

/// "name, name" for messages and tables.
std::string joined(const std::vector<std::string>& texts, const std::string& separator = ", ");

/// Words that --learner takes: "auto" and every learner's name.
std::vector<std::string> learner_words();

}  // namespace joulecast::cli
