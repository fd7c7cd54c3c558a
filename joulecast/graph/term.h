#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/graph/expression.h"

/// Inside of Expression, shared by its parser and its evaluation.
namespace joulecast {

/// Sizes are integers, but sympy writes s0/2 where it knows that the division leaves no remainder.
struct Rational {
    std::int64_t numerator = 0;
    std::int64_t denominator = 1;
};

enum class TermKind {
    constant,
    symbol,
    add,
    multiply,
    divide,
    power,
    floor_divide,
    ceil_divide,
    modulo,
    max,
    min,
    floor,
    ceiling,
    absolute,
    equal,
    unequal,
    less,
    less_equal,
    greater,
    greater_equal,
    all_of,
    any_of,
    negation,
    choice
};

struct Expression::Term {
    TermKind kind = TermKind::constant;
    Rational constant;
    std::string symbol;
    std::vector<std::shared_ptr<const Term>> operands;
};

using TermPointer = std::shared_ptr<const Expression::Term>;

TermPointer constant_term(Rational value);

/// Throws FormatError; depth, length and number of operands are bounded.
TermPointer parse_term(std::string_view text);

/// Name and number of operands of a function that may stand in an expression.
struct TermFunction {
    std::string_view name;
    TermKind kind;
    std::size_t least;
    std::size_t most;
};

inline constexpr std::size_t most_operands = 256;

// sympy's own and torch.utils._sympy.functions'. Conditions are 1 or 0. TruncToInt: sizes are not negative.
inline constexpr std::array<TermFunction, 37> term_functions{{{"Add", TermKind::add, 1, most_operands},
                                                              {"Mul", TermKind::multiply, 1, most_operands},
                                                              {"Pow", TermKind::power, 2, 2},
                                                              {"PowByNatural", TermKind::power, 2, 2},
                                                              {"Max", TermKind::max, 1, most_operands},
                                                              {"Min", TermKind::min, 1, most_operands},
                                                              {"Mod", TermKind::modulo, 2, 2},
                                                              {"PythonMod", TermKind::modulo, 2, 2},
                                                              {"FloorDiv", TermKind::floor_divide, 2, 2},
                                                              {"CleanDiv", TermKind::floor_divide, 2, 2},
                                                              {"CeilDiv", TermKind::ceil_divide, 2, 2},
                                                              {"IntTrueDiv", TermKind::divide, 2, 2},
                                                              {"FloatTrueDiv", TermKind::divide, 2, 2},
                                                              {"Rational", TermKind::divide, 2, 2},
                                                              {"floor", TermKind::floor, 1, 1},
                                                              {"FloorToInt", TermKind::floor, 1, 1},
                                                              {"ceiling", TermKind::ceiling, 1, 1},
                                                              {"CeilToInt", TermKind::ceiling, 1, 1},
                                                              {"Abs", TermKind::absolute, 1, 1},
                                                              {"Integer", TermKind::add, 1, 1},
                                                              {"Identity", TermKind::add, 1, 1},
                                                              {"ToFloat", TermKind::add, 1, 1},
                                                              {"TruncToInt", TermKind::floor, 1, 1},
                                                              {"TruncToFloat", TermKind::floor, 1, 1},
                                                              {"Eq", TermKind::equal, 2, 2},
                                                              {"Equality", TermKind::equal, 2, 2},
                                                              {"Ne", TermKind::unequal, 2, 2},
                                                              {"Unequality", TermKind::unequal, 2, 2},
                                                              {"StrictLessThan", TermKind::less, 2, 2},
                                                              {"LessThan", TermKind::less_equal, 2, 2},
                                                              {"StrictGreaterThan", TermKind::greater, 2, 2},
                                                              {"GreaterThan", TermKind::greater_equal, 2, 2},
                                                              {"And", TermKind::all_of, 1, most_operands},
                                                              {"Or", TermKind::any_of, 1, most_operands},
                                                              {"Not", TermKind::negation, 1, 1},
                                                              {"ITE", TermKind::choice, 3, 3},
                                                              {"Where", TermKind::choice, 3, 3}}};

}  // namespace joulecast
