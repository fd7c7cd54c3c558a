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
    /// `names`: (symbol, name) pairs of the file. Without a name, a symbol is called "batch" if it alone stands at
    /// dimension 0 of the user inputs; what the file calls it becomes its alias. `given` has values for symbols to
    /// which the file gives none; FormatError names those that are missing.
    Symbols(const Program& program, const std::vector<std::pair<std::string, std::string>>& names,
            const SymbolValues& given);

    const std::map<std::string, Symbol>& chosen() const { return chosen_; }
    /// The value at export, and the expression unless it is constant.
    std::pair<std::int64_t, std::optional<Expression>> resolve(const Integer& integer, const Body& body);
    /// The same for a condition or a real number; absent where only a run computes it.
    std::optional<std::pair<double, std::optional<Expression>>> resolve(const NamedNumber& number, const Body& body);

  private:
    /// A text of the file, read once: sizes repeat a few expressions thousands of times.
    struct Size {
        Expression expression;
        std::vector<std::string> symbols;
        std::optional<std::int64_t> hint;
        std::optional<std::int64_t> value;
    };

    void find_symbols(const Body& body);
    Size& size_of(const Integer& integer);
    void take_hints();
    void find_places();
    std::string maker_of(const std::string& symbol, const Body& body);
    bool holds(const Argument& output, const Body& body, const std::string& symbol);
    void choose_names(const std::vector<std::pair<std::string, std::string>>& names);
    void choose_values(const SymbolValues& given);
    [[noreturn]] void ask_for(const std::vector<std::string>& missing);

    const Program& program_;
    std::unordered_map<std::string, Size> sizes_;
    struct Found {
        std::optional<std::int64_t> hint;
        std::string place;
        bool leads = false;  ///< dimension 0 of a user input
    };
    /// By the file's names: every symbol that occurs.
    std::map<std::string, Found> found_;
    std::map<std::string, std::string> names_;
    std::map<std::string, Symbol> chosen_;
    SymbolValues values_;
};

}  // namespace joulecast::pt2
