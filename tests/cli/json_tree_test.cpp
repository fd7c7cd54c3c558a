#include "cli/json_tree.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace joulecast::cli {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(JsonNumber, WhatIsNotKnownIsNull) {
    EXPECT_EQ(number_or_null(1.5).dump(), "1.5");
    EXPECT_EQ(number_or_null(0).dump(), "0.0");
    // Not by its text: the library prints null for a number that is not finite.
    EXPECT_TRUE(number_or_null(nan).is_null());
    EXPECT_TRUE(number_or_null(infinity).is_null());
    EXPECT_TRUE(number_or_null(-infinity).is_null());
}

TEST(JsonNumber, AnEstimateHasItsValueBeforeItsBoundsEachKnownOrNot) {
    const Estimate<Joules> energy{Joules(2), Joules(1), Joules(infinity)};
    EXPECT_EQ(estimate_json(energy).dump(), R"({"value":2.0,"low":1.0,"high":null})");
    EXPECT_EQ(estimate_json(Estimate<Joules>{}).dump(), R"({"value":null,"low":null,"high":null})");
}

struct Fruit {
    std::string name;
    double time_s;
};

const std::vector<Column<Fruit>> columns = {
    {"name", "name", Show::text, [](const Fruit& fruit) { return fruit.name; }},
    {"time_s", "time", Show::seconds, [](const Fruit& fruit) { return fruit.time_s; }}};

TEST(RowsJson, DoublesStayAndWhatIsNotFiniteIsNull) {
    const double third = 1.0 / 3.0;
    const std::vector<Fruit> fruits = {{"third", third}, {"nan", nan}, {"infinite", infinity}};
    const auto rows = rows_json(fill(columns, fruits));
    EXPECT_EQ(rows.at(0).at("time_s").get<double>(), third);
    EXPECT_TRUE(rows.at(1).at("time_s").is_null());
    EXPECT_TRUE(rows.at(2).at("time_s").is_null());
    EXPECT_EQ(rows.at(0).at("name"), "third");
    EXPECT_EQ(nlohmann::json::parse(printed(rows)).at(0).at("time_s").get<double>(), third);
}

TEST(RowsJson, KeysKeepTheOrderOfTheColumnList) {
    EXPECT_EQ(rows_json(fill(columns, std::vector<Fruit>{{"pear", 1.0}})).dump(), R"([{"name":"pear","time_s":1.0}])");
}

TEST(Printed, BytesThatAreNoUtf8DoNotStopTheOutput) {
    EXPECT_EQ(printed({"\xff"}), "[\n  \"\xef\xbf\xbd\"\n]\n");
}

}  // namespace
}  // namespace joulecast::cli
