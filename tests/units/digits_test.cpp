#include "joulecast/units/digits.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace joulecast {
namespace {

template <class Number>
std::string digits_of(Number value) {
    std::string text;
    append_digits(text, value);
    return text;
}

TEST(AppendDigits, ARealNumberShowsThatItIsOne) {
    EXPECT_EQ(digits_of(3.0), "3.0");
    EXPECT_EQ(digits_of(-0.0), "-0.0");
    EXPECT_EQ(digits_of(1e-5), "1e-05");
    EXPECT_EQ(digits_of(1e22), "1e+22");
    EXPECT_EQ(digits_of(std::int64_t{3}), "3");
}

TEST(AppendDigits, TheFewestThatReadBackAsTheSame) {
    EXPECT_EQ(digits_of(0.1), "0.1");
    for (const double value :
         {1.0 / 3, 0.1 + 0.2, std::numeric_limits<double>::denorm_min(), -std::numeric_limits<double>::max()}) {
        EXPECT_EQ(std::strtod(digits_of(value).c_str(), nullptr), value);
    }
    // 20 characters, the longest integer there is.
    EXPECT_EQ(digits_of(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

TEST(Digits, AWholeNumberIsCounted) {
    EXPECT_EQ(digits(1410), "1410");
    EXPECT_EQ(digits(0.5), "0.5");
    EXPECT_EQ(digits(-0.0), "-0");
    EXPECT_EQ(digits(1e-5), "1e-05");
    EXPECT_EQ(digits(std::numeric_limits<double>::infinity()), "inf");
}

TEST(AppendDigits, KeepsWhatIsThere) {
    std::string text = "time_s=";
    append_digits(text, 0.25);
    EXPECT_EQ(text, "time_s=0.25");
}

}  // namespace
}  // namespace joulecast
