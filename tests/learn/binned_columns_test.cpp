#include "joulecast/learn/binned_columns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace joulecast {
namespace {

/// One column with the value of `of(row)`.
template <class Value>
Samples one_column(std::size_t rows, Value of) {
    Samples samples(rows, 1);
    for (std::size_t row = 0; row < rows; ++row) samples.set(row, 0, of(row));
    return samples;
}

TEST(BinnedColumns, GivesEveryValueABinWhereTheyAreFew) {
    // 0 1 2 0 1 2 ... in reverse order: bins in the order of values.
    const Samples samples = one_column(30, [](std::size_t row) { return static_cast<float>(2 - row % 3); });
    const BinnedColumns bins(samples);
    for (std::size_t row = 0; row < 30; ++row) EXPECT_EQ(bins.column(0)[row], 2 - row % 3);
    for (std::size_t bin = 0; bin < 3; ++bin) {
        EXPECT_EQ(bins.low(0, bin), static_cast<float>(bin));
        EXPECT_EQ(bins.high(0, bin), static_cast<float>(bin));
    }
}

TEST(BinnedColumns, FillsItsBinsEvenly) {
    // 25,500 distinct values over 255 bins of finite values: 100 each.
    const Samples samples = one_column(25500, [](std::size_t row) { return static_cast<float>(row * 7 % 25500); });
    const BinnedColumns bins(samples);
    EXPECT_LE(bins.bin_count(0), BinnedColumns::most_bins);
    std::vector<std::size_t> rows(bins.bin_count(0));
    for (const std::uint8_t bin : bins.column(0)) ++rows[bin];
    for (std::size_t bin = 0; bin < 255; ++bin) {
        EXPECT_EQ(rows[bin], 100U) << bin;
        EXPECT_EQ(bins.low(0, bin), static_cast<float>(100 * bin));
        EXPECT_EQ(bins.high(0, bin), static_cast<float>(100 * bin + 99));
    }
}

TEST(BinnedColumns, KeepsMissingValuesApart) {
    const Samples samples =
        one_column(10, [](std::size_t row) { return row < 4 ? std::nanf("") : static_cast<float>(row); });
    const BinnedColumns bins(samples);
    const std::size_t last = bins.bin_count(0) - 1;
    for (std::size_t row = 0; row < 10; ++row) EXPECT_EQ(bins.column(0)[row] == last, row < 4) << row;
    EXPECT_EQ(bins.low(0, last), std::numeric_limits<float>::infinity());
}

TEST(BinnedColumns, TakesRowsThatItsQuantilesDidNotSee) {
    // Beyond 2^18 rows every other one is looked at: the odd rows lie above all of those.
    const std::size_t rows = (std::size_t{1} << 18U) + 2;
    const Samples samples =
        one_column(rows, [](std::size_t row) { return row % 2 == 0 ? 1.0F : 1000.0F + static_cast<float>(row); });
    const BinnedColumns bins(samples);
    const std::uint8_t bin = bins.column(0)[rows - 1];
    EXPECT_EQ(bins.high(0, bin), 1000.0F + static_cast<float>(rows - 1));
    EXPECT_LT(bin, bins.bin_count(0) - 1);  // not among the missing ones
}

TEST(BinnedColumns, HoldsColumnsOfNothingButMissingValues) {
    const BinnedColumns bins(one_column(3, [](std::size_t) { return std::nanf(""); }));
    for (const std::uint8_t bin : bins.column(0)) EXPECT_EQ(bin, bins.bin_count(0) - 1);
}

}  // namespace
}  // namespace joulecast
