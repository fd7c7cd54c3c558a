#include "cli/asked_numbers.h"

#include <gtest/gtest.h>

#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

TEST(AskedCount, TakesCommasBetweenGroupsOfThreeDigits) {
    EXPECT_EQ(asked_count("--samples", "1,281,167"), 1281167);
    EXPECT_EQ(asked_count("--samples", "1281167"), 1281167);
    EXPECT_EQ(asked_count("--samples", "1.5e6"), 1.5e6);
    for (const char* wrong : {"", "1,28", "1,2811,67", ",100", "100,", "1,000.5", "-3", "0", "many", "1e999", "nan"})
        EXPECT_THROW(asked_count("--samples", wrong), UsageError) << wrong;
}

TEST(AskedBytes, TakesUnitsOfTenAndOfTwo) {
    EXPECT_EQ(asked_bytes("--max-memory", "40GB"), 40e9);
    EXPECT_EQ(asked_bytes("--max-memory", "40 gb"), 40e9);
    EXPECT_EQ(asked_bytes("--max-memory", "40GiB"), 40 * 1073741824.0);
    EXPECT_EQ(asked_bytes("--max-memory", "1.5M"), 1.5e6);
    EXPECT_EQ(asked_bytes("--max-memory", "8e9"), 8e9);
    for (const char* wrong : {"", "GB", "-1GB", "40XB", "0", "inf", "1e300TB", "4,0GB"})
        EXPECT_THROW(asked_bytes("--max-memory", wrong), UsageError) << wrong;
}

TEST(AskedShare, IsWithOrWithoutTheSignOfPercent) {
    EXPECT_DOUBLE_EQ(asked_share("--max-slowdown", "5%"), 0.05);
    EXPECT_DOUBLE_EQ(asked_share("--max-slowdown", "+2 %"), 0.02);
    EXPECT_DOUBLE_EQ(asked_share("--max-slowdown", "-10%"), -0.1);
    EXPECT_DOUBLE_EQ(asked_share("--max-slowdown", "0.05"), 0.05);
    for (const char* wrong : {"", "%", "five", "-100%", "-2", "inf%"})
        EXPECT_THROW(asked_share("--max-slowdown", wrong), UsageError) << wrong;
}

TEST(AskedNumbers, NameTheOption) {
    try {
        asked_count("--samples", "1,28");
        FAIL() << "taken";
    } catch (const UsageError& error) {
        EXPECT_STREQ(error.what(),
                     "--samples takes a number above zero, as in 1281167, 1,281,167 or 1.28e6, not '1,28'");
    }
}

}  // namespace
}  // namespace joulecast::cli
