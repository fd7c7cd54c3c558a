#include "joulecast/dataset/table_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <utility>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text, const std::function<void(TableReader&)>& use) {
    std::istringstream input(text);
    try {
        TableReader table(input, "t.csv");
        use(table);
    } catch (const FormatError& error) {
        return error.what();
    }
    return "";
}

TEST(TableReader, FieldsGoByTheNamesInTheHeader) {
    std::istringstream input("b,a,note\n2.5,7,\"x, y\"\n,8,\n");
    TableReader table(input, "t.csv");
    ASSERT_TRUE(table.next());
    EXPECT_EQ(table.whole("a"), 7);
    EXPECT_EQ(table.positive("b"), 2.5);
    EXPECT_EQ(table.text("note"), "x, y");
    EXPECT_EQ(table.text("more"), "");
    ASSERT_TRUE(table.next());
    EXPECT_TRUE(std::isnan(table.number("b")));
    EXPECT_FALSE(table.optional_positive("b"));
    EXPECT_FALSE(table.optional_positive("more"));
    EXPECT_FALSE(table.next());
}

TEST(TableReader, HeadersThatCannotBeAreRefused) {
    EXPECT_THAT(refusal("a,a\n", [](auto&) {}), HasSubstr("column 'a' occurs twice"));
    EXPECT_THAT(refusal("", [](auto&) {}), HasSubstr("t.csv:1: the file is empty"));
}

TEST(TableReader, NumbersThatCannotBeAreNamedWithTheirLine) {
    for (const char* field : {"nan", "inf", "1e999", "1x", " 1", "0x1p3"})
        EXPECT_THAT(refusal(std::string("a,b\n1,\n") + field + ",\n",
                            [](auto& t) {
                                t.next();
                                t.next();
                                t.number("a");
                            }),
                    HasSubstr("t.csv:3: a '" + std::string(field) + "' is no finite number"));
    const auto first = [](const std::string& field, auto use) {
        return refusal("a,b\n" + field + ",\n", [&](auto& t) {
            t.next();
            use(t);
        });
    };
    const auto positive = [](auto& t) { t.positive("a"); };
    EXPECT_THAT(first("-1", positive), HasSubstr("is not above zero"));
    EXPECT_THAT(first("0", positive), HasSubstr("is not above zero"));
    EXPECT_THAT(first("", positive), HasSubstr("a is empty"));
    const auto whole = [](auto& t) { t.whole("a"); };
    for (const char* field : {"0", "-3", "1.5", "", "1099511627777", "99999999999999999999"})
        EXPECT_THAT(first(field, whole), HasSubstr("is no whole number")) << field;
    EXPECT_EQ(first("1099511627776", whole), "");
    EXPECT_THAT(refusal("a,b\n1\n", [](auto& t) { t.next(); }), HasSubstr("has 1 fields, the header 2"));
    EXPECT_THAT(refusal("a,b\n\"1,2\n", [](auto& t) { t.next(); }), HasSubstr("not closed"));
}

TEST(TableReader, WhatAMessageShowsIsShortAndPrintable) {
    const std::string message = refusal("a\n" + std::string("\x1b[31m") + std::string(500, 'x') + "\n", [](auto& t) {
        t.next();
        t.number("a");
    });
    EXPECT_EQ(message.find('\x1b'), std::string::npos);
    EXPECT_LT(message.size(), 120u);
}

/// A file on a disk that breaks: what was read so far was once taken for the whole table.
class BreakingFile : public std::streambuf {
  public:
    explicit BreakingFile(std::string text) : text_(std::move(text)) {
        setg(text_.data(), text_.data(), text_.data() + text_.size());
    }

  private:
    int_type underflow() override { throw std::runtime_error("the disk breaks"); }

    std::string text_;
};

TEST(TableReader, ATableThatBreaksOffIsNotTakenForTheWhole) {
    BreakingFile file("a\n1\n");
    std::istream input(&file);
    TableReader table(input, "t.csv");
    EXPECT_TRUE(table.next());
    EXPECT_THROW(table.next(), Error);
}

}  // namespace
}  // namespace joulecast
