#include "joulecast/report/table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace joulecast {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Show, KeepsThreeSignificantDigitsAndPicksTheUnit) {
    EXPECT_EQ(show(0.0123, Show::seconds), "12.3 ms");
    EXPECT_EQ(show(1.5e-6, Show::seconds), "1.50 µs");
    EXPECT_EQ(show(90.0, Show::seconds), "1.50 min");
    EXPECT_EQ(show(0.25, Show::joules), "250 mJ");
    EXPECT_EQ(show(0.5, Show::watts), "500 mW");
    EXPECT_EQ(show(4.56e9, Show::bytes), "4.56 GB");
    EXPECT_EQ(show(1.82e9, Show::flop), "1.82 GFLOP");
    EXPECT_EQ(show(0.052, Show::percent), "5.2 %");
    EXPECT_EQ(show(1.26, Show::percent), "126 %");
    EXPECT_EQ(show(0.0052, Show::percent), "0.52 %");
    EXPECT_EQ(show(3.14159, Show::number), "3.14");
}

TEST(Show, RoundsIntoTheNextUnitInsteadOfPrintingAThousand) {
    // 999.7 ms to three digits is 1000 ms, which is 1.00 s.
    EXPECT_EQ(show(0.9997, Show::seconds), "1.00 s");
    EXPECT_EQ(show(0.9994, Show::seconds), "999 ms");
    EXPECT_EQ(show(999'600.0, Show::bytes), "1.00 MB");
    EXPECT_EQ(show(9.996e-3, Show::seconds), "10.0 ms");
    EXPECT_EQ(show(99.96e-3, Show::seconds), "100 ms");
}

TEST(Show, WholeBytesAndOperationsHaveNoFraction) {
    EXPECT_EQ(show(std::int64_t{12}, Show::bytes), "12 B");
    EXPECT_EQ(show(0.0, Show::bytes), "0 B");
    EXPECT_EQ(show(std::int64_t{0}, Show::flop), "0 FLOP");
    EXPECT_EQ(show(0.0, Show::seconds), "0 s");
    EXPECT_EQ(show(std::int64_t{1234567}, Show::count), "1234567");
}

TEST(Show, UnknownIsADash) {
    EXPECT_EQ(show(std::monostate{}, Show::seconds), "–");
    EXPECT_EQ(show(nan, Show::joules), "–");
    EXPECT_EQ(show(infinity, Show::seconds), "∞");
}

TEST(Show, NegativeNumbersKeepTheirSign) {
    EXPECT_EQ(show(-0.0123, Show::seconds), "-12.3 ms");
    EXPECT_EQ(show(-0.052, Show::percent), "-5.2 %");
}

TEST(Show, ControlCharactersInNamesCannotSteerTheTerminal) {
    EXPECT_EQ(show(std::string("a\x1b[2Jb\n"), Show::text), "a\\x1b[2Jb\\x0a");
    EXPECT_EQ(show(std::string("\xff"), Show::text), "\xef\xbf\xbd");
    // U+009B is an escape sequence introducer of its own in 8-bit terminals.
    EXPECT_EQ(show(std::string("\xc2\x9b"), Show::text), "\\x9b");
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
    EXPECT_EQ(display_width("µs"), 2u);
    EXPECT_EQ(display_width("e\xcc\x81"), 1u);     // e and a combining acute accent
    EXPECT_EQ(display_width("\xe7\xbd\x91"), 2u);  // one wide Chinese character
    EXPECT_EQ(display_width("\xe2\x94"), 2u);      // cut in the middle: two stray bytes
}

TEST(Bar, IsAsLongAsTheShareInEighths) {
    EXPECT_EQ(bar(0.5, 4), "██");
    // 0.3 of 2 columns = 4.8 eighths, nearest 5.
    EXPECT_EQ(bar(0.3, 2), "▋");
    EXPECT_EQ(bar(2.0, 3), "███");
    EXPECT_EQ(bar(0.0, 3), "");
    EXPECT_EQ(bar(nan, 3), "");
}

struct Fruit {
    std::string name;
    double time_s;
};

const std::vector<Column<Fruit>> columns = {
    {"name", "name", Show::text, [](const Fruit& fruit) { return fruit.name; }},
    {"time_s", "time", Show::seconds, [](const Fruit& fruit) { return fruit.time_s; }},
};

TEST(ToText, AlignsNumbersRightAndTextLeftCountingColumns) {
    const std::vector<Fruit> fruits = {{"pear", 2e-6}, {"açaí", 0.25}, {"fig", nan}};
    EXPECT_EQ(to_text(fill(columns, fruits)),
              "name     time\n"
              "────  ───────\n"
              "pear  2.00 µs\n"
              "açaí   250 ms\n"
              "fig         –\n");
}

TEST(ToText, ATableWithoutRowsStillHasItsHeads) {
    EXPECT_EQ(to_text(fill(columns, std::vector<Fruit>{})), "name  time\n────  ────\n");
}

TEST(ToCsv, QuotesWhatRfc4180Asks) {
    const std::vector<Fruit> fruits = {{"a,b", 0.1}, {"say \"hi\"", nan}, {"two\nlines", 1.0 / 3.0}};
    EXPECT_EQ(to_csv(fill(columns, fruits)),
              "name,time_s\n"
              "\"a,b\",0.1\n"
              "\"say \"\"hi\"\"\",\n"
              "\"two\nlines\",0.3333333333333333\n");
}

TEST(WithoutEmptyColumns, KeepsThoseOfWhichOneRowKnowsSomething) {
    const Table table{{{"a", "a", Show::text}, {"b", "b", Show::seconds}, {"c", "c", Show::seconds}},
                      {{Cell("x"), Cell(), Cell()}, {Cell("y"), Cell(), Cell(2.0)}}};
    const Table kept = without_empty_columns(table);
    ASSERT_EQ(kept.heads.size(), 2U);
    EXPECT_EQ(kept.heads[0].key, "a");
    EXPECT_EQ(kept.heads[1].key, "c");
    const std::vector<std::vector<Cell>> rows{{Cell("x"), Cell()}, {Cell("y"), Cell(2.0)}};
    EXPECT_EQ(kept.rows, rows);
}

}  // namespace
}  // namespace joulecast
