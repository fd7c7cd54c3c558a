#include "joulecast/units/bounded_json.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

std::string fault(const std::string& text, const JsonLimits& limits = {}) {
    try {
        parse_bounded(text, limits);
    } catch (const FormatError& error) {
        return error.what();
    }
    return "none";
}

TEST(BoundedJson, IsWhatTheLibraryReads) {
    for (const char* text : {R"({"a":[1,-2,3.5,true,null,"x\u00e9"],"b":{"c":{},"d":[]},"e":18446744073709551615})",
                             "[]", "7", "\"text\"", "[[[1],[2,[3]]],{\"a\":[{}]}]"})
        EXPECT_EQ(parse_bounded(text, {}), Json::parse(text)) << text;
}

TEST(BoundedJson, SaysWhereItIsNoJson) {
    for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "[1e999]", "nul", "\"\\x\"", "{} {}"})
        EXPECT_THAT(fault(text), HasSubstr("it is not JSON: ")) << text;
    EXPECT_THAT(fault("[1,"), HasSubstr("line 1, column"));
}

TEST(BoundedJson, HoldsItsLimits) {
    EXPECT_EQ(fault("[[[]]]", {.depth = 3}), "none");
    EXPECT_EQ(fault("[[[[]]]]", {.depth = 3}), "it nests deeper than 3 levels");
    EXPECT_EQ(fault(std::string(1'000'000, '['), {.depth = 3}), "it nests deeper than 3 levels");
    EXPECT_EQ(fault("[1,2]", {.values = 3}), "none");
    EXPECT_EQ(fault("[1,2,3]", {.values = 3}), "it holds more than 3 values");
}

TEST(BoundedJson, IsNullWhereThatIsEnough) {
    EXPECT_EQ(parse_bounded_or_null(R"({"threads":2})", limits_of_settings), Json({{"threads", 2}}));
    for (const std::string& text : {std::string("{"), std::string(1'000'000, '['), std::string(R"({"a":1,"a":2})")})
        EXPECT_TRUE(parse_bounded_or_null(text, limits_of_settings).is_null());
}

TEST(BoundedJson, RefusesAKeyThatIsThereTwice) {
    EXPECT_EQ(fault(R"({"a":1,"b":{"c":1,"c":2}})"), "the key \"c\" is twice in one object");
    EXPECT_EQ(fault(R"({"a":1,"b":{"a":1}})"), "none");
}

TEST(BoundedJson, RefusesNulWhereAsked) {
    const std::string in_text = R"({"a":"bc\u0000d"})", in_key = R"({"a\u0000":1})";
    EXPECT_EQ(fault(in_text), "none");
    EXPECT_THAT(fault(in_text, {.refuses_nul = true}), HasSubstr("NUL character after \"bc\""));
    EXPECT_THAT(fault(in_key, {.refuses_nul = true}), HasSubstr("NUL character after \"a\""));
}

}  // namespace
}  // namespace joulecast
