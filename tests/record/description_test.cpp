#include "joulecast/record/description.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/dataset/columns.h"
#include "joulecast/record/measurement.h"
#include "joulecast/worker/described_json.h"

namespace joulecast {

/// A struct with a member of each kind.
struct Sample {
    double maybe_s = std::numeric_limits<double>::quiet_NaN();
    double share = 0.5;
    std::int64_t count = 3;
    int few = 1;
    bool flag = false;
    std::string text = "none";
    Outcome outcome = Outcome::ok;
    std::optional<IssueSummary> part;
    std::vector<double> list;
    std::string stored_alone;
};

namespace record {

template <>
struct Description<Sample> {
    using S = Sample;
    static constexpr std::tuple fields{
        Field{"maybe_s", &S::maybe_s}, Field{"share", &S::share, {.range = {0, 1}}},
        Field{"count", &S::count},     Field{"few", &S::few, {.range = {1, 8}}},
        Field{"flag", &S::flag},       Field{"text", &S::text, {.absent = Absent::refuse}},
        Field{"outcome", &S::outcome}, Field{"part", &S::part},
        Field{"list", &S::list},       Field{"stored_alone", &S::stored_alone, {.where = Where::database}},
    };
};

}  // namespace record

namespace {

using protocol::Fields;
using protocol::from_json;
using protocol::Json;
using protocol::object_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Sample read(const Json& json) {
    return from_json<Sample>(Fields(json, "sample"));
}

std::string fault_of(const Json& json) {
    try {
        read(json);
    } catch (const FormatError& error) {
        return error.what();
    }
    return "none";
}

TEST(Description, EveryMemberIsWrittenButThoseOfTheDatabase) {
    Sample sample;
    sample.part.emplace().issue_s = 2;
    const Json json = object_of(sample);
    EXPECT_TRUE(json.at("maybe_s").is_null());
    EXPECT_EQ(json.at("outcome"), "ok");
    EXPECT_EQ(json.at("part").at("issue_s"), 2);
    EXPECT_FALSE(json.contains("stored_alone"));
    EXPECT_EQ(json.size(), 9u);
}

TEST(Description, WhatWasWrittenIsReadAgain) {
    Sample sample{1.5, 0.25, 7, 2, true, "more", Outcome::unstable, IssueSummary{}, {1, 2}, "no"};
    sample.part->eager_s = 3;
    const Sample again = read(object_of(sample));
    EXPECT_EQ(again.maybe_s, 1.5);
    EXPECT_EQ(again.share, 0.25);
    EXPECT_EQ(again.count, 7);
    EXPECT_EQ(again.few, 2);
    EXPECT_TRUE(again.flag);
    EXPECT_EQ(again.text, "more");
    EXPECT_EQ(again.outcome, Outcome::unstable);
    ASSERT_TRUE(again.part);
    EXPECT_EQ(again.part->eager_s, 3);
    EXPECT_THAT(again.list, ElementsAre(1, 2));
    EXPECT_EQ(again.stored_alone, "");
}

TEST(Description, WhatIsMissingStaysAsItIsMade) {
    const Sample sample = read({{"text", ""}});
    EXPECT_TRUE(std::isnan(sample.maybe_s));
    EXPECT_EQ(sample.share, 0.5);
    EXPECT_EQ(sample.count, 3);
    EXPECT_EQ(sample.outcome, Outcome::ok);
    EXPECT_FALSE(sample.part);
}

TEST(Description, FaultsNameTheField) {
    EXPECT_THAT(fault_of(Json::object()), HasSubstr("sample.text is missing"));
    const auto with = [](const char* key, const Json& value) { return Json{{"text", "x"}, {key, value}}; };
    EXPECT_THAT(fault_of(with("share", 1.5)), HasSubstr("sample.share must lie between 0.0 and 1.0"));
    EXPECT_THAT(fault_of(with("share", nullptr)), HasSubstr("sample.share is no number"));
    EXPECT_THAT(fault_of(with("few", 9)), HasSubstr("sample.few must lie between 1 and 8"));
    EXPECT_THAT(fault_of(with("few", 0)), HasSubstr("sample.few must lie between 1 and 8"));
    EXPECT_THAT(fault_of(with("count", -1)), HasSubstr("sample.count must lie between 0"));
    EXPECT_THAT(fault_of(with("outcome", "lost")), HasSubstr("sample.outcome \"lost\" is no outcome"));
    EXPECT_THAT(fault_of(with("part", {{"issue_s", 1}})), HasSubstr("sample.part.device_time_by is missing"));
    EXPECT_THAT(fault_of(with("list", {1, "x"})), HasSubstr("sample.list has an item that is not a number"));
}

template <class Struct, class Row>
void expect_columns(const std::vector<StoredColumn<Row>>& columns, const std::string& prefix) {
    record::visit_fields<Struct>([&]<class Member>(const record::Field<Struct, Member>& field) {
        if constexpr (std::is_arithmetic_v<Member> || std::is_enum_v<Member> || std::is_same_v<Member, std::string>) {
            if (field.rules.where == record::Where::json) return;
            const std::string name = prefix + field.column();
            EXPECT_TRUE(std::ranges::any_of(columns, [&](const auto& column) { return column.name == name; })) << name;
        }
    });
}

TEST(Description, EveryMemberOfAMeasurementHasAColumn) {
    expect_columns<Measurement>(operation_columns(), "");
    expect_columns<TimeSummary>(operation_columns(), "hot_");
    expect_columns<EnergySummary>(operation_columns(), "");
    expect_columns<Conditions>(operation_columns(), "");
    expect_columns<NetworkMeasurement>(network_columns(), "");
    expect_columns<TimeSummary>(network_columns(), "forward_");
    expect_columns<Provenance>(session_columns(), "");
}

}  // namespace
}  // namespace joulecast
