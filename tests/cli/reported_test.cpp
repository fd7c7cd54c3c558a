#include "cli/reported.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace joulecast::cli {
namespace {

struct Part {
    double share = 0.5;
};

struct Thing {
    std::string name = "one, two";
    std::int64_t count = 3;
    bool is_odd = true;
    Estimate<Seconds> time{Seconds(2), Seconds(1), Seconds(4)};
    double power_w = std::numeric_limits<double>::quiet_NaN();
    std::vector<std::string> words{"a", "b"};
    std::optional<std::string> host;
    const Part* part = nullptr;
};

constexpr std::tuple part_lines{Reported{"share", "", [](const Part& part) { return part.share; }}};

constexpr std::tuple lines{
    Reported{"name", "", [](const Thing& thing) { return thing.name; }},
    Reported{"count", "", [](const Thing& thing) { return thing.count; }},
    Reported{"is_odd", "", [](const Thing& thing) { return thing.is_odd; }},
    Reported{"time", "s", [](const Thing& thing) { return thing.time; }},
    Reported{"power", "w", [](const Thing& thing) { return thing.power_w; }},
    Reported{"words", "", [](const Thing& thing) { return thing.words; }},
    Reported{"host", "", [](const Thing& thing) { return thing.host; }},
    ReportedPart{"part", "of_", [](const Thing& thing) { return thing.part; }, part_lines},
    ReportedInObject{[](JsonObject& to, const Thing&) { to.add("json_only", true); }},
    Reported{"csv_only", "", [](const Thing&) { return 7; }, In::csv},
};

std::string json(const Thing& thing) {
    std::string text;
    JsonObject object(text, JsonObject::Layout::one_line);
    add_reported(object, thing, lines);
    object.end();
    return text;
}

std::string csv(const Thing& thing) {
    const auto itself = [](const Thing& one) { return &one; };
    return to_csv(fill(csv_columns<Thing>(itself, lines), std::vector{thing}));
}

TEST(Reported, ALineIsAKeyOfJson) {
    EXPECT_EQ(json(Thing()),
              R"({"name":"one, two","count":3,"is_odd":true,"time_s":{"value":2.0,"low":1.0,"high":4.0},)"
              R"("power_w":null,"words":["a","b"],"host":null,"part":null,"json_only":true})");
    const Part part;
    Thing thing;
    thing.part = &part;
    thing.host = "cpu";
    EXPECT_THAT(json(thing), ::testing::HasSubstr(R"("host":"cpu","part":{"share":0.5})"));
}

TEST(Reported, ALineIsAColumnOfCsv) {
    const std::string header = "name,count,is_odd,time_s,time_low_s,time_high_s,power_w,words,host,of_share,csv_only\n";
    EXPECT_EQ(csv(Thing()), header + "\"one, two\",3,true,2,1,4,,a; b,,,7\n");
    const Part part;
    Thing thing;
    thing.part = &part;
    EXPECT_EQ(csv(thing), header + "\"one, two\",3,true,2,1,4,,a; b,,0.5,7\n");
}

}  // namespace
}  // namespace joulecast::cli
