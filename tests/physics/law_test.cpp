#include "joulecast/physics/law.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/error.h"

namespace joulecast {
namespace {

TEST(Law, IsItsFloorForNoWorkAndItsWorkForMuch) {
    const Law law{1e-5, 2, 3};
    EXPECT_DOUBLE_EQ(seconds(law, {0, 0}), 1e-5);
    // 1 s of arithmetic at twice the data sheet's time, 0.1 s of memory at three times: the larger is 2 s.
    EXPECT_DOUBLE_EQ(seconds(law, {1, 0.1}), 2);
    // 0.9 s of memory becomes 2.7 s, more than the 2 s of arithmetic.
    EXPECT_NEAR(seconds(law, {1, 0.9}), 2.7, 1e-12);
}

TEST(Law, AddsNinePercentWhereFloorAndWorkAreEqual) {
    // (1^8 + 1^8)^(1/8) = 2^(1/8) = 1.0905
    EXPECT_NEAR(seconds(Law{1, 1, 1}, {1, 0}), std::pow(2, 0.125), 1e-12);
}

TEST(WorkShare, IsThatOfTheWorkBesideTheFloor) {
    const Law law{1, 2, 1};
    EXPECT_DOUBLE_EQ(work_share(law, {1.5, 0}), 0.75);  // 1.5 s at twice the data sheet's time beside a floor of 1 s
    EXPECT_EQ(work_share(law, {0, 0}), 0);
    EXPECT_EQ(work_share(Law{0, 1, 1}, {0, 0}), 0);
}

TEST(Law, ComesBackFromTimesThatFollowOne) {
    const Law truth{5e-6, 1.8, 2.5};
    std::vector<LawSample> samples;
    for (int i = 0; i < 40; ++i) {
        const double scale = std::pow(10, -7 + 0.1 * i);
        const Roofline work = i % 2 == 0 ? Roofline{scale, scale / 10} : Roofline{scale / 10, scale};
        samples.push_back({work, seconds(truth, work)});
    }
    const Law found = fit_law(samples);
    for (const LawSample& sample : samples) EXPECT_NEAR(seconds(found, sample.roofline) / sample.time_s, 1, 0.02);
    EXPECT_NEAR(found.flop_factor, 1.8, 0.05);
    EXPECT_NEAR(found.byte_factor, 2.5, 0.07);
}

TEST(Law, KeepsTheDataSheetFactorThatNoSampleSpeaksOf) {
    std::vector<LawSample> samples;
    for (int i = 1; i <= 20; ++i) samples.push_back({{0, 1e-4 * i}, 2e-4 * i});
    EXPECT_NEAR(fit_law(samples).flop_factor, 1, 0.2);  // pulled to 1: there is no arithmetic in them
}

// Untuned code of TVM: work that the data sheet puts far below any floor. One floor told all of it.
TEST(Law, FindsCodeThatIsFarSlowerThanTheDataSheet) {
    const Law truth{20e-6, 60, 5};
    std::vector<LawSample> samples;
    for (int i = 0; i < 60; ++i) {
        const Roofline work{1e-4 * std::pow(10, 0.02 * (i % 50)), 1e-4};
        samples.push_back({work, seconds(truth, work)});
    }
    EXPECT_NEAR(fit_law(samples).flop_factor, 60, 3);
}

TEST(Law, LooksAtAllPartsOfMoreSamplesThanItNeeds) {
    // Ten times as many samples as are looked at. The first nine tenths are launches alone; work begins after them.
    const Law truth{5e-6, 1.8, 2.5};
    std::vector<LawSample> samples;
    for (std::size_t i = 0; i < 10 * most_law_samples; ++i) {
        const bool is_work = i >= 9 * most_law_samples;
        const double scale = is_work ? 1e-5 * static_cast<double>(1 + i % 100) : 0;
        const Roofline work = i % 2 == 0 ? Roofline{scale, scale / 10} : Roofline{scale / 10, scale};
        samples.push_back({work, seconds(truth, work)});
    }
    const Law found = fit_law(samples);
    EXPECT_NEAR(found.floor_s / 5e-6, 1, 0.01);
    EXPECT_NEAR(found.flop_factor, 1.8, 0.1);
    EXPECT_NEAR(found.byte_factor, 2.5, 0.1);
}

TEST(Law, RefusesTimesThatCannotBe) {
    const std::vector<LawSample> zero{{{1, 1}, 0.0}};
    EXPECT_THROW(fit_law(zero), Error);
    EXPECT_THROW(fit_law({}), Error);
}

TEST(LawKey, KeepsDepthwiseModeAndTypeApart) {
    const auto key = [](const char* text) { return law_key(parse_operation(text)); };
    EXPECT_EQ(key("aten::conv2d(input=f32[1,8,9,9], weight=f32[4,8,3,3])"), "aten::conv2d|inference|f32");
    EXPECT_EQ(key("aten::conv2d(input=f32[1,8,9,9], weight=f32[8,1,3,3], groups=8)"),
              "aten::conv2d/depthwise|inference|f32");
    EXPECT_EQ(key("aten::conv2d(input=f32[1,8,9,9], weight=f32[8,2,3,3], groups=4)"), "aten::conv2d|inference|f32");
    EXPECT_EQ(key("aten::relu(self=bf16[8]~)"), "aten::relu|training|bf16");
    EXPECT_EQ(sibling_target("aten::relu"), "aten::relu_");
    EXPECT_EQ(sibling_target("aten::add_.Tensor"), "aten::add.Tensor");
    EXPECT_EQ(family_law_key(parse_operation("aten::relu(self=bf16[8]~)")), "elementwise|training|bf16");
}

}  // namespace
}  // namespace joulecast
