#include "joulecast/meter/smi_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

SmiLog log_of(const std::string& text) {
    std::istringstream stream(text);
    return read_smi_log(stream, "power.csv");
}

constexpr const char* header =
    "timestamp, utilization.gpu [%], power.draw [W], memory.used [MiB], memory.total [MiB]\n";

TEST(SmiLog, ReadsTheThesisFormat) {
    const auto log = log_of(std::string(header) +
                            "2024/02/29 12:34:56.789, 97 %, 164.25 W, 2048 MiB, 24576 MiB\n"
                            "2024/02/29 12:34:56.799, 98 %, 165.50 W, 2049 MiB, 24576 MiB\n");
    ASSERT_EQ(log.samples.size(), 2u);
    EXPECT_TRUE(log.has_header);
    const SmiSample& first = log.samples[0];
    EXPECT_NEAR(first.time_s, 1709210096.789, 1e-6);  // date -u -d '2024-02-29 12:34:56.789' +%s.%3N
    EXPECT_EQ(first.power_w, 164.25);
    EXPECT_DOUBLE_EQ(first.utilization, 0.97);
    EXPECT_EQ(first.memory_used_bytes, 2147483648.0);
    EXPECT_EQ(first.memory_total_bytes, 24.0 * 1073741824.0);
    EXPECT_FALSE(first.gpu.has_value());
    EXPECT_NEAR(log.samples[1].time_s - first.time_s, 0.010, 1e-6);
    EXPECT_EQ(log.skipped_lines, 0u);
}

// The thesis writes its logs with noheader, which were refused as no log.
TEST(SmiLog, ReadsTheThesisColumnsWithoutAHeaderWithUnitsOrNone) {
    for (const char* text : {"2024/02/29 12:34:56.789, 97 %, 164.25 W, 2048 MiB, 24576 MiB\n",
                             "2024/02/29 12:34:56.789, 97, 164.25, 2048, 24576\n"}) {
        const auto log = log_of(text);
        ASSERT_EQ(log.samples.size(), 1u) << text;
        EXPECT_FALSE(log.has_header);
        EXPECT_EQ(log.samples[0].power_w, 164.25);
        EXPECT_DOUBLE_EQ(log.samples[0].utilization, 0.97);
        EXPECT_EQ(log.samples[0].memory_used_bytes, 2147483648.0);
        EXPECT_EQ(log.samples[0].memory_total_bytes, 24.0 * 1073741824.0);
    }
}

TEST(SmiLog, AHalfLineBeforeTheFirstWholeOneDecidesNoColumns) {
    const auto log = log_of("4 W, 2048 MiB, 24576 MiB\n2024/02/29 12:34:56.789, 97 %, 164.25 W, 2048 MiB, 24576 MiB\n");
    EXPECT_EQ(log.samples.size(), 1u);
    EXPECT_EQ(log.skipped_lines, 1u);
}

TEST(SmiLog, ColumnsGoByNameInAnyOrderWithoutUnitsAndWithCarriageReturns) {
    const auto log = log_of(
        "index, power.draw [W], name, timestamp\r\n"
        "1, 60.5, NVIDIA A30, 2024/02/29 12:34:56\r\n");
    ASSERT_EQ(log.samples.size(), 1u);
    EXPECT_EQ(log.samples[0].power_w, 60.5);
    EXPECT_EQ(log.samples[0].gpu, 1);
    EXPECT_EQ(log.samples[0].time_s, 1709210096.0);
    EXPECT_TRUE(std::isnan(log.samples[0].memory_used_bytes));
}

TEST(SmiLog, InstantPowerGoesBeforeTheMeanOfASecond) {
    const auto log = log_of(
        "timestamp, power.draw [W], power.draw.instant [W], power.draw.average [W]\n"
        "2024/02/29 12:34:56.789, 100.0, 150.0, 90.0\n");
    EXPECT_EQ(log.samples.at(0).power_w, 150.0);
}

