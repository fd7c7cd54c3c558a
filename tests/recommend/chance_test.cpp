#include "joulecast/recommend/chance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/recommend/candidates.h"

namespace joulecast::testing {
namespace {

const std::vector<std::size_t> both{0, 1};

TEST(Chance, IsCertaintyWithoutErrors) {
    const std::vector<Candidate> all{run_of("a", 1, 1), run_of("b", 2, 2)};
    const Chances of = chances(all, both, Objective::time, {});
    EXPECT_NEAR(of.best[0], 1, 1e-12);
    EXPECT_EQ(of.best[1], 0);
    EXPECT_NEAR(of.within, 1, 1e-12);
    EXPECT_NEAR(of.expected_excess, 0, 1e-12);
}

TEST(Chance, ToBeNearTheBestIsOfEachCandidate) {
    std::vector<Candidate> all{run_of("a", 1, 1), run_of("b", 1.005, 1), run_of("c", 1.02, 1)};
    const Chances of = chances(all, std::vector<std::size_t>{0, 1, 2}, Objective::time, {});
    EXPECT_NEAR(of.near[0], 1, 1e-12);
    EXPECT_NEAR(of.near[1], 1, 1e-12) << "half a percent worse";
    EXPECT_EQ(of.near[2], 0) << "two percent worse";
    EXPECT_EQ(of.within, of.near[0]);
}

TEST(Chance, OfTwoDevicesFollowsFromTheirIntervals) {
    // log t1 - log t0 is normal with mean log 1.1 and deviation sqrt(2) s; s = log 1.2 / 1.645 from the 90 % interval.
    const std::vector<Candidate> all{with_spread(run_of("a", 1, 1), 0.2, 0.2),
                                     with_spread(run_of("b", 1.1, 1), 0.2, 0.2)};
    const double z = std::log(1.1) / (std::sqrt(2.0) * std::log(1.2) / 1.645);
    const double exact = 0.5 * std::erfc(-z / std::sqrt(2.0));
    const Chances of = chances(all, both, Objective::time, {}, {.draws = 20000});
    EXPECT_EQ(of.draws, 20000U);
    EXPECT_NEAR(of.best[0], exact, 0.01) << "three standard errors of 20000 draws";
    EXPECT_NEAR(of.best[0] + of.best[1], 1, 1e-9);
}

TEST(Chance, IsNotTroubledByAnErrorThatAllOfADeviceShare) {
    // Two batches on one device, 5 % apart, each known to a factor of 2: the level of the device is common to both.
    std::vector<Candidate> all{with_spread(run_of("a", 1, 1), 1, 1), with_spread(run_of("a", 1.05, 1), 1, 1)};
    all[1].precision = "bf16";
    EXPECT_NEAR(chances(all, both, Objective::time, {}, {.device_share = 1}).best[0], 1, 1e-9);
    // With half of the variance of their own: z = log 1.05 / (sqrt(2) sqrt(0.5) log 2 / 1.645).
    const double z = std::log(1.05) / (std::log(2.0) / 1.645);
    const Chances of = chances(all, both, Objective::time, {}, {.device_share = 0.5, .draws = 20000});
    EXPECT_NEAR(of.best[0], 0.5 * std::erfc(-z / std::sqrt(2.0)), 0.011);
}

TEST(Chance, OfClocksFollowsFromTheTiltOfTheCurve) {
    std::vector<Candidate> all{with_spread(run_of("a", 1, 1), 0.5, 0.5), with_spread(run_of("a", 1, 1.02), 0.5, 0.5)};
    for (Candidate& c : all) c.reference_clock_mhz = c.real.sm_clock_mhz = 1000;
    all[1].real.sm_clock_mhz = 500;
    all[1].energy_spread = 0.04;
    // The one at half the clock is off by a normal error of deviation 0.04 log 2 (its level is a trifle narrower).
    const double z = std::log(1.02) / (0.04 * std::log(2.0));
    const Chances of = chances(all, both, Objective::energy, {}, {.draws = 20000});
    EXPECT_NEAR(of.best[0], 0.5 * std::erfc(-z / std::sqrt(2.0)), 0.015);
}

TEST(Chance, ThatItIsNearTheBestIsNeverLess) {
    const auto curve = made_up_curve("a", 5, 0.1);
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < curve.size(); ++i) order.push_back(i);
    std::ranges::sort(order, {}, [&](std::size_t i) { return curve[i].energy.value; });
    const Chances of = chances(curve, order, Objective::energy, {});
    EXPECT_GT(of.within, of.best[0]);
    EXPECT_LT(of.best[0], 0.9) << "its neighbours are 5 MHz away";
    EXPECT_GT(of.within, 0.5);
    EXPECT_GE(of.expected_excess, 0);
    double all = 0;
    for (const double one : of.best) all += one;
    EXPECT_NEAR(all, 1, 1e-9);
}

TEST(Chance, IsTheSameEveryTime) {
    const auto curve = made_up_curve("a", 20, 0.3);
    const std::vector<std::size_t> some{10, 4, 20};
    EXPECT_EQ(chances(curve, some, Objective::edp, {}).best, chances(curve, some, Objective::edp, {}).best);
}

TEST(Chance, TakesTheErrorsOfTimeAndEnergyToGoTogetherAsPowerSays) {
    // Power is known exactly, so log energy errs as log time does, and log EDP twice as much: of two devices 30 % apart
    // the deviation of the difference is 2 sqrt(2) log 1.2 / 1.645. Independent errors would give sqrt(2) sqrt(2).
    const std::vector<Candidate> all{with_spread(run_of("a", 1, 1), 0.2, 0.2),
                                     with_spread(run_of("b", 1, 1.3), 0.2, 0.2)};
    const double z = std::log(1.3) / (2 * std::sqrt(2.0) * std::log(1.2) / 1.645);
    const Chances of = chances(all, both, Objective::edp, {}, {.draws = 20000});
    EXPECT_NEAR(of.best[0], 0.5 * std::erfc(-z / std::sqrt(2.0)), 0.01);
}

TEST(Saving, HasAnIntervalThatSharedErrorsDoNotWiden) {
    std::vector<Candidate> all{with_spread(run_of("a", 1, 0.8), 0.5, 0.5), with_spread(run_of("a", 1, 1), 0.5, 0.5)};
    for (Candidate& c : all) c.reference_clock_mhz = c.real.sm_clock_mhz = 1000;
    const Saving same_clock = saving(all[0], all[1], Objective::energy, {});
    EXPECT_NEAR(same_clock.value, 0.2, 1e-12);
    EXPECT_NEAR(same_clock.low, 0.2, 1e-12);
    EXPECT_NEAR(same_clock.high, 0.2, 1e-12);
    all[0].real.sm_clock_mhz = 700;
    all[0].energy_spread = 0.1;
    const Saving lower = saving(all[0], all[1], Objective::energy, {}, {.draws = 20000});
    // 1 - 0.8 exp(+-1.645 * 0.1 * |log 0.7|); the level is a little narrower than the candidate's own deviation.
    const double half = 1.645 * 0.1 * -std::log(0.7);
    EXPECT_NEAR(lower.low, 1 - 0.8 * std::exp(half), 0.01);
    EXPECT_NEAR(lower.high, 1 - 0.8 * std::exp(-half), 0.01);
}

}  // namespace
}  // namespace joulecast::testing
