#include "joulecast/recommend/recommend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/error.h"
#include "tests/recommend/candidates.h"

namespace joulecast::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The clock of the made-up curve that has the least of a function of it, among those from `low` on.
template <class Of>
double best_clock(const Of& of, double low = 600) {
    double best = 1000;
    for (double mhz = 1000; mhz >= low; mhz -= 20) best = of(mhz) < of(best) ? mhz : best;
    return best;
}

double joules_at(double mhz) {
    return made_up_seconds(mhz) * made_up_watts(mhz);
}

double clock_of(const Recommendation& r, std::size_t place) {
    return r.candidates[place].asked.sm_clock_mhz;
}

TEST(Recommend, FindsTheClockOfLeastEnergyAndOfLeastEdp) {
    const double of_energy = best_clock(joules_at);
    const double of_edp = best_clock([](double mhz) { return joules_at(mhz) * made_up_seconds(mhz); });
    ASSERT_LT(of_energy, of_edp) << "a made-up curve that tells the two apart";
    ASSERT_LT(of_edp, 1000);
    EXPECT_EQ(recommend(made_up_curve("a"), {.objective = Objective::energy}).answer().asked.sm_clock_mhz, of_energy);
    EXPECT_EQ(recommend(made_up_curve("a"), {.objective = Objective::edp}).answer().asked.sm_clock_mhz, of_edp);
    EXPECT_EQ(recommend(made_up_curve("a"), {.objective = Objective::time}).answer().asked.sm_clock_mhz, 1000);
}

TEST(EquallyGoodClocks, ReachAsFarAsOnePercentAndTheLimits) {
    auto curve = made_up_curve("a");
    const auto r = recommend(curve, {.objective = Objective::energy});
    const double best = r.answer().asked.sm_clock_mhz;
    double low = best, high = best;
    while (low - 20 >= 600 && joules_at(low - 20) <= 1.01 * joules_at(best)) low -= 20;
    while (high + 20 <= 1000 && joules_at(high + 20) <= 1.01 * joules_at(best)) high += 20;
    ASSERT_LT(low, high);
    const auto range = equally_good_clocks(r);
    ASSERT_TRUE(range);
    EXPECT_EQ(range->low_mhz, low);
    EXPECT_EQ(range->high_mhz, high);
    // What breaks a limit is no clock to take.
    const auto bounded = recommend(curve, {.limits = {.time_s = made_up_seconds(best)}});
    ASSERT_TRUE(equally_good_clocks(bounded));
    EXPECT_EQ(equally_good_clocks(bounded)->low_mhz, best);
    // Nothing to choose from.
    EXPECT_FALSE(equally_good_clocks(recommend({curve.front()}, {})));
}

TEST(Recommend, HoldsALimitOnTime) {
    const double most = 1.1 * made_up_seconds(1000);
    const auto r = recommend(made_up_curve("a"), {.limits = {.time_s = most}});
    EXPECT_EQ(r.answer().asked.sm_clock_mhz,
              best_clock([&](double mhz) { return made_up_seconds(mhz) <= most ? joules_at(mhz) : 1e9; }));
    for (std::size_t i = 0; i < r.candidates.size(); ++i) {
        if (made_up_seconds(clock_of(r, i)) > most) {
            EXPECT_EQ(r.assessments[i].breaks, "time");
        }
    }
}

TEST(Recommend, NeverGoesBelowTheFloorOfClocks) {
    // Least energy at the lowest clock there is.
    auto curve = made_up_curve("a");
    for (Candidate& c : curve) c.energy.value = Joules(c.asked.sm_clock_mhz);
    EXPECT_EQ(recommend(curve, {}).answer().asked.sm_clock_mhz, 600);
}

TEST(Recommend, NamesTheBestOfAnotherRunAsRunnerUp) {
    auto all = made_up_curve("a");
    for (Candidate c : made_up_curve("b")) {
        c.energy.value = c.energy.value * 1.3;
        all.push_back(c);
    }
    const auto r = recommend(all, {});
    ASSERT_TRUE(r.runner_up);
    EXPECT_EQ(r.candidates[*r.runner_up].asked.device, "b");
    EXPECT_EQ(clock_of(r, *r.runner_up), r.answer().asked.sm_clock_mhz);
    const auto alone = recommend(made_up_curve("a"), {});
    EXPECT_EQ(alone.runner_up, alone.ranking[1]) << "of one run only, the clock beside it";
    EXPECT_EQ(best_of_each_run(r).size(), 2U);
}

