#include "joulecast/graph/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "joulecast/error.h"

namespace joulecast {

namespace {

/// Sizes are integers, but sympy writes s0/2 where it knows that the division leaves no remainder.
struct Rational {
    std::int64_t numerator = 0;
    std::int64_t denominator = 1;
};

enum class Kind {
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
    absolute
};

[[noreturn]] void overflow() {
    throw FormatError("size expression overflows 64 bits");
}

std::int64_t product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) overflow();
    return result;
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_add_overflow(a, b, &result)) overflow();
    return result;
}

/// In lowest terms with a positive denominator.
Rational ratio(std::int64_t numerator, std::int64_t denominator) {
    if (denominator == 0) throw FormatError("size expression divides by zero");
    if (numerator == INT64_MIN || denominator == INT64_MIN) overflow();
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

}  // namespace

struct Expression::Term {
    Kind kind = Kind::constant;
    Rational constant;
    std::string symbol;
    std::vector<std::shared_ptr<const Term>> operands;
};

namespace {

using Term = Expression::Term;
using TermPointer = std::shared_ptr<const Term>;

TermPointer constant(Rational value) {
    return std::make_shared<Term>(Term{Kind::constant, value, {}, {}});
}

TermPointer combine(Kind kind, std::vector<TermPointer> operands) {
    return std::make_shared<Term>(Term{kind, {}, {}, std::move(operands)});
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

struct Function {
    std::string_view name;
    Kind kind;
    std::size_t least;
    std::size_t most;
};

constexpr std::size_t many = 256;

// sympy's own and torch.utils._sympy.functions'.
constexpr std::array<Function, 22> functions{{{"Add", Kind::add, 1, many},
                                              {"Mul", Kind::multiply, 1, many},
                                              {"Pow", Kind::power, 2, 2},
                                              {"PowByNatural", Kind::power, 2, 2},
                                              {"Max", Kind::max, 1, many},
                                              {"Min", Kind::min, 1, many},
                                              {"Mod", Kind::modulo, 2, 2},
                                              {"PythonMod", Kind::modulo, 2, 2},
                                              {"FloorDiv", Kind::floor_divide, 2, 2},
                                              {"CleanDiv", Kind::floor_divide, 2, 2},
                                              {"CeilDiv", Kind::ceil_divide, 2, 2},
                                              {"IntTrueDiv", Kind::divide, 2, 2},
                                              {"Rational", Kind::divide, 2, 2},
                                              {"floor", Kind::floor, 1, 1},
                                              {"FloorToInt", Kind::floor, 1, 1},
                                              {"ceiling", Kind::ceiling, 1, 1},
                                              {"CeilToInt", Kind::ceiling, 1, 1},
                                              {"Abs", Kind::absolute, 1, 1},
                                              {"Integer", Kind::add, 1, 1},
                                              {"Identity", Kind::add, 1, 1},
                                              {"ToFloat", Kind::add, 1, 1},
                                              {"TruncToInt", Kind::floor, 1, 1}}};

/// Recursive descent with Python's precedence: + -, then * / // %, then unary minus, then **.
class ExpressionParser {
  public:
    explicit ExpressionParser(std::string_view text) : text_(text) {
        constexpr std::size_t longest = 65536;
        if (text.size() > longest) fail("it is longer than 64 kB");
    }

    TermPointer whole() {
        TermPointer result = sum_of_terms();
        skip_space();
        if (at_ != text_.size()) fail("unexpected text");
        return result;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        constexpr std::size_t shown = 80;
        throw FormatError("cannot read size expression \"" + std::string(text_.substr(0, shown)) + "\" at character " +
                          std::to_string(at_) + ": " + what);
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_space() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\n') ++at_;
    }
    bool accept(std::string_view token) {
        skip_space();
        if (text_.substr(at_, token.size()) != token) return false;
        at_ += token.size();
        return true;
    }
    void expect(std::string_view token) {
        if (!accept(token)) fail("expected '" + std::string(token) + "'");
    }
    bool next_is(std::string_view token) {
        skip_space();
        return text_.substr(at_, token.size()) == token;
    }

    /// Each operator nests its left side one deeper, so their number is bounded like the depth.
    void count_level(std::size_t level) const {
        constexpr std::size_t deepest = 200;
        if (level > deepest) fail("it is nested deeper than 200");
    }

    TermPointer sum_of_terms() {
        count_level(++level_);
        std::vector<TermPointer> terms{product_of_factors()};
        while (true) {
            if (accept("+")) {
                terms.push_back(product_of_factors());
            } else if (accept("-")) {
                terms.push_back(combine(Kind::multiply, {constant({-1, 1}), product_of_factors()}));
            } else {
                break;
            }
        }
        --level_;
        return terms.size() == 1 ? terms.front() : combine(Kind::add, std::move(terms));
    }

    TermPointer product_of_factors() {
        TermPointer left = signed_factor();
        std::size_t chained = 0;
        while (!next_is("**")) {
            Kind kind{};
            if (accept("*")) {
                kind = Kind::multiply;
            } else if (accept("//")) {
                kind = Kind::floor_divide;
            } else if (accept("/")) {
                kind = Kind::divide;
            } else if (accept("%")) {
                kind = Kind::modulo;
            } else {
                break;
            }
            count_level(level_ + ++chained);
            left = combine(kind, {left, signed_factor()});
        }
        return left;
    }

    TermPointer signed_factor() {
        count_level(++level_);
        TermPointer result;
        if (accept("-")) {
            result = combine(Kind::multiply, {constant({-1, 1}), signed_factor()});
        } else {
            result = atom();
            if (accept("**")) result = combine(Kind::power, {result, signed_factor()});
        }
        --level_;
        return result;
    }

    TermPointer atom() {
        skip_space();
        if (accept("(")) {
            TermPointer inner = sum_of_terms();
            expect(")");
            return inner;
        }
        if (is_digit(peek())) return integer();
        if (!is_letter(peek())) fail("expected a number, a symbol or a function");
        const std::size_t start = at_;
        while (is_letter(peek()) || is_digit(peek())) ++at_;
        const std::string_view name = text_.substr(start, at_ - start);
        if (!next_is("(")) {
            return std::make_shared<Term>(Term{Kind::symbol, {}, std::string(name), {}});
        }
        if (name == "Symbol") return srepr_symbol();
        return call(name, start);
    }

    TermPointer integer() {
        std::int64_t value = 0;
        const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (read.ec != std::errc{}) fail("the number does not fit into 64 bits");
        at_ = static_cast<std::size_t>(read.ptr - text_.data());
        if (peek() == '.') fail("a size must be an integer");
        return constant({value, 1});
    }

    TermPointer call(std::string_view name, std::size_t start) {
        const auto* const function = std::find_if(functions.begin(), functions.end(),
                                                  [&](const Function& candidate) { return candidate.name == name; });
        if (function == functions.end()) {
            at_ = start;
            fail("unknown function \"" + std::string(name) + "\"");
        }
        expect("(");
        std::vector<TermPointer> operands;
        do {
            if (operands.size() == many) fail("more than 256 operands");
            operands.push_back(sum_of_terms());
        } while (accept(","));
        expect(")");
        if (operands.size() < function->least || operands.size() > function->most) {
            fail("wrong number of operands for " + std::string(name));
        }
        return operands.size() == 1 && function->most != 1 ? operands.front()
                                                           : combine(function->kind, std::move(operands));
    }

    /// Symbol('s77', positive=True, integer=True): the assumptions do not change a value.
    TermPointer srepr_symbol() {
        expect("(");
        skip_space();
        const char quote = peek();
        if (quote != '\'' && quote != '"') fail("expected a quoted symbol");
        const std::size_t start = ++at_;
        while (is_letter(peek()) || is_digit(peek())) ++at_;
        const std::string name(text_.substr(start, at_ - start));
        if (name.empty() || peek() != quote) fail("a symbol's name has letters, digits and _ only");
        ++at_;
        const std::size_t close = text_.find(')', at_);
        if (close == std::string_view::npos) fail("expected ')'");
        at_ = close + 1;
        return std::make_shared<Term>(Term{Kind::symbol, {}, name, {}});
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::size_t level_ = 0;
};

Rational value_of(const Term& term, const SymbolValues& values);

Rational value_of_symbol(const std::string& symbol, const SymbolValues& values) {
    const auto found = values.find(symbol);
    if (found == values.end()) {
        throw Error("symbol " + symbol + " has no value; set it with --set " + symbol + "=<integer>");
    }
    return {found->second, 1};
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
        default:
            return b < a ? b : a;
    }
}

Rational value_of(const Term& term, const SymbolValues& values) {
    if (term.kind == Kind::constant) return term.constant;
    if (term.kind == Kind::symbol) return value_of_symbol(term.symbol, values);
    Rational result = value_of(*term.operands.front(), values);
    if (term.kind == Kind::floor) return floor(result);
    if (term.kind == Kind::ceiling) return ceiling(result);
    if (term.kind == Kind::absolute) return result < Rational{0, 1} ? Rational{-1, 1} * result : result;
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
    const auto* const function = std::find_if(functions.begin(), functions.end(),
                                              [&](const Function& candidate) { return candidate.kind == term.kind; });
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
        append(text, *term.operands[i], false);
    }
    if (!outermost) text += ')';
}

}  // namespace

Expression::Expression(std::int64_t constant) : root_(joulecast::constant({constant, 1})) {}

Expression Expression::parse(std::string_view text) {
    Expression result;
    result.root_ = ExpressionParser(text).whole();
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
