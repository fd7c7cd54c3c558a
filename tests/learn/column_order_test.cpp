#include "joulecast/learn/column_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Column 0: 3 -1 3 missing -0.5; column 1 is constant.
Samples sample() {
    Samples samples(5, 2);
    const float first[] = {3, -1, 3, std::nanf(""), -0.5F};
    for (std::size_t row = 0; row < 5; ++row) samples.set_row(row, std::vector{first[row], 7.0F});
    return samples;
}

TEST(ColumnOrder, SortsByValueThenRowWithMissingValuesLast) {
    const ColumnOrder order(sample());
    EXPECT_THAT(order.column(0), ElementsAre(1, 4, 0, 2, 3));
    EXPECT_THAT(order.column(1), IsEmpty());
}

TEST(ColumnOrder, TakesBothZerosForEqual) {
    Samples samples(3, 1);
    samples.set(0, 0, 0.0F);
    samples.set(1, 0, -0.0F);
    samples.set(2, 0, -1.0F);
    EXPECT_THAT(ColumnOrder(samples).column(0), ElementsAre(2, 0, 1));
}

TEST(PresortedRows, RepeatsRowsAsOftenAsTheTreeDrewThem) {
    const Samples samples = sample();
    const std::vector<std::uint32_t> drawn{2, 4, 2, 1, 2};
    const PresortedRows rows(ColumnOrder(samples), 2, drawn, 5);
    EXPECT_THAT(rows.rows(0, {0, 5}), ElementsAre(1, 4, 2, 2, 2));
}

TEST(PresortedRows, StaysInOrderOnBothSidesOfACut) {
    const Samples samples = sample();
    const std::vector<std::uint32_t> all{0, 1, 2, 3, 4};
    PresortedRows rows(ColumnOrder(samples), 2, all, 5);
    // Sorted 1 4 0 2 3; rows 0, 1 and 3 go left.
    rows.divide(0, {0, 5}, std::vector<std::uint8_t>{1, 1, 0, 1, 0});
    EXPECT_THAT(rows.rows(0, {0, 3}), ElementsAre(1, 0, 3));
    EXPECT_THAT(rows.rows(0, {3, 5}), ElementsAre(4, 2));
    // A node divides its own rows only.
    rows.divide(0, {0, 3}, std::vector<std::uint8_t>{1, 0, 1, 1, 1});
    EXPECT_THAT(rows.rows(0, {0, 5}), ElementsAre(0, 3, 1, 4, 2));
}

}  // namespace
}  // namespace joulecast
