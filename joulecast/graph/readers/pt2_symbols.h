#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "joulecast/graph/expression.h"
#include "joulecast/graph/readers/pt2_program.h"

namespace joulecast::pt2 {

/// The symbols of a program: which there are, what they are called, and their values at export.
class Symbols {
  public:
    /// `names`: (symbol, name) pairs of the file. Without any, the only symbol is called "batch" if it is dimension 0
    /// of a user input. `given` has values for symbols to which the file gives none; FormatError names one that is
    /// missing.
    Symbols(const Program& program, const std::vector<std::pair<std::string, std::string>>& names,
            const SymbolValues& given);

    const std::map<std::string, Symbol>& chosen() const { return chosen_; }
    /// The value at export, and the expression unless it is constant.
    std::pair<std::int64_t, std::optional<Expression>> resolve(const Integer& integer);

  private:
    void find_symbols();
    void take_hint(const Integer& integer);
    void choose_names(const std::vector<std::pair<std::string, std::string>>& names);
    void choose_values(const SymbolValues& given);
    bool leads_a_user_input(const std::string& symbol);
    const Expression& parsed(const std::string& text);

    const Program& program_;
    /// By text: sizes repeat a few expressions thousands of times.
    std::unordered_map<std::string, Expression> parsed_;
    /// By the file's names: every symbol that occurs, with its value at export where the file tells it.
    std::map<std::string, std::optional<std::int64_t>> hints_;
    /// A hostile file must not buy a search with every size.
    int searches_left_ = 64;
    std::map<std::string, std::string> names_;
    std::map<std::string, Symbol> chosen_;
    SymbolValues values_;
};

}  // namespace joulecast::pt2
