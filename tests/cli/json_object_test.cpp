#include "cli/json_object.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace joulecast::cli {
namespace {

using Json = nlohmann::ordered_json;
using Layout = JsonObject::Layout;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Everything that an answer has.
Json tree() {
    return {{"text", "plain"},
            {"name", "\"café\"\n"},
            {"count", -3},
            {"flag", true},
            {"none", nullptr},
            {"interval", {{"value", 2.0}, {"low", 1.5}, {"high", nullptr}}},
            {"empty", Json::object()},
            {"nothing", Json::array()},
            {"texts", {"a", "b"}},
            {"last", 0.25}};
}

std::string written(Layout layout) {
    std::string text;
    JsonObject object(text, layout);
    object.add("text", "plain");
    object.add("name", "\"café\"\n");
    object.add("count", -3);
    object.add("flag", true);
    object.add_null("none");
    object.add("interval", Estimate<Seconds>{Seconds(2), Seconds(1.5), Seconds(infinity)});
    object.object("empty").end();
    object.add("nothing", std::vector<std::string>{});
    object.add("texts", std::vector<std::string>{"a", "b"});
    object.entry("last") += "0.25";
    object.end();
    return text;
}

TEST(JsonObject, IsWrittenAsATreeWouldBe) {
    EXPECT_EQ(written(Layout::one_line), tree().dump());
    EXPECT_EQ(written(Layout::lines), tree().dump(2));
}

TEST(JsonObject, NumbersHaveTheDigitsOfATree) {
    for (const double value : {0.0, -0.0, 1.0, 100000.0, 1e15, 1e16, 123456789012345680.0, 0.001, 0.0001, 1e-5, 1.0 / 3,
                               5e-324, 1.7976931348623157e308, 9007199254740993.0}) {
        std::string text;
        JsonObject object(text, Layout::one_line);
        object.add("x", value);
        object.end();
        EXPECT_EQ(text, (Json{{"x", value}}.dump()));
    }
}

TEST(JsonObject, WhatIsNotKnownIsNull) {
    std::string text;
    JsonObject object(text, Layout::one_line);
    object.add("nan", nan);
    object.add("infinite", -infinity);
    object.end();
    EXPECT_EQ(text, R"({"nan":null,"infinite":null})");
}

TEST(JsonObject, WhatIsNoUtf8IsReplaced) {
    std::string text;
    append_quoted(text, "a\xFF");
    EXPECT_EQ(text, "\"a\uFFFD\"");
}

}  // namespace
}  // namespace joulecast::cli
