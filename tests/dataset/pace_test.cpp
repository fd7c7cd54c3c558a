#include "joulecast/dataset/pace.h"

#include <cmath>

#include <gtest/gtest.h>

#include "dataset/samples.h"
#include "joulecast/units/time_stamp.h"

namespace joulecast {
namespace {

using joulecast::testing::relu;
using joulecast::testing::sample_measurement;
using joulecast::testing::sample_reference;

constexpr double start_s = 1'700'000'000;

/// Repeats of these times, one every `interval_s`; each errs by a thousandth.
std::vector<ReferenceRow> repeats(const std::vector<double>& times, double interval_s = 5) {
    std::vector<ReferenceRow> rows;
    for (const double time_s : times) {
        rows.push_back(
            sample_reference(utc_time_stamp(start_s + interval_s * static_cast<double>(rows.size())), time_s));
        rows.back().time_half_width_s = 1.96e-3 * time_s;
    }
    return rows;
}

double pace_at(const Pace& pace, double after_s) {
    const ReferenceRow like = repeats({1}).front();
    return pace.at(like.asked, like.provenance, utc_time_stamp(start_s + after_s));
}

/// Ten repeats at the usual pace, ten that take a fifth longer, ten as before.
std::vector<ReferenceRow> slow_in_between() {
    std::vector<double> times(30, 1.0);
    std::fill(times.begin() + 10, times.begin() + 20, 1.2);
    return repeats(times);
}

TEST(Pace, FollowsAMachineThatBecomesSlowForAWhile) {
    const Pace pace(slow_in_between());
    // Mean square 10/30 of log(1.2)^2; two steps of that in 29 differences, halved: a tenth of it is noise.
    const double lasts = 1 - (2.0 / 29 / 2) / (10.0 / 30);
    EXPECT_NEAR(pace_at(pace, 20), 1, 1e-12);
    EXPECT_NEAR(pace_at(pace, 75), std::pow(1.2, lasts), 1e-12);
    EXPECT_NEAR(pace_at(pace, 140), 1, 1e-12);
    // Between the last quick repeat at 45 s and the first slow one at 50 s.
    EXPECT_NEAR(pace_at(pace, 47.5), std::pow(1.2, lasts / 2), 1e-12);
    // What took longer than a repeat: the mean over its time. Up to 50 s half of the way, then ten seconds slow.
    const ReferenceRow like = repeats({1}).front();
    const auto over = [&](double from_s, double to_s) {
        return pace.at(like.asked, like.provenance, utc_time_stamp(start_s + from_s), utc_time_stamp(start_s + to_s));
    };
    EXPECT_NEAR(over(40, 60), std::pow(1.2, lasts * (5 * 0.5 + 10) / 20), 1e-12);
    EXPECT_NEAR(over(46, 48), std::pow(1.2, lasts * 0.4), 1e-12);
    EXPECT_NEAR(over(-20, 10), 1, 1e-12);
    EXPECT_NEAR(over(75, 75), std::pow(1.2, lasts), 1e-12);
    // Before the first and after the last, as there.
    EXPECT_NEAR(pace_at(pace, -100), 1, 1e-12);
    EXPECT_NEAR(pace_at(pace, 1000), 1, 1e-12);
}

// Cards of one name were taken for one machine whose pace jumped between theirs.
TEST(Pace, IsThatOfEachCardByItself) {
    std::vector<ReferenceRow> rows = repeats(std::vector<double>(30, 1.0));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool slow = i / 5 % 2 == 1;
        rows[i].provenance.machine += slow ? "; card n2" : "; card n1";
        if (slow) rows[i].time_mean_s = 1.2;
    }
    const Pace pace(rows);
    for (const ReferenceRow& row : rows) EXPECT_EQ(pace.at(row.asked, row.provenance, row.started_at), 1);
}

TEST(Pace, TakesNoNoiseForPace) {
    // Neighbours differ as much as any two.
    EXPECT_EQ(pace_at(Pace(repeats({1, 1.1, 1, 1.1, 1, 1.1, 1, 1.1})), 12), 1);
    // A trend, but smaller than the repeats' own errors.
    EXPECT_EQ(pace_at(Pace(repeats({1, 1.0001, 1.0002, 1.0003, 1.0004})), 20), 1);
}

TEST(Pace, IsOneWithoutEnoughRepeats) {
    EXPECT_EQ(pace_at(Pace(repeats({1, 1.5})), 0), 1);
    EXPECT_EQ(pace_at(Pace(std::vector<ReferenceRow>()), 0), 1);
    // A minute apart they tell that the machine drifts, not when.
    EXPECT_EQ(pace_at(Pace(repeats({1, 1, 1, 1.5, 1.5, 1.5}, 60)), 300), 1);
}

TEST(Pace, IsNotCarriedAwayByOneDisturbedRepeat) {
    std::vector<ReferenceRow> rows = slow_in_between();
    rows[5].time_mean_s = 3;
    EXPECT_NEAR(pace_at(Pace(rows), 25), 1, 1e-12);
    EXPECT_NEAR(pace_at(Pace(rows), 75), pace_at(Pace(slow_in_between()), 75), 1e-12);
}

TEST(Pace, HoldsForTheSameConditionsAlone) {
    const Pace pace(slow_in_between());
    const ReferenceRow like = repeats({1}).front();
    const std::string slow = utc_time_stamp(start_s + 75);
    EXPECT_GT(pace.at(like.asked, like.provenance, slow), 1.1);
    OperatingPoint other = like.asked;
    other.sm_clock_mhz = 450;
    EXPECT_EQ(pace.at(other, like.provenance, slow), 1);
    other = like.asked;
    other.device = "another";
    EXPECT_EQ(pace.at(other, like.provenance, slow), 1);
    Provenance threads = like.provenance;
    threads.settings = R"({"threads":7})";
    EXPECT_EQ(pace.at(like.asked, threads, slow), 1);
    EXPECT_EQ(pace.at(like.asked, like.provenance, "some day"), 1);
}

TEST(Pace, TellsWhatTheReferenceUsuallyTakes) {
    const auto rows = repeats({1.3, 1.2, 1.4, 1.3});
    const auto usual = Pace(rows).usual(rows[0].asked, rows[0].provenance);
    ASSERT_TRUE(usual);
    EXPECT_EQ(usual->operation, rows[0].operation);
    EXPECT_NEAR(usual->usual_s / rows[0].time_mean_s, 1, 1e-12);
    OperatingPoint other = rows[0].asked;
    other.sm_clock_mhz = 800;
    EXPECT_FALSE(Pace(rows).usual(other, rows[0].provenance));
}

TEST(Pace, ComparesTwoDatabasesOfOneMachine) {
    const std::vector<ReferenceRow> then = repeats({1, 1, 1, 1});
    const Pace pace(repeats({1.3, 1.3, 1.3, 1.3}), then);
    EXPECT_NEAR(pace_at(pace, 7), 1.3, 1e-3);  // the repeats' own errors take a thousandth or so away
    EXPECT_NEAR(pace.median_of(then[0].asked, then[0].provenance), 1.3, 1e-3);
    EXPECT_EQ(pace_at(Pace(repeats({1.3, 1.3, 1.3}), {}), 7), 1);
    EXPECT_TRUE(std::isnan(Pace(repeats({1, 1}), then).median_of(then[0].asked, then[0].provenance)));
}

TEST(Pace, PutsTimesAndEnergiesButNotPowerToOnePace) {
    const std::vector<ReferenceRow> references = slow_in_between();
    const Pace pace(references);
    OperationRow row;
    row.measurement = sample_measurement(relu(8), "cpu-test");
    row.measurement.asked = references[0].asked;
    row.measurement.started_at = utc_time_stamp(start_s + 40);
    row.measurement.ended_at = utc_time_stamp(start_s + 60);
    row.measurement.hot = row.measurement.time;
    row.measurement.energy.emplace();
    row.measurement.energy->energy_j = 2;
    row.measurement.energy->power_w = 50;
    row.provenance = references[0].provenance;
    std::vector<OperationRow> rows{row, row};
    rows[1].measurement.started_at = utc_time_stamp(start_s + 20);
    rows[1].measurement.ended_at = utc_time_stamp(start_s + 30);
    put_to_one_pace(rows, pace);
    const Measurement &before = row.measurement, &after = rows[0].measurement;
    const double slow = pace.at(before.asked, row.provenance, before.started_at, before.ended_at);  // from 45 s on
    EXPECT_GT(slow, 1.05);
    EXPECT_DOUBLE_EQ(after.time.median_s, before.time.median_s / slow);
    EXPECT_DOUBLE_EQ(after.time.half_width_s, before.time.half_width_s / slow);
    EXPECT_DOUBLE_EQ(after.hot->mean_s, before.time.mean_s / slow);
    EXPECT_DOUBLE_EQ(after.energy->energy_j, 2 / slow);
    EXPECT_EQ(after.energy->power_w, 50);
    EXPECT_DOUBLE_EQ(rows[1].measurement.time.median_s, before.time.median_s);
    NetworkRow network;
    network.measurement.asked = references[0].asked;
    network.measurement.started_at = row.measurement.started_at;
    network.measurement.ended_at = row.measurement.ended_at;
    network.measurement.time.median_s = 3;
    network.provenance = references[0].provenance;
    std::vector<NetworkRow> networks{network};
    put_to_one_pace(networks, pace);
    EXPECT_DOUBLE_EQ(networks[0].measurement.time.median_s, 3 / slow);
}

TEST(PaceRange, IsHowFarTheMiddleOfAllRepeatsLiesApart) {
    // Ten quick ones and ten that take a third longer: the tenth and the ninetieth percentile are in either half.
    std::vector<double> times(20, 1.0);
    std::fill(times.begin() + 10, times.end(), 4.0 / 3);
    EXPECT_NEAR(pace_range(repeats(times)), 4.0 / 3, 1e-9);
    EXPECT_GT(pace_range(repeats(times)), steady_pace_range);
    // A minute apart they tell no course to follow, but that the machine drifts all the same.
    EXPECT_NEAR(pace_range(repeats(times, 60)), 4.0 / 3, 1e-9);
}

TEST(PaceRange, IsNotThatOfSingleDisturbedRepeats) {
    std::vector<double> times(20, 1.0);
    for (const std::size_t i : {3, 8, 13, 17}) times[i] = 5;
    EXPECT_NEAR(pace_range(repeats(times)), 1, 1e-9);
    EXPECT_TRUE(std::isnan(pace_range(repeats({1, 2, 1, 2}))));
    EXPECT_TRUE(std::isnan(pace_range({})));
}

}  // namespace
}  // namespace joulecast
