#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace joulecast {

using SymbolValues = std::map<std::string, std::int64_t>;

/// An integer expression over symbols, as exporters write sizes: sympy in plain form ("49*s77", "s77//2",
/// "((s0 + 1)//2)", "Max(1, s0)", "Mod(s0, 2)") or srepr ("Mul(Integer(49), Symbol('s77', integer=True))"). Conditions
/// ("s0 > 2", "GreaterThan(Symbol('s0'), Integer(2))") are 1 or 0.
class Expression {
  public:
    struct Term;

    /// A constant.
    explicit Expression(std::int64_t constant = 0);
    /// Throws FormatError naming the text that is not understood; depth and length are bounded.
    static Expression parse(std::string_view text);
    static Expression symbol(std::string name);

    /// Throws Error naming the symbol without a value (and how to set it), FormatError on overflow or division by zero.
    std::int64_t evaluate(const SymbolValues& values) const;
    /// The same for what need not be an integer: a scale ("ToFloat(s0)/3"), a condition.
    double evaluate_real(const SymbolValues& values) const;
    std::set<std::string> symbols() const;
    /// The same expression with one symbol called otherwise ("s77" -> "batch").
    Expression renamed(const std::string& from, const std::string& to) const;
    bool is_constant() const;
    /// Plain infix form, parseable again.
    std::string text() const;

  private:
    std::shared_ptr<const Term> root_;
};

}  // namespace joulecast
