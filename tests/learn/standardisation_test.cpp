#include "joulecast/learn/standardisation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "joulecast/error.h"

namespace joulecast {
namespace {

constexpr float missing = std::numeric_limits<float>::quiet_NaN();

Samples column(const std::vector<float>& values) {
    Samples samples(values.size(), 1);
    for (std::size_t row = 0; row < values.size(); ++row) samples.set(row, 0, values[row]);
    return samples;
}

TEST(Standardisation, TakesTheMeanAwayAndDividesByTheDeviation) {
    // 1 3 5 7: mean 4, variance (9 + 1 + 1 + 9) / 4 = 5.
    const auto s = fit_standardisation(column({1, 3, 5, 7}));
    EXPECT_DOUBLE_EQ(prepared(s, std::vector{7.0F})[0], 3 / std::sqrt(5));
    EXPECT_DOUBLE_EQ(prepared(fit_standardisation(column({1, 3, 5, 7}), false), std::vector{7.0F})[0], 3);
}

TEST(Standardisation, PutsMissingAtTheMeanAndMarksIt) {
    // 2 4 and two missing: mean 3, variance (1 + 1 + 0 + 0) / 4; the mark is 0 0 1 1: mean 0.5, deviation 0.5.
    const auto s = fit_standardisation(column({2, 4, missing, missing}));
    ASSERT_EQ(s.flagged, std::vector<std::uint32_t>{0});
    EXPECT_EQ(prepared(s, std::vector{missing}), (std::vector<double>{0, 1}));
    EXPECT_EQ(prepared(s, std::vector{std::numeric_limits<float>::infinity()}), (std::vector<double>{0, 1}));
    EXPECT_EQ(prepared(s, std::vector{3.0F}), (std::vector<double>{0, -1}));
    EXPECT_DOUBLE_EQ(prepared(s, std::vector{4.0F})[0], std::sqrt(2));
}

TEST(Standardisation, MarksNothingThatIsAlwaysOrNeverMissing) {
    EXPECT_TRUE(fit_standardisation(column({1, 2})).flagged.empty());
    const auto always = fit_standardisation(column({missing, missing}));
    EXPECT_TRUE(always.flagged.empty());
    EXPECT_EQ(prepared(always, std::vector{5.0F}), std::vector<double>{5});  // mean 0, scale 1
}

TEST(Standardisation, LeavesConstantColumnsAtZero) {
    const auto s = fit_standardisation(column({0.1F, 0.1F, 0.1F}));
    EXPECT_EQ(s.scales[0], 1);
    EXPECT_NEAR(prepared(s, std::vector{0.1F})[0], 0, 1e-15);
}

TEST(Standardisation, RefusesRowsOfAnotherWidth) {
    const auto s = fit_standardisation(column({1, 2}));
    EXPECT_THROW(prepared(s, std::vector{1.0F, 2.0F}), Error);
    EXPECT_NO_THROW(check(s, 1));
    EXPECT_THROW(check(s, 2), FormatError);
}

TEST(Standardisation, RefusesNumbersThatNoTrainingGives) {
    const auto broken = [](auto change) {
        Standardisation s = fit_standardisation(column({1, 2, missing}));
        change(s);
        EXPECT_THROW(check(s, 1), FormatError);
    };
    broken([](Standardisation& s) { s.scales[0] = 0; });
    broken([](Standardisation& s) { s.means[0] = std::nan(""); });
    broken([](Standardisation& s) { s.flagged[0] = 1; });
    broken([](Standardisation& s) { s.scales.pop_back(); });
}

TEST(TargetScale, IsOneForTargetsThatAreAllAlike) {
    const auto scale = target_scale(std::vector<double>{2, 2, 2});
    EXPECT_EQ(scale.mean, 2);
    EXPECT_EQ(scale.scale, 1);
    EXPECT_EQ(target_scale(std::vector<double>{1, 3}).scale, 1);
    EXPECT_EQ(target_scale(std::vector<double>{1, 5}).scale, 2);
}

}  // namespace
}  // namespace joulecast
