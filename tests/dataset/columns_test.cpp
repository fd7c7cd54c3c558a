#include "joulecast/dataset/columns.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "joulecast/error.h"

namespace joulecast {
namespace {

TEST(Symbols, AreWrittenAndReadAlike) {
    const std::map<std::string, std::int64_t> symbols = {{"batch", 8}, {"seq", 128}};
    EXPECT_EQ(symbols_text(symbols), "batch=8;seq=128");
    EXPECT_EQ(parse_symbols("batch=8;seq=128"), symbols);
    EXPECT_TRUE(parse_symbols("").empty());
}

TEST(Symbols, AreRefusedWhenMalformed) {
    for (const char* text : {"batch", "=8", "batch=", "batch=8x", "batch=8;;seq=1", "batch=99999999999999999999"})
        EXPECT_THROW(parse_symbols(text), FormatError) << text;
}

TEST(Columns, KeepTheClocksThatADriverLists) {
    const auto& columns = device_columns();
    const auto clocks = std::ranges::find(columns, "core_clocks_mhz", &StoredColumn<Device>::name);
    ASSERT_NE(clocks, columns.end());
    Device device;
    EXPECT_EQ(clocks->get(device), Field{});
    device.core_clocks_mhz = {600, 607.5, 1410};
    EXPECT_EQ(clocks->get(device), Field{"600;607.5;1410"});
    Device again;
    clocks->set(again, clocks->get(device));
    EXPECT_EQ(again.core_clocks_mhz, device.core_clocks_mhz);
    clocks->set(again, Field{});
    EXPECT_TRUE(again.core_clocks_mhz.empty());
    for (const char* wrong : {"615;600", "600;600", "0;600", "-600", "600;", ";600", "600;;615", "600 615", "inf", "x"})
        EXPECT_THROW(clocks->set(again, Field{wrong}), FormatError) << wrong;
}

// Every row is read with the texts of its session: 2 MB of settings took 5 GB to export.
TEST(Columns, RefuseLongTextsOfSessions) {
    const auto& columns = session_columns();
    const auto settings = std::ranges::find(columns, "settings", &StoredColumn<Provenance>::name);
    ASSERT_NE(settings, columns.end());
    Provenance session;
    settings->set(session, Field{std::string(4096, 'x')});
    EXPECT_EQ(settings->get(session), Field{std::string(4096, 'x')});
    EXPECT_THROW(settings->set(session, Field{std::string(4097, 'x')}), FormatError);
    session.settings += 'x';
    EXPECT_THROW(settings->get(session), FormatError);
}

TEST(Columns, RefuseCountsOutOfRange) {
    OperationRow row;
    for (const auto& column : operation_columns())
        if (column.name == "threads") {
            EXPECT_THROW(column.set(row, Field{std::int64_t{-1}}), FormatError);
            EXPECT_THROW(column.set(row, Field{std::int64_t{1} << 40}), FormatError);
            column.set(row, Field{std::int64_t{4}});
        }
    EXPECT_EQ(row.measurement.asked.threads, 4);
}

}  // namespace
}  // namespace joulecast
