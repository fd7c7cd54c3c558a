#include "workers/pretend/sitting.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast::pretend {
namespace {

Card a_card() {
    return built_in_cards().front();
}

/// 1 ms a call at 100 W, issued in 3 us; 30 W while nothing runs.
Pace pace() {
    Pace pace;
    pace.host_s = pace.lead_s = 3e-6;
    pace.span_s = 1e-3;
    pace.power_w = 100;
    pace.idle_w = 30;
    return pace;
}

TEST(Sitting, CallsAreQueuedAndWaitedFor) {
    const Card card = a_card();
    Sitting sitting(card, {0, 0}, 1);
    sitting.issue(pace(), 10);
    EXPECT_NEAR(sitting.now_s(), 30e-6, 1e-12);
    sitting.wait();
    EXPECT_NEAR(sitting.now_s(), 10e-3 + 3e-6, 1e-12);
    EXPECT_NEAR(sitting.last_block_s(), 10e-3, 1e-15);
}

TEST(Sitting, TheCounterMovesOnceAPeriodAndIsRounded) {
    const Card card = a_card();
    Sitting sitting(card, {0.001, 1e-9}, 1);
    sitting.issue(pace(), 1000);
    sitting.advance(0.05);
    EXPECT_EQ(sitting.counted_j(), 0);
    sitting.advance(0.06);
    const double first_j = sitting.counted_j();
    EXPECT_NEAR(first_j, 10, 0.01);
    EXPECT_NEAR(std::remainder(first_j, card.meter_quantum_j), 0, 1e-9);
    sitting.advance(0.05);
    EXPECT_EQ(sitting.counted_j(), first_j);
}

TEST(Sitting, WithoutNoiseTheCounterTellsWhatWasDrawn) {
    const Card card = a_card();
    Sitting sitting(card, {0, 0}, 1);
    // 1 ms at 100 W from 3 us on, which the host takes to issue; the rest of a second at 30 W.
    sitting.issue(pace(), 1);
    sitting.sleep(1 - 3e-6);
    EXPECT_NEAR(sitting.counted_j(), 0.1 + 0.999 * 30, 3e-4);
}

TEST(Sitting, LookingAtALongQueueNeverTakesIt) {
    const Card card = a_card();
    Sitting sitting(card, {0, 0}, 1);
    sitting.issue(pace(), 100);
    for (int i = 0; i < 20; ++i) EXPECT_GT(sitting.look_at_queue(), 0.05);
}

}  // namespace
}  // namespace joulecast::pretend
