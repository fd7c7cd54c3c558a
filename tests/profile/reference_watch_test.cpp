#include "joulecast/profile/reference_watch.h"

#include <cmath>

#include <gtest/gtest.h>

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

using Verdict = ReferenceWatch::Verdict;

/// After three repeats of 1.00, 1.01 and 0.99 s, one second apart: mean 1, standard deviation 0.01.
ReferenceWatch started() {
    ReferenceWatch watch;
    watch.add(1.00, 0.001, 1);
    watch.add(1.01, 0.001, 2);
    watch.add(0.99, 0.001, 3);
    return watch;
}

TEST(ReferenceWatch, WantsThreeAtOnceAndThenOneAMinute) {
    ReferenceWatch watch;
    EXPECT_TRUE(watch.due(0));
    watch.add(1, 0.1, 1);
    EXPECT_TRUE(watch.due(1));
    watch.add(1, 0.1, 2);
    EXPECT_TRUE(watch.due(2));
    watch.add(1, 0.1, 3);
    EXPECT_FALSE(watch.due(3));
    EXPECT_FALSE(watch.due(62.9));
    EXPECT_TRUE(watch.due(63));
}

TEST(ReferenceWatch, DoesNotInsistOnARepeatThatFailed) {
    ReferenceWatch watch;
    watch.skip(1);
    EXPECT_FALSE(watch.due(60.9));
    EXPECT_TRUE(watch.due(61));
    watch.add(1, 0.1, 61);
    EXPECT_TRUE(watch.due(61));  // the first ones are still to come
    watch.skip(62);
    EXPECT_FALSE(watch.due(63));
}

TEST(ReferenceWatch, AllowsThreeOwnHalfWidthsAndThreeSigma) {
    // 3 * 0.01 + 3 * 0.001 = 0.033
    EXPECT_EQ(started().add(1.0329, 0.001, 63), Verdict::good);
    EXPECT_EQ(started().add(1.0331, 0.001, 63), Verdict::drifted);
    EXPECT_EQ(started().add(0.9669, 0.001, 63), Verdict::drifted);
    EXPECT_EQ(started().add(1.0331, 0.002, 63), Verdict::good);
    EXPECT_EQ(started().add(1.0299, std::nan(""), 63), Verdict::good);
    ReferenceWatch watch = started();
    watch.add(1.25, 0.001, 63);
    EXPECT_NEAR(watch.excess(), 0.25, 1e-12);
}

TEST(ReferenceWatch, LearnsHowFarGoodOnesLieApart) {
    ReferenceWatch watch = started();
    for (int i = 0; i < 20; ++i) watch.add(i % 2 == 0 ? 0.97 : 1.03, 0.001, 63 + i);
    // Deviation of 23 repeats, 20 of them 0.03 away: about 0.029; 3 of it allow 0.08.
    EXPECT_EQ(watch.add(1.08, 0.001, 100), Verdict::good);
}

TEST(ReferenceWatch, ComesBackFromADriftThatPasses) {
    ReferenceWatch watch = started();
    EXPECT_EQ(watch.add(1.2, 0.001, 63), Verdict::drifted);
    EXPECT_EQ(watch.add(1.2, 0.001, 123), Verdict::drifted);
    EXPECT_EQ(watch.add(1.0, 0.001, 183), Verdict::good);
    EXPECT_EQ(watch.add(1.2, 0.001, 243), Verdict::drifted);  // counted anew
}

TEST(ReferenceWatch, TakesTheNewPaceAfterThreeInARow) {
    ReferenceWatch watch = started();
    watch.add(1.2, 0.001, 63);
    watch.add(1.21, 0.001, 123);
    EXPECT_EQ(watch.add(1.19, 0.001, 183), Verdict::settled);
    EXPECT_EQ(watch.add(1.2, 0.001, 243), Verdict::good);
    EXPECT_EQ(watch.add(1.0, 0.001, 303), Verdict::drifted);
}

TEST(ReferenceWatch, KnowsWhatCameAfterTheLastRepeat) {
    const ReferenceWatch watch = started();
    EXPECT_FALSE(watch.unchecked_since(2.5));
    EXPECT_TRUE(watch.unchecked_since(3.5));
}

TEST(ReferenceOperation, IsTheSameForAllDevicesOfAKind) {
    const Operation cpu = reference_operation(Device::Kind::cpu);
    EXPECT_EQ(signature(cpu), "aten::mm(self=f32[512,512], mat2=f32[512,512])");
    // 2 * 4096^3
    EXPECT_EQ(total_counts(reference_operation(Device::Kind::gpu)).flop, 137'438'953'472);
}

TEST(ReferenceSettings, MeasureTimeAlone) {
    MeasureSettings settings;
    settings.method = Method::thesis;
    settings.seed = 7;
    const MeasureSettings own = reference_settings(settings);
    EXPECT_EQ(own.method, Method::joulecast);
    EXPECT_EQ(own.seed, 7u);
    EXPECT_FALSE(own.measure_energy || own.measure_hot || own.measure_memory || own.keep_blocks);
}

}  // namespace
}  // namespace joulecast
