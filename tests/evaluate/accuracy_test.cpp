#include "joulecast/evaluate/accuracy.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

OutOfFoldRow row(std::size_t fold, double measured, double predicted, double low, double high,
                 const std::string& family = "matmul", const std::string& group = "g") {
    return {"joulecast", "time_s", family, "cpu", "inference", "ieee", fold, group, measured, predicted, "", low, high};
}

TEST(Accuracy, IsWhatTheFormulasSay) {
    const std::vector rows{row(0, 1, 1.5, 0, 2), row(0, 2, 2, 1, 3, "matmul", "h"), row(0, 4, 3, 2.5, 3.5)};
    const Accuracy a = accuracies(rows).front();
    EXPECT_EQ(a.family, "all");
    EXPECT_EQ(a.rows, 3);
    EXPECT_EQ(a.groups, 2);
    // Residual 0.25 + 0 + 1; mean 7/3, total 16/9 + 1/9 + 25/9 = 42/9.
    EXPECT_NEAR(a.r2, 1 - 1.25 / (42.0 / 9), 1e-12);
    EXPECT_NEAR(a.mape, (0.5 + 0 + 0.25) / 3, 1e-12);
    EXPECT_NEAR(a.median_ape, 0.25, 1e-12);
    EXPECT_NEAR(a.mae, 0.5, 1e-12);
    EXPECT_NEAR(a.medae, 0.5, 1e-12);
    EXPECT_NEAR(a.max_error, 1, 1e-12);
    EXPECT_NEAR(a.interval.share, 2.0 / 3, 1e-12);  // 4 is above 3.5
    EXPECT_NEAR(a.interval.width, (2 / 1.5 + 2.0 / 2 + 1.0 / 3) / 3, 1e-12);
}

TEST(Accuracy, SaysWhatSoManyRowsCanTellOfAHitRate) {
    std::vector<OutOfFoldRow> rows;
    for (int i = 0; i < 18; ++i) rows.push_back(row(0, 1, 1, i < 14 ? 0.5 : 2, 3));
    const Coverage c = accuracies(rows).front().interval;
    EXPECT_EQ(c.rows, 18);
    EXPECT_EQ(c.inside, 14);
    // scipy.stats.binomtest(14, 18).proportion_ci(0.95, "exact")
    EXPECT_NEAR(c.bounds.low, 0.5236272342636347, 1e-9);
    EXPECT_NEAR(c.bounds.high, 0.9359079522820022, 1e-9);
    EXPECT_EQ(c.contains_90(), true);
    std::vector<OutOfFoldRow> many(1184, row(0, 1, 1, 0.5, 3));
    for (int i = 0; i < 87; ++i) many[static_cast<std::size_t>(i)].low = 2;
    EXPECT_EQ(accuracies(many).front().interval.contains_90(), false);  // 1097 of 1184: 0.910 to 0.941
    EXPECT_FALSE(coverage({}).contains_90().has_value());
}

TEST(Accuracy, AveragesOverFolds) {
    // Fold 0 is perfect (1), fold 1 is at the mean of its rows (0).
    const std::vector rows{row(0, 1, 1, 0, 2), row(0, 2, 2, 0, 2), row(1, 1, 2, 0, 2), row(1, 3, 2, 0, 2)};
    const Accuracy a = accuracies(rows).front();
    EXPECT_NEAR(a.r2_fold_mean, 0.5, 1e-12);
    EXPECT_NEAR(a.r2_fold_std, 0.5, 1e-12);
}

TEST(Accuracy, IsMissingWhereItIsNotDefined) {
    const std::vector rows{row(0, 0, 0, NAN, NAN)};
    const Accuracy a = accuracies(rows).front();
    EXPECT_TRUE(std::isnan(a.r2));
    EXPECT_TRUE(std::isnan(a.mape));
    EXPECT_TRUE(std::isnan(a.interval.share));
}

TEST(Accuracies, ComeForAllAndEachFamilyOfEachModel) {
    std::vector rows{row(0, 1, 1, 0, 2), row(0, 1, 1, 0, 2, "copy"), row(0, 1, 1, 0, 2)};
    rows[2].model = "roofline";
    const auto all = accuracies(rows);
    ASSERT_EQ(all.size(), 5U);  // joulecast: all, copy, matmul; roofline: all, matmul
    EXPECT_EQ(all[0].rows, 2);
    EXPECT_EQ(all[3].model, "roofline");
}

TEST(Accuracies, CountRowsWithoutAForecastAndLeaveThemOut) {
    std::vector rows{row(0, 1, 2, 0, 3), row(0, 1, NAN, NAN, NAN), row(0, 1, NAN, NAN, NAN, "copy")};
    const auto all = accuracies(rows);
    ASSERT_EQ(all.size(), 2U);  // all and matmul; nothing is known of copies
    EXPECT_EQ(all[0].rows, 1);
    EXPECT_EQ(all[0].rows_without_forecast, 2);
    EXPECT_DOUBLE_EQ(all[0].mape, 1);
    EXPECT_EQ(all[1].rows_without_forecast, 1);
}

TEST(Accuracies, NameAModelThatForecastsNothing) {
    const auto all = accuracies(std::vector{row(0, 1, NAN, NAN, NAN)});
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].rows, 0);
    EXPECT_TRUE(std::isnan(all[0].mape));
    EXPECT_TRUE(std::isnan(all[0].max_error));
}

}  // namespace
}  // namespace joulecast
