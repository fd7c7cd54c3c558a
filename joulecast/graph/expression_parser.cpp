#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/graph/term.h"

namespace joulecast {

namespace {

using Term = Expression::Term;
using Kind = TermKind;

TermPointer combine(Kind kind, std::vector<TermPointer> operands) {
    return std::make_shared<Term>(Term{kind, {}, {}, std::move(operands)});
}

TermPointer negated(TermPointer term) {
    // -1 is a constant; INT64_MIN cannot come out of the parser.
    if (term->kind == Kind::constant) return constant_term({-term->constant.numerator, term->constant.denominator});
    return combine(Kind::multiply, {constant_term({-1, 1}), std::move(term)});
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Recursive descent with Python's precedence: comparisons, then + -, then * / // %, then unary minus, then **. sympy
/// writes "(a) & (b)" with the comparisons in parentheses, so & and | stand outermost here.
class ExpressionParser {
  public:
    explicit ExpressionParser(std::string_view text) : text_(text) {
        constexpr std::size_t longest = 65536;
        if (text.size() > longest) fail("it is longer than 64 kB");
    }

    TermPointer whole() {
        TermPointer result = condition();
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

    TermPointer condition() {
        TermPointer left = comparison();
        std::size_t chained = 0;
        while (next_is("&") || next_is("|")) {
            const Kind kind = accept("&") ? Kind::all_of : Kind::any_of;
            if (kind == Kind::any_of) expect("|");
            count_level(level_ + ++chained);
            left = combine(kind, {left, comparison()});
        }
        return left;
    }

    TermPointer comparison() {
        TermPointer left = sum_of_terms();
        static constexpr std::pair<std::string_view, Kind> operators[] = {
            {"<=", Kind::less_equal}, {">=", Kind::greater_equal}, {"==", Kind::equal},
            {"!=", Kind::unequal},    {"<", Kind::less},           {">", Kind::greater}};
        for (const auto& [token, kind] : operators)
            if (accept(token)) return combine(kind, {std::move(left), sum_of_terms()});
        return left;
    }

    TermPointer sum_of_terms() {
        count_level(++level_);
        std::vector<TermPointer> terms{product_of_factors()};
        while (true) {
            if (accept("+")) {
                terms.push_back(product_of_factors());
            } else if (accept("-")) {
                terms.push_back(negated(product_of_factors()));
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
            result = negated(signed_factor());
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
            TermPointer inner = condition();
            expect(")");
            return inner;
        }
        if (is_digit(peek())) return number();
        if (!is_letter(peek())) fail("expected a number, a symbol or a function");
        const std::size_t start = at_;
        while (is_letter(peek()) || is_digit(peek())) ++at_;
        const std::string_view name = text_.substr(start, at_ - start);
        if (!next_is("(")) {
            if (name == "true" || name == "True") return constant_term({1, 1});
            if (name == "false" || name == "False") return constant_term({0, 1});
            return std::make_shared<Term>(Term{Kind::symbol, {}, std::string(name), {}});
        }
        if (name == "Symbol") return srepr_symbol();
        if (name == "Float") return srepr_float();
        return call(name, start);
    }

    /// An integer, or a decimal fraction as an exact ratio.
    TermPointer number() {
        std::int64_t value = digits();
        if (peek() != '.') return constant_term({value, 1});
        ++at_;
        std::int64_t denominator = 1;
        for (; is_digit(peek()); ++at_) {
            // Beyond 15 decimals a double has noise.
            constexpr std::int64_t finest = 1'000'000'000'000'000;
            if (denominator >= finest) continue;
            if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, peek() - '0', &value))
                fail("the number does not fit into 64 bits");
            denominator *= 10;
        }
        if (peek() == 'e' || peek() == 'E') fail("a number with an exponent");
        const std::int64_t common = std::gcd(value, denominator);
        return constant_term({value / common, denominator / common});
    }

    std::int64_t digits() {
        std::int64_t value = 0;
        const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (read.ec != std::errc{}) fail("the number does not fit into 64 bits");
        at_ = static_cast<std::size_t>(read.ptr - text_.data());
        return value;
    }

    TermPointer call(std::string_view name, std::size_t start) {
        const auto* const function =
            std::find_if(term_functions.begin(), term_functions.end(),
                         [&](const TermFunction& candidate) { return candidate.name == name; });
        if (function == term_functions.end()) {
            at_ = start;
            fail("unknown function \"" + std::string(name) + "\"");
        }
        expect("(");
        std::vector<TermPointer> operands;
        do {
            if (operands.size() == most_operands) fail("more than 256 operands");
            operands.push_back(condition());
        } while (accept(","));
        expect(")");
        if (operands.size() < function->least || operands.size() > function->most) {
            fail("wrong number of operands for " + std::string(name));
        }
        return operands.size() == 1 && function->most != 1 ? operands.front()
                                                           : combine(function->kind, std::move(operands));
    }

    /// Float('1.5', precision=53).
    TermPointer srepr_float() {
        expect("(");
        skip_space();
        const char quote = peek();
        if (quote != '\'' && quote != '"') fail("expected a quoted number");
        ++at_;
        const bool negative = accept("-");
        if (!is_digit(peek())) fail("expected a number");
        TermPointer value = number();
        if (peek() != quote) fail("expected a number");
        const std::size_t close = text_.find(')', at_);
        if (close == std::string_view::npos) fail("expected ')'");
        at_ = close + 1;
        return negative ? negated(std::move(value)) : value;
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

}  // namespace

TermPointer parse_term(std::string_view text) {
    return ExpressionParser(text).whole();
}

}  // namespace joulecast
