#include "joulecast/graph/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::int64_t value(const std::string& text, std::int64_t s0) {
    return Expression::parse(text).evaluate({{"s0", s0}});
}

TEST(Expression, EvaluatesTheFormsExportersWrite) {
    EXPECT_EQ(value("49*s0", 3), 147);
    EXPECT_EQ(value("s0//2", 7), 3);
    EXPECT_EQ(value("((s0 + 1)//2)", 7), 4);
    EXPECT_EQ(value("Max(1, s0)", 0), 1);
    EXPECT_EQ(value("Mod(s0, 2)", 7), 1);
    EXPECT_EQ(value("s0**2 - 2*s0 + 1", 5), 16);  // 25 - 10 + 1
    EXPECT_EQ(value("-s0 + 10", 4), 6);
    EXPECT_EQ(value("s0 % 4", 7), 3);
}

TEST(Expression, EvaluatesSrepr) {
    EXPECT_EQ(value("Mul(Integer(49), Symbol('s0', positive=True, integer=True))", 3), 147);
    EXPECT_EQ(value("Min(Integer(768), Mul(Integer(768), Symbol('s0', integer=True)))", 2), 768);
    EXPECT_EQ(value("Add(Symbol('s0'), Integer(-1))", 3), 2);
    EXPECT_EQ(value("FloorDiv(Add(Symbol('s0'), Integer(1)), Integer(2))", 4), 2);
    EXPECT_EQ(value("floor(Mul(Rational(1, 2), Symbol('s0')))", 5), 2);
    EXPECT_EQ(value("Pow(Symbol('s0'), Integer(2))", 5), 25);
}

TEST(Expression, RoundsTowardsMinusInfinityAsPythonDoes) {
    EXPECT_EQ(value("(0 - s0)//2", 7), -4);
    EXPECT_EQ(value("Mod(0 - s0, 4)", 7), 1);  // -7 = -2 * 4 + 1
    EXPECT_EQ(value("ceiling((0 - s0)/2)", 7), -3);
    EXPECT_EQ(value("CeilDiv(s0, 2)", 7), 4);
}

TEST(Expression, AnExactDivisionIsAnInteger) {
    EXPECT_EQ(value("s0/2", 8), 4);
    EXPECT_THROW(value("s0/2", 7), FormatError);
    EXPECT_EQ(value("2*(s0/2)", 7), 7);
}

TEST(Expression, NamesTheSymbolWithoutValueAndHowToSetIt) {
    try {
        Expression::parse("49*s77").evaluate({});
        FAIL() << "a symbol without value was evaluated";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("s77"));
        EXPECT_THAT(error.what(), HasSubstr("--set s77="));
    }
}

TEST(Expression, RefusesOverflowAndDivisionByZero) {
    EXPECT_THROW(value("s0*s0", std::int64_t{1} << 40), FormatError);
    EXPECT_THROW(value("s0 + 1", INT64_MAX), FormatError);
    EXPECT_THROW(value("1//s0", 0), FormatError);
    EXPECT_THROW(value("Mod(1, s0)", 0), FormatError);
    EXPECT_THROW(value("2**s0", 1000), FormatError);
    EXPECT_THROW(value("s0//(-1)", INT64_MIN), FormatError);
}

TEST(Expression, ListsAndRenamesSymbols) {
    const Expression expression = Expression::parse("s0*s77 + s0");
    EXPECT_THAT(expression.symbols(), ElementsAre("s0", "s77"));
    const Expression renamed = expression.renamed("s77", "batch");
    EXPECT_THAT(renamed.symbols(), ElementsAre("batch", "s0"));
    EXPECT_EQ(renamed.evaluate({{"s0", 2}, {"batch", 3}}), 8);
    EXPECT_FALSE(expression.is_constant());
    EXPECT_TRUE(Expression::parse("3*4").is_constant());
    EXPECT_EQ(Expression(7).evaluate({}), 7);
    EXPECT_EQ(Expression::symbol("batch").text(), "batch");
}

class Written : public ::testing::TestWithParam<const char*> {};

TEST_P(Written, ReadsBackToTheSameValues) {
    const Expression expression = Expression::parse(GetParam());
    const std::string text = expression.text();
    const Expression again = Expression::parse(text);
    EXPECT_EQ(again.text(), text);
    for (const std::int64_t s0 : {2, 6, 20}) {
        EXPECT_EQ(again.evaluate({{"s0", s0}}), expression.evaluate({{"s0", s0}})) << text;
    }
}