TEST(Recommend, KnowsTheDefaultOfTheAnswerAndOfWhatWasNamedFirst) {
    auto all = made_up_curve("dear");
    for (Candidate& c : all) c.energy.value = c.energy.value * 1.3;
    for (const Candidate& c : made_up_curve("cheap")) all.push_back(c);
    const auto r = recommend(all, {});
    EXPECT_EQ(r.candidates[r.own_default.value()].asked.device, "cheap");
    EXPECT_EQ(clock_of(r, *r.own_default), 1000);
    EXPECT_EQ(r.candidates[r.first_default.value()].asked.device, "dear");
}

TEST(Recommend, TakesABatchThatFits) {
    std::vector<Candidate> all;
    for (const std::int64_t batch : {1, 8, 64}) {
        const auto samples = static_cast<double>(batch);
        Candidate c = run_of("a", 1 + 0.1 * samples, 10 + samples);  // larger batches cost less for a sample
        c.samples = samples;
        c.symbols["batch"] = batch;
        c.memory.value = Bytes(1e9 * samples);
        c.device_memory = 16e9;
        all.push_back(c);
    }
    const auto r = recommend(all, {});
    EXPECT_EQ(r.answer().symbols.at("batch"), 8);
    EXPECT_EQ(r.assessments[2].unfit.value().reason, "needs 64 GB of the device's 16 GB");
    EXPECT_THAT(r.ranking, ElementsAre(1, 0));
}

TEST(Recommend, FollowsThePriceOfDevices) {
    auto fast = run_of("fast", 1, 100);
    fast.device_per_hour = 4;
    auto cheap = run_of("cheap", 2, 100);
    cheap.device_per_hour = 1;
    EXPECT_EQ(recommend({fast, cheap}, {.objective = Objective::price}).answer().asked.device, "cheap");
    EXPECT_EQ(recommend({fast, cheap}, {.objective = Objective::time}).answer().asked.device, "fast");
}

TEST(Recommend, SaysWhyNothingHoldsTheLimits) {
    const auto r = recommend(made_up_curve("a"), {.limits = {.time_s = 0.5 * made_up_seconds(1000)}});
    EXPECT_TRUE(r.empty());
    EXPECT_FALSE(r.runner_up);
    ASSERT_EQ(r.emptiness.binding.size(), 1U);
    EXPECT_NEAR(r.emptiness.binding[0].excess(), 1, 1e-12) << "the fastest takes twice as long";
    EXPECT_EQ(clock_of(r, r.emptiness.binding[0].candidate), 1000);
}

TEST(Recommend, RefusesAnObjectiveThatNobodyKnows) {
    Candidate unmetered = run_of("cpu-x", 1, 1);
    unmetered.energy = {};
    try {
        recommend({unmetered}, {});
        FAIL();
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("no energy is known of cpu-x"));
        EXPECT_THAT(error.what(), HasSubstr("--minimise time"));
    }
    const auto some = recommend({unmetered, run_of("b", 1, 1)}, {});
    EXPECT_EQ(some.answer().asked.device, "b");
    EXPECT_EQ(some.assessments[0].unfit.value().reason, "its energy is not known");
    EXPECT_THROW(recommend({}, {}), Error);
}

TEST(Recommend, LeavesOutWhatHasNoValueOfALimit) {
    Candidate unmetered = run_of("a", 1, 1);
    unmetered.energy = {};
    unmetered.power = {};
    const auto r = recommend({unmetered}, {.objective = Objective::time, .limits = {.power_w = 100}});
    EXPECT_TRUE(r.empty());
    EXPECT_EQ(r.assessments[0].breaks, "power (not known)");
}

TEST(Recommend, TellsHowSureItIs) {
    auto all = made_up_curve("a", 20, 0.2);
    for (Candidate c : made_up_curve("b", 20, 0.2)) {
        c.energy = {c.energy.value * 3, c.energy.low * 3, c.energy.high * 3};
        all.push_back(c);
    }
    const auto r = recommend(all, {});
    double of_a = 0;
    for (const std::size_t i : r.ranking) {
        if (r.candidates[i].asked.device == "a") of_a += r.assessments[i].chance_best;
    }
    EXPECT_GT(of_a, 0.99) << "three times as much, each known to 20 %";
    EXPECT_LT(r.assessment().chance_best, of_a);
}

}  // namespace
}  // namespace joulecast::testing
