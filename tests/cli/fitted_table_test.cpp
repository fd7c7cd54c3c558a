#include "cli/fitted_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace joulecast::cli {
namespace {

using ::testing::ElementsAre;

Table two_rows() {
    Table table;
    table.heads = {{"device", "device", Show::text}, {"host", "host", Show::text}, {"time", "time", Show::seconds}};
    table.rows = {{Cell("a100"), Cell("python"), Cell(0.001)}, {Cell("h100"), Cell("python"), Cell(0.002)}};
    return table;
}

std::vector<std::string> keys(const Table& table) {
    std::vector<std::string> all;
    for (const Table::Head& head : table.heads) all.push_back(head.key);
    return all;
}

TEST(TableWidth, IsThatOfTheTextsLongestLine) {
    // "device  host    time   " is 6 + 2 + 6 + 2 + 7 columns.
    EXPECT_EQ(table_width(two_rows()), 23U);
}

TEST(TakeAlike, TakesOutWhatEveryRowHasAndSaysIt) {
    Table table = two_rows();
    EXPECT_EQ(take_alike(table, std::array<AlikeColumn, 2>{{{"device"}, {"host", true}}}), "host python");
    EXPECT_THAT(keys(table), ElementsAre("device", "time")) << "devices differ";
    EXPECT_EQ(table.rows[1].size(), 2U);
}

TEST(TakeAlike, SaysNothingOfWhatIsNotKnown) {
    Table table = two_rows();
    for (auto& row : table.rows) row[1] = Cell();
    EXPECT_EQ(take_alike(table, std::array<AlikeColumn, 1>{{{"host"}}}), "");
    EXPECT_THAT(keys(table), ElementsAre("device", "time"));
}

TEST(Fitted, LeavesOutTheLeastNeededUntilItFits) {
    const std::vector<std::string> least{"host", "device"};
    EXPECT_THAT(keys(fitted(two_rows(), least, 23)), ElementsAre("device", "host", "time"));
    EXPECT_THAT(keys(fitted(two_rows(), least, 22)), ElementsAre("device", "time"));
    EXPECT_THAT(keys(fitted(two_rows(), least, 3)), ElementsAre("time")) << "never less than what is needed";
}

}  // namespace
}  // namespace joulecast::cli