INSTANTIATE_TEST_SUITE_P(Expression, Written,
                         ::testing::Values("s0", "49*s0", "s0//2*3", "3*(s0//2)", "s0 - (1 - s0)", "(s0 + 1)*(s0 - 1)",
                                           "-s0**2", "(-s0)**2", "s0/2", "Max(1, Min(s0, 7), 3)", "Mod(s0 + 1, 4)",
                                           "CeilDiv(s0, 4)", "floor(Rational(1, 3)*s0)", "ceiling(s0/3)", "Abs(-s0)",
                                           "2**(s0//2)", "(s0 > 2) & (s0 < 9)", "ITE(s0 >= 6, 1, 2.5*s0 + s0/2)",
                                           "Not(Eq(s0, 2))"));

TEST(Expression, WritesSreprAsInfix) {
    EXPECT_EQ(Expression::parse("Mul(Integer(49), Symbol('s77', integer=True))").text(), "49*s77");
}

TEST(Expression, ConditionsAreOneOrZero) {
    EXPECT_EQ(value("s0 >= 3", 3), 1);
    EXPECT_EQ(value("s0 > 3", 3), 0);
    EXPECT_EQ(value("(s0 > 1) & (s0 < 3)", 3), 0);
    EXPECT_EQ(value("(s0 > 1) | (s0 < 3)", 3), 1);
    EXPECT_EQ(value("GreaterThan(Symbol('s0', integer=True), Integer(1))", 1), 1);
    EXPECT_EQ(value("StrictLessThan(Symbol('s0', integer=True), Integer(1))", 1), 0);
    EXPECT_EQ(value("Not(Eq(s0, 2))", 2), 0);
    EXPECT_EQ(value("Ne(s0, 2)", 2), 0);
    EXPECT_EQ(value("ITE(s0 > 4, s0, 2*s0)", 3), 6);
    EXPECT_EQ(value("And(True, s0 == 3)", 3), 1);
    // The branch that is not taken is not evaluated: 1//0 would throw.
    EXPECT_EQ(value("Where(Eq(s0, 0), 7, 1//s0)", 0), 7);
}

TEST(Expression, RealNumbersAreRatios) {
    EXPECT_EQ(value("1.5*s0", 4), 6);
    EXPECT_THROW(value("1.5*s0", 3), FormatError);
    EXPECT_EQ(value("TruncToInt(Mul(Float('1.5', precision=53), ToFloat(s0)))", 3), 4);
    EXPECT_DOUBLE_EQ(Expression::parse("FloatTrueDiv(s0, 3)").evaluate_real({{"s0", 2}}), 2.0 / 3);
    EXPECT_DOUBLE_EQ(Expression::parse("-0.25").evaluate_real({}), -0.25);
}

class NotUnderstood : public ::testing::TestWithParam<const char*> {};

TEST_P(NotUnderstood, IsRefused) {
    EXPECT_THROW(Expression::parse(GetParam()), FormatError) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Expression, NotUnderstood,
                         ::testing::Values("", "s0 +", "(s0", "s0)", "sin(s0)", "1.5e3", "s0 <", "Float(1.5)",
                                           "ITE(s0, 1)", "s0 s1", "Symbol(s0)", "Symbol('s0", "Symbol('s 0')",
                                           "FloorDiv(s0)", "99999999999999999999", "*s0", "s0,s1", "Max()"));

TEST(Expression, BoundsDepthAndLength) {
    EXPECT_THROW(Expression::parse(std::string(10000, '(') + "1" + std::string(10000, ')')), FormatError);
    EXPECT_THROW(Expression::parse(std::string(10000, '-') + "1"), FormatError);
    std::string chain = "s0";
    for (int i = 0; i < 10000; ++i) chain += "*s0";
    EXPECT_THROW(Expression::parse(chain), FormatError);
    EXPECT_THROW(Expression::parse(std::string(70000, ' ') + "1"), FormatError);
    std::string sum = "s0";
    for (int i = 0; i < 100; ++i) sum += " + s0";
    EXPECT_EQ(value(sum, 2), 202);
}

}  // namespace
}  // namespace joulecast
