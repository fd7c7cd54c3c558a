#include "joulecast/graph/symbol_values.h"

#include <utility>

namespace joulecast {

SymbolValues symbol_values(const Graph& graph) {
    SymbolValues values;
    for (const auto& [name, symbol] : graph.symbols) values[name] = symbol.value;
    return values;
}

std::string values_text(const SymbolValues& values, std::string_view between) {
    return with_values({}, values, between);
}

std::string with_values(std::string text, const SymbolValues& values, std::string_view between) {
    for (const auto& [name, value] : values) {
        if (!text.empty()) text += between;
        text += name + "=" + std::to_string(value);
    }
    return text;
}

}  // namespace joulecast
