#include "joulecast/model/residual_process.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/train/residual_prior.h"

namespace joulecast {
namespace {

ResidualPrior prior() {
    ResidualPrior p;
    p.common = 0.1;
    p.compute = 0;
    p.memory = 0;
    p.of_family = 0;
    p.within = 0.2 * std::sqrt(2.0);  // half smooth, half noise: 0.2 each
    p.devices = 5;
    return p;
}

ResidualPlace place(Family family, double m) {
    ResidualPlace one;
    one.family = family;
    one.at[0] = m;
    return one;
}

TEST(ResidualProcess, OneMeasurementMovesItByTheShareThatIsSignal) {
    ResidualProcess process(prior());
    const ResidualPlace here = place(Family::matmul, 0);
    process.condition(std::vector{here}, std::vector{0.0});
    // k / (k + noise) of an error of zero is zero; the variance left is k - k^2 / (k + noise), k = 0.01 + 0.04. The
    // weight of a point without error is that of the prior's noise or more: (4 + 0) / (4 + 1) of it after the first
    // round.
    const double k = 0.05;
    EXPECT_EQ(process.at(here).mean, 0);
    EXPECT_NEAR(process.at(here).deviation, std::sqrt(k - k * k / (k + 0.8 * 0.04)), 1e-9);
}

TEST(ResidualProcess, OtherFamiliesMoveWithTheDeviceOnly) {
    ResidualProcess process(prior());
    std::vector<ResidualPlace> places;
    std::vector<double> errors;
    for (int i = 0; i < 20; ++i) {
        places.push_back(place(Family::matmul, i));
        errors.push_back(0.3);
    }
    process.condition(places, errors);
    const double near = process.at(places[10]).mean;
    const double far = process.at(place(Family::softmax, 0)).mean;
    EXPECT_GT(near, 0.2);
    EXPECT_GT(far, 0.05);
    EXPECT_LT(far, near);
}

TEST(ResidualProcess, AnOutlierCountsLess) {
    ResidualProcess process(prior());
    std::vector<ResidualPlace> places(9, place(Family::matmul, 0));
    std::vector<double> errors(9, 0.1);
    errors[4] = 3;
    process.condition(places, errors);
    // The mean of all nine is 0.42.
    EXPECT_LT(process.at(places[0]).mean, 0.25);
}

TEST(ResidualProcess, BandsAreStudentsForTheDeviceAndNormalForAnOperation) {
    const ResidualProcess process(prior());
    // t(0.95) of four degrees is 2.132 (tables); prior deviation sqrt(0.01 + 0.04), noise 0.2.
    const auto belief = process.at(place(Family::matmul, 0));
    EXPECT_NEAR(process.half_width_90(belief, place(Family::matmul, 0)),
                std::hypot(2.132 * std::sqrt(0.05), 1.645 * 0.2), 1e-3);
}

TEST(ResidualProcess, WhatPartsOfASumHaveInCommonStaysAndTheirOwnNoiseAveragesOut) {
    const ResidualProcess process(prior());
    const auto off = [&](const std::vector<ResidualProcess::Part>& parts) { return process.deviation_of_sum(parts); };
    const double t = 2.132 / 1.645;  // of four degrees, as above
    const ResidualPlace here = place(Family::matmul, 0);
    EXPECT_NEAR(off({{here, 1}}), std::hypot(t * std::sqrt(0.05), 0.2), 1e-3);
    // Two at one place err alike but for their noise; of two families only the device is the same: 0.01 of 0.05.
    EXPECT_NEAR(off({{here, 0.5}, {here, 0.5}}), std::hypot(t * std::sqrt(0.05), 0.2 / std::sqrt(2)), 1e-3);
    EXPECT_NEAR(off({{here, 0.5}, {place(Family::softmax, 0), 0.5}}),
                std::hypot(t * std::sqrt(0.25 * 0.05 * 2 + 0.5 * 0.01), 0.2 / std::sqrt(2)), 1e-3);
    // A part of no weight adds nothing.
    EXPECT_NEAR(off({{here, 1}, {place(Family::softmax, 0), 0}}), off({{here, 1}}), 1e-12);
    EXPECT_EQ(off({}), 0);
}

TEST(ResidualProcess, MeasuredOperationsTellOfASumThatHasThem) {
    ResidualProcess process(prior());
    const std::vector<ResidualProcess::Part> sum{{place(Family::matmul, 0), 0.7}, {place(Family::softmax, 0), 0.3}};
    const double before = process.deviation_of_sum(sum);
    process.condition(std::vector<ResidualPlace>(20, place(Family::matmul, 0)), std::vector<double>(20, 0.1));
    const double after = process.deviation_of_sum(sum);
    EXPECT_LT(after, 0.7 * before);
    // The sum of one part is what at() says of it.
    const auto belief = process.at(place(Family::softmax, 0));
    EXPECT_NEAR(1.645 * process.deviation_of_sum(std::vector<ResidualProcess::Part>{{place(Family::softmax, 0), 1}}),
                process.half_width_90(belief, place(Family::softmax, 0)), 1e-3);
}

TEST(ResidualProcess, ItsMeanIsHadAloneToo) {
    ResidualProcess process(prior());
    EXPECT_EQ(process.mean_at(place(Family::matmul, 0)), 0);
    process.condition(std::vector{place(Family::matmul, 0), place(Family::softmax, 1)}, std::vector{0.3, -0.1});
    for (const ResidualPlace& at : {place(Family::matmul, 0.5), place(Family::softmax, 0), place(Family::copy, 0)})
        EXPECT_EQ(process.mean_at(at), process.at(at).mean);
}

ResidualPlace analytic(std::string_view target, double elements) {
    ResidualPlace one = place(Family::indexing, elements);
    one.analytic_kind = residual_kind(target);
    return one;
}

TEST(ResidualProcess, WhatNoModelTellsIsOffByAFactorOfFourBeforeAnyOfItWasMeasured) {
    ResidualPrior alone = prior();
    alone.common = alone.compute = alone.memory = 0;
    const ResidualPlace gather = analytic("aten::gather", 0);
    const double variance = covariance(alone, gather, gather) + alone.noise_variance(gather);
    EXPECT_NEAR(1.645 * std::sqrt(variance), std::log(4), 0.02);
}

TEST(ResidualProcess, WhatNoModelTellsIsOffAsItsKindWasMeasuredToBe) {
    ResidualProcess process(prior());
    const std::vector<ResidualPlace> measured{analytic("aten::gather", 0), analytic("aten::gather", 1)};
    process.condition(measured, std::vector{-0.9, -0.9});
    const ResidualPlace larger = analytic("aten::gather", 6), other = analytic("aten::index.Tensor", 0);
    EXPECT_LT(process.at(larger).mean, -0.5);
    EXPECT_GT(process.at(other).mean, process.at(larger).mean / 2);
    EXPECT_LT(process.half_width_90(process.at(larger), larger), 0.9 * process.half_width_90(process.at(other), other));
    // What a model tells of the same family errs in a way of its own.
    EXPECT_GT(process.at(place(Family::indexing, 0)).mean, -0.1);
}

TEST(ResidualProcess, KindsAreNamesOfCallsInPlaceOrNot) {
    EXPECT_EQ(residual_kind("aten::relu_"), residual_kind("aten::relu"));
    EXPECT_EQ(residual_kind("aten::mul_.Tensor"), residual_kind("aten::mul.Scalar"));
    EXPECT_NE(residual_kind("aten::mul.Tensor"), residual_kind("aten::add.Tensor"));
    EXPECT_EQ(residual_kind(""), residual_kind("_"));
}

TEST(ResidualProcess, RefusesWhatCannotBe) {
    ResidualProcess process;
    EXPECT_THROW(process.condition(std::vector{place(Family::matmul, 0)}, {}), Error);
    EXPECT_THROW(process.condition(std::vector{place(Family::matmul, 0)}, std::vector{std::nan("")}), Error);
}

TEST(MostTelling, IsTheOneAmongThoseAskedFor) {
    const std::vector<ResidualPlace> candidates{place(Family::softmax, 0), place(Family::matmul, 9),
                                                place(Family::matmul, 1)};
    const std::vector<ResidualTarget> targets{{place(Family::matmul, 0.9), 1}, {place(Family::matmul, 1.1), 1}};
    const auto chosen = most_telling(prior(), candidates, targets, 2);
    ASSERT_EQ(chosen.size(), 2U);
    EXPECT_EQ(chosen[0], 2U);
    EXPECT_EQ(most_telling(prior(), candidates, targets, 9).size(), 3U);
}

TEST(MostTelling, LooksAtWhatCountsMost) {
    const std::vector<ResidualPlace> candidates{place(Family::matmul, 0), place(Family::matmul, 9)};
    const auto first = [&](double weight) {
        const std::vector<ResidualTarget> targets{{place(Family::matmul, 0.1), weight}, {place(Family::matmul, 9), 1}};
        return most_telling(prior(), candidates, targets, 1).at(0);
    };
    EXPECT_EQ(first(3), 0U);
    EXPECT_EQ(first(0.3), 1U);
}

TEST(ResidualPlace, TellsAlignedProductsFromOthers) {
    const Device v100 = find_device("v100-32g-pcie");
    const auto at = [&](const std::string& sizes) {
        const Operation product = parse_operation("aten::bmm(self=f32[1,512," + sizes + "])");
        return residual_place(prepare(product, v100, Math::ieee), v100);
    };
    const ResidualPlace whole = at("512], mat2=f32[1,512,512"), odd = at("511], mat2=f32[1,511,512"),
                        odder = at("509], mat2=f32[1,509,510");
    EXPECT_LT(covariance(prior(), whole, odd), 0.5 * covariance(prior(), whole, whole));
    EXPECT_GT(covariance(prior(), odd, odder), 0.9 * covariance(prior(), odd, odd));
}

TEST(ResidualPlace, TellsCallsWithABackwardPassFromOthers) {
    const Device v100 = find_device("v100-32g-pcie");
    const auto at = [&](const std::string& mark) {
        const Operation relu = parse_operation("aten::relu(self=f32[512,512]" + mark + ")");
        return residual_place(prepare(relu, v100, Math::ieee), v100);
    };
    const double alike = covariance(prior(), at(""), at(""));
    EXPECT_NEAR(covariance(prior(), at("~"), at("~")), alike, 1e-15);
    EXPECT_LT(covariance(prior(), at(""), at("~")), 0.75 * alike);
}

TEST(ResidualPlace, TellsWidthsOfNumbersApart) {
    const Device a100 = find_device("a100-40g-pcie");
    const auto width = [&](const std::string& type, Math math) {
        const Operation linear = parse_operation("aten::linear(input=" + type + "[64,64], weight=" + type + "[64,64])");
        return residual_place(prepare(linear, a100, math), a100).width;
    };
    EXPECT_EQ(width("f32", Math::ieee), NumberWidth::bits32);
    EXPECT_EQ(width("f32", Math::tf32), NumberWidth::bits16) << "on matrix units";
    EXPECT_EQ(width("f16", Math::ieee), NumberWidth::bits16);
    EXPECT_EQ(width("bf16", Math::ieee), NumberWidth::bits16);
    const Operation relu = parse_operation("aten::relu(self=f32[64])");
    EXPECT_EQ(number_width(relu, Math::tf32), NumberWidth::bits32) << "multiplies nothing";
}

TEST(ResidualPrior, KnowsTheSpreadOfEachWidth) {
    ResidualPrior known = prior();
    known.within_family = {{Family::matmul, NumberWidth::bits16, 0.1}, {Family::matmul, NumberWidth::bits32, 0.4}};
    ResidualPlace here = place(Family::matmul, 0);
    const auto noise = [&](NumberWidth width) {
        here.width = width;
        return known.noise_variance(here);
    };
    EXPECT_NEAR(noise(NumberWidth::bits16), 0.1 * 0.1 / 2, 1e-12);
    EXPECT_NEAR(noise(NumberWidth::bits32), 0.4 * 0.4 / 2, 1e-12);
    EXPECT_NEAR(noise(NumberWidth::bits8), 0.4 * 0.4 / 2, 1e-12) << "not named: the largest of the family";
    EXPECT_NEAR(known.noise_variance(place(Family::softmax, 0)), 0.04, 1e-12) << "a family not named";
    // Of another width a measurement tells what the device and the family are off by, nothing of like sizes.
    ResidualPlace other = here;
    other.width = NumberWidth::bits16;
    here.width = NumberWidth::bits32;
    EXPECT_NEAR(covariance(known, here, other), 0.01, 1e-12);
    EXPECT_NEAR(covariance(known, here, here), 0.01 + 0.08, 1e-12);
}

TEST(ResidualPrior, ComesFromTheMomentsOfTheDevices) {
    // Four devices, off by +-0.2 in both kinds of families alike, and exactly so in all rows.
    std::vector<ErrorsByFamily> devices;
    for (const double bias : {0.2, -0.2, 0.2, -0.2})
        devices.push_back({{Family::matmul, {{NumberWidth::bits32, {bias, bias}}}},
                           {Family::softmax, {{NumberWidth::bits32, {bias, bias}}}}});
    const ResidualPrior found = prior_of(devices);
    EXPECT_NEAR(found.common, 0.2, 1e-12);
    EXPECT_EQ(found.devices, 4);
    EXPECT_NEAR(found.of_family, 0.03, 1e-12);  // nothing left; no part is below 3 %
}

TEST(ResidualPrior, FindsTheSpreadOfEachWidth) {
    // About a bias of nothing, rows of 16 bits are off by 0.1 either way, those of 32 by 0.3.
    std::vector<ErrorsByFamily> devices(4);
    for (ErrorsByFamily& errors : devices) {
        errors[Family::matmul] = {{NumberWidth::bits16, {-0.1, 0.1, -0.1, 0.1}},
                                  {NumberWidth::bits32, {-0.3, 0.3, -0.3, 0.3}}};
    }
    const ResidualPrior found = prior_of(devices);
    ASSERT_EQ(found.within_family.size(), 2U);
    EXPECT_EQ(found.within_family[0].width, NumberWidth::bits16);
    EXPECT_NEAR(found.within_family[0].deviation, 0.1 / 1.6449, 1e-4);
    EXPECT_NEAR(found.within_family[1].deviation, 0.3 / 1.6449, 1e-4);
}

}  // namespace
}  // namespace joulecast
