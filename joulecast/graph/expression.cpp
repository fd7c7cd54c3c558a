#include "joulecast/graph/expression.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/graph/term.h"
#include "joulecast/units/checked.h"

namespace joulecast {

namespace {

using Term = Expression::Term;
using Kind = TermKind;

constexpr const char* overflow = "size expression overflows 64 bits";

std::int64_t product(std::int64_t a, std::int64_t b) {
    return checked_product(a, b, overflow);
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
    return checked_sum(a, b, overflow);
}

/// In lowest terms with a positive denominator.
Rational ratio(std::int64_t numerator, std::int64_t denominator) {
    if (denominator == 0) throw FormatError("size expression divides by zero");
    if (numerator == INT64_MIN || denominator == INT64_MIN) throw FormatError(overflow);
    const std::int64_t divisor = std::gcd(numerator, denominator) * (denominator < 0 ? -1 : 1);
    return {numerator / divisor, denominator / divisor};
}

Rational operator+(Rational a, Rational b) {
    return ratio(sum(product(a.numerator, b.denominator), product(b.numerator, a.denominator)),
                 product(a.denominator, b.denominator));
}
Rational operator*(Rational a, Rational b) {
    return ratio(product(a.numerator, b.numerator), product(a.denominator, b.denominator));
}
Rational operator/(Rational a, Rational b) {
    return ratio(product(a.numerator, b.denominator), product(a.denominator, b.numerator));
}
bool operator<(Rational a, Rational b) {
    return product(a.numerator, b.denominator) < product(b.numerator, a.denominator);
}

/// Rounded towards minus infinity, as Python does.
Rational floor(Rational a) {
    const std::int64_t quotient = a.numerator / a.denominator;
    return {quotient - (a.numerator % a.denominator < 0 ? 1 : 0), 1};
}

Rational ceiling(Rational a) {
    const Rational floored = floor(a);
    return a.denominator == 1 ? a : Rational{sum(floored.numerator, 1), 1};
}

Rational power(Rational base, Rational exponent) {
    constexpr std::int64_t largest_exponent = 64;
    if (exponent.denominator != 1 || exponent.numerator > largest_exponent || exponent.numerator < -largest_exponent) {
        throw FormatError("size expression has an exponent that is not a small integer");
    }
    const Rational factor = exponent.numerator < 0 ? Rational{1, 1} / base : base;
    Rational result{1, 1};
    for (std::int64_t i = 0; i < std::abs(exponent.numerator); ++i) result = result * factor;
    return result;
}

Rational value_of(const Term& term, const SymbolValues& values);

Rational value_of_symbol(const std::string& symbol, const SymbolValues& values) {
    const auto found = values.find(symbol);
    if (found == values.end()) {
        throw Error("symbol " + symbol + " has no value; set it with --set " + symbol + "=<integer>");
    }
    return {found->second, 1};
}

Rational truth(bool holds) {
    return {holds ? 1 : 0, 1};
}

Rational compare(Kind kind, Rational a, Rational b) {
    switch (kind) {
        case Kind::equal:
            return truth(!(a < b) && !(b < a));
        case Kind::unequal:
            return truth(a < b || b < a);
        case Kind::less:
            return truth(a < b);
        case Kind::less_equal:
            return truth(!(b < a));
        case Kind::greater:
            return truth(b < a);
        default:
            return truth(!(a < b));
    }
}

Rational apply(Kind kind, Rational a, Rational b) {
    switch (kind) {
        case Kind::add:
            return a + b;
        case Kind::multiply:
            return a * b;
        case Kind::divide:
            return a / b;
        case Kind::power:
            return power(a, b);
        case Kind::floor_divide:
            return floor(a / b);
        case Kind::ceil_divide:
            return ceiling(a / b);
        case Kind::modulo:
            return a + Rational{-1, 1} * (b * floor(a / b));
        case Kind::max:
            return a < b ? b : a;
        case Kind::min:
            return b < a ? b : a;
        case Kind::all_of:
            return truth(a.numerator != 0 && b.numerator != 0);
        case Kind::any_of:
            return truth(a.numerator != 0 || b.numerator != 0);
        default:
            return compare(kind, a, b);
    }
}

Rational value_of(const Term& term, const SymbolValues& values) {
    if (term.kind == Kind::constant) return term.constant;
    if (term.kind == Kind::symbol) return value_of_symbol(term.symbol, values);
    Rational result = value_of(*term.operands.front(), values);
    if (term.kind == Kind::floor) return floor(result);
    if (term.kind == Kind::ceiling) return ceiling(result);
    if (term.kind == Kind::absolute) return result < Rational{0, 1} ? Rational{-1, 1} * result : result;
    if (term.kind == Kind::negation) return truth(result.numerator == 0);
    if (term.kind == Kind::choice) return value_of(*term.operands[result.numerator != 0 ? 1 : 2], values);
    for (std::size_t i = 1; i < term.operands.size(); ++i) {
        result = apply(term.kind, result, value_of(*term.operands[i], values));
    }
    return result;
}

void collect_symbols(const Term& term, std::set<std::string>& found) {
    if (term.kind == Kind::symbol) found.insert(term.symbol);
    for (const TermPointer& operand : term.operands) collect_symbols(*operand, found);
}

TermPointer with_name(const TermPointer& term, const std::string& from, const std::string& to) {
    if (term->kind == Kind::symbol && term->symbol != from) return term;
    auto copy = std::make_shared<Term>(*term);
    if (copy->kind == Kind::symbol) copy->symbol = to;
    for (TermPointer& operand : copy->operands) operand = with_name(operand, from, to);
    return copy;
}

std::string_view infix(Kind kind) {
    switch (kind) {
        case Kind::add:
            return " + ";
        case Kind::multiply:
            return "*";
        case Kind::divide:
            return "/";
        case Kind::power:
            return "**";
        case Kind::floor_divide:
            return "//";
        case Kind::modulo:
            return " % ";
        default:
            return {};
    }
}

void append(std::string& text, const Term& term, bool outermost);

void append_call(std::string& text, const Term& term) {
    const auto* const function =
        std::find_if(term_functions.begin(), term_functions.end(),
                     [&](const TermFunction& candidate) { return candidate.kind == term.kind; });
    text += function->name;
    text += '(';
    for (std::size_t i = 0; i < term.operands.size(); ++i) {
        if (i > 0) text += ", ";
        append(text, *term.operands[i], true);
    }
    text += ')';
}

void append_constant(std::string& text, Rational value, bool outermost) {
    const bool bare = outermost || (value.denominator == 1 && value.numerator >= 0);
    if (!bare) text += '(';
    text += std::to_string(value.numerator);
    if (value.denominator != 1) text += '/' + std::to_string(value.denominator);
    if (!bare) text += ')';
}

void append(std::string& text, const Term& term, bool outermost) {
    if (term.kind == Kind::constant) return append_constant(text, term.constant, outermost);
    if (term.kind == Kind::symbol) {
        text += term.symbol;
        return;
    }
    if (term.operands.size() == 1 && term.kind == Kind::add) return append(text, *term.operands[0], outermost);
    const std::string_view operation = infix(term.kind);
    if (operation.empty()) return append_call(text, term);
    if (!outermost) text += '(';
    for (std::size_t i = 0; i < term.operands.size(); ++i) {
        if (i > 0) text += operation;
        // The parser reads 8*a*b as (8*a)*b: the same text must come back.
        const bool is_chain =
            i == 0 && term.operands[0]->kind == term.kind && (term.kind == Kind::add || term.kind == Kind::multiply);
        append(text, *term.operands[i], is_chain);
    }
    if (!outermost) text += ')';
}

}  // namespace

TermPointer constant_term(Rational value) {
    return std::make_shared<Expression::Term>(Expression::Term{TermKind::constant, value, {}, {}});
}

Expression::Expression(std::int64_t constant) : root_(constant_term({constant, 1})) {}

Expression Expression::parse(std::string_view text) {
    Expression result;
    result.root_ = parse_term(text);
    return result;
}

Expression Expression::symbol(std::string name) {
    Expression result;
    result.root_ = std::make_shared<Term>(Term{Kind::symbol, {}, std::move(name), {}});
    return result;
}

std::int64_t Expression::evaluate(const SymbolValues& values) const {
    const Rational value = value_of(*root_, values);
    if (value.denominator != 1) throw FormatError("size expression " + text() + " is not an integer here");
    return value.numerator;
}

double Expression::evaluate_real(const SymbolValues& values) const {
    const Rational value = value_of(*root_, values);
    return static_cast<double>(value.numerator) / static_cast<double>(value.denominator);
}

std::set<std::string> Expression::symbols() const {
    std::set<std::string> found;
    collect_symbols(*root_, found);
    return found;
}

Expression Expression::renamed(const std::string& from, const std::string& to) const {
    Expression result;
    result.root_ = with_name(root_, from, to);
    return result;
}

bool Expression::is_constant() const {
    return symbols().empty();
}

std::string Expression::text() const {
    std::string result;
    append(result, *root_, true);
    return result;
}

}  // namespace joulecast