TEST(SmiLog, WhatTheCardDoesNotTellIsNotANumber) {
    const auto log = log_of(std::string(header) +
                            "2024/02/29 12:34:56.789, [N/A], [Not Supported], 5 MiB, N/A\n"
                            "2024/02/29 12:34:56.799, 1 %, [Unknown Error], [GPU is lost], 6 MiB\n");
    ASSERT_EQ(log.samples.size(), 2u);
    EXPECT_TRUE(std::isnan(log.samples[0].utilization));
    EXPECT_TRUE(std::isnan(log.samples[0].power_w));
    EXPECT_TRUE(std::isnan(log.samples[1].power_w));
    EXPECT_TRUE(std::isnan(log.samples[1].memory_used_bytes));
}

TEST(SmiLog, HalfLinesAreSkippedAndCounted) {
    const std::string full = "2024/02/29 12:34:56.789, 97 %, 164.25 W, 2048 MiB, 24576 MiB\n";
    const auto log = log_of(header + full + "2024/02/29 12:34:56.7\n" + "Unable to reach the GPU\n" + full);
    EXPECT_EQ(log.samples.size(), 2u);
    EXPECT_EQ(log.skipped_lines, 2u);
    EXPECT_EQ(log.first_skipped, "2024/02/29 12:34:56.7");
    // Cut off in the last number, it still has all of its columns: only the missing end of the line tells.
    EXPECT_EQ(log_of(header + full + "2024/02/29 12:34:56.799, 97 %, 164.25 W, 2048 MiB, 245").samples.size(), 1u);
}

TEST(SmiLog, WrongUnitsTimesAndNumbersAreNotGuessedAt) {
    SmiLines lines;
    lines.take("timestamp, power.draw [W]");
    for (const char* line :
         {"2024/02/29 12:34:56.789, 164.25 mW", "2024/02/29 12:34:56.789, 1e999 W", "2024/02/29 12:34:56.789, inf W",
          "2024/02/30 12:34:56.789, 1 W", "2024/02/29 25:34:56.789, 1 W", "2024/02/29 12:34:56., 1 W",
          "2024/02/29, 1 W", "2024-02-29 12:34:56, 1 W", "2024/02/29 12:34:56.789, 1 W, 2",
          "99999999999/1/1 0:0:0, 1 W"}) {
        EXPECT_FALSE(lines.take(line).has_value()) << line;
    }
    EXPECT_EQ(lines.skipped(), 10u);
}

TEST(SmiLog, AHeaderInTheMiddleOfJoinedLogsCountsFromThereOn) {
    const auto log = log_of(
        "timestamp, power.draw [W]\n2024/02/29 12:34:56.789, 1 W\n"
        "power.draw [W], timestamp\n2 W, 2024/02/29 12:34:57.789\n");
    ASSERT_EQ(log.samples.size(), 2u);
    EXPECT_EQ(log.samples[1].power_w, 2.0);
}

TEST(SmiLog, WhatIsNoLogIsRefusedWithAReason) {
    const auto message = [](const std::string& text) -> std::string {
        try {
            log_of(text);
        } catch (const FormatError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(message("2024/02/29 12:34:56.789, 97 %, 164.25 W\n"), HasSubstr("without noheader"));
    // Another order than the thesis': units tell, and where there are none a memory of which more is used than there
    // is.
    EXPECT_THAT(message("2024/02/29 12:34:56.789, 164.25 W, 97 %, 5 MiB, 9 MiB\n"), HasSubstr("without noheader"));
    EXPECT_THAT(message("2024/02/29 12:34:56.789, 164.25, 97, 5, 9\n"), HasSubstr("without noheader"));
    EXPECT_THAT(message("2024/02/29 12:34:56.789, 97, 164.25, 24576, 2048\n"), HasSubstr("without noheader"));
    EXPECT_THAT(message(std::string(header) + "No devices were found\n"), HasSubstr("it says: No devices were found"));
}

}  // namespace
}  // namespace joulecast
