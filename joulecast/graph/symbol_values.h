#pragma once

#include <string>
#include <string_view>

#include "joulecast/graph/graph.h"

namespace joulecast {

/// Those that a graph has now.
SymbolValues symbol_values(const Graph& graph);

/// "batch=8, sequence=128": by name, `between` two of them; empty of none.
std::string values_text(const SymbolValues& values, std::string_view between = ", ");
/// The same behind a text: "gpt2, batch=8, sequence=128".
std::string with_values(std::string text, const SymbolValues& values, std::string_view between = ", ");

}  // namespace joulecast
